"""Readers of text with marks, such as Markdown, and of data and notebooks.

The text of a document is the file itself, so passages are cited by its lines. Blocks leave out what
is no text for readers: front matter, comments, markup.
"""
