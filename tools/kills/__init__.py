"""Kills kebab at random moments of every operation, and checks what the next run finds."""
