"""Readers of HTML and of books that are made of it: EPUB.

The text is extracted as Markdown by `TextBuilder`. What lies outside of the main content is noise.
"""
