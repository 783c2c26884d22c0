"""Cuts the power at every write of a recorded run, and checks what the next run repairs."""
