"""Parses data files along their keys, rows and elements."""
