"""Follows changes of files and keeps the index current."""
