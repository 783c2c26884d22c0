"""Ingests mutated files of every format."""
