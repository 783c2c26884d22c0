"""Reads HTML: saved pages, documentation, mail bodies, chapters of books, and exported notes."""
