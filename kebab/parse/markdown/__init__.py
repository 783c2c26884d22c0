"""Parses Markdown: blocks, front matter and properties."""
