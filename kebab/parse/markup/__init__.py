"""Parses reStructuredText, AsciiDoc, Org, LaTeX and subtitles."""
