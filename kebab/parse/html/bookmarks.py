"""Reads the bookmarks that browsers export: titles, addresses and notes, below their folders."""

import re

from kebab.parse.html.words import clean_line
from kebab.parse.text_builder import TextBuilder

_SIGN = re.compile(r"\s{0,100}<!DOCTYPE NETSCAPE-Bookmark-file", re.IGNORECASE)
_PART = re.compile(
    r"<(h[1-6])\b[^>]*>([^<]*)</\1>|<a\b([^>]*)>([^<]*)</a>|<dd>([^<]*)|<(/?dl)\b[^>]*>",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r'\bhref="([^"]*)"', re.IGNORECASE)
_TAGS = re.compile(r'\btags="([^"]*)"', re.IGNORECASE)
_WEB = ("http://", "https://", "file://", "ftp://")


def is_bookmark_file(text: str) -> bool:
    """Return whether a page is a file of bookmarks."""
    return _SIGN.match(text) is not None


def add_bookmarks(builder: TextBuilder, text: str) -> None:
    """Add folders as headings, and bookmarks as lists."""
    depth = 1
    items: list[tuple[int, str]] = []
    for found in _PART.finditer(text):
        heading, title, attributes, name, note, mark = found.groups()
        if heading:
            items = _add_items(builder, items)
            builder.add_heading(depth, clean_line(title))
        elif attributes is not None:
            items.append((0, _describe(attributes, clean_line(name))))
        elif note is not None and items:
            items[-1] = (0, f"{items[-1][1]}: {clean_line(note)}")
        elif mark:
            depth = max(1, depth + (-1 if mark.startswith("/") else 1))
    _add_items(builder, items)


def _add_items(builder: TextBuilder, items: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Add the collected bookmarks; return an empty list for the next ones."""
    builder.add_list(items)
    return []


def _describe(attributes: str, name: str) -> str:
    """Return the title of a bookmark with its address and tags."""
    address = _ADDRESS.search(attributes)
    tags = _TAGS.search(attributes)
    shown = address[1] if address and address[1].lower().startswith(_WEB) else ""
    parts = [name or shown, f"<{clean_line(shown)}>" if shown else ""]
    parts.append(f"({clean_line(tags[1])})" if tags and tags[1] else "")
    return " ".join(filter(None, parts))
