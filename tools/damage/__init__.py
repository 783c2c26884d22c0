"""Damages a real index in many ways, and checks what `doctor` says and what `doctor --fix` does."""
