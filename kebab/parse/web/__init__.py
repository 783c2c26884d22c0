"""Readers of HTML and of books that are made of it: EPUB.

The text is extracted as Markdown by `TextBuilder`. Menus, and headers and footers that only have
links, are left out.
"""
