"""Settings: declared once, read from a file, the environment and flags, in that order of rank."""
