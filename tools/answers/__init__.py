"""Counts what is wrong in the answers of a real model; see `python -m tools.answers --help`."""
