"""Readers of source code.

The text is the file itself; passages are symbols, and are cited by lines and symbol.
"""
