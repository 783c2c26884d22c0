"""Limits of time and memory for the parsers of files, and the worker processes that hold them."""
