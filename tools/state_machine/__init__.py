"""Compares random operations on an index with a plain model of what it must then contain."""
