"""Counts false and withheld statements of kebab in situations whose truth is known."""
