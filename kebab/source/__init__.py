"""Adapters that find the files of a source."""
