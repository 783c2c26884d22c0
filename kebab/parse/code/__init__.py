"""Parses source code by its symbols, and notebooks by their cells."""
