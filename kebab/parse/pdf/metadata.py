"""Reads the properties and the outline of a PDF."""

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import date
from typing import Any

from kebab.core.documents import Metadata
from kebab.parse.metadata import list_unique, split_authors
from kebab.parse.pdf.headings import Bookmark
from kebab.parse.pdf.legibility import is_legible

MAX_BOOKMARKS = 10_000
_MAX_DEPTH = 15
_MAX_TITLE_CHARS = 300
_GENERATED_TITLE = re.compile(
    r"untitled.*|unbenannt.*|sans titre.*|\uc81c\ubaa9 ?\uc5c6\uc74c.*|\u7121\u984c.*"
    r"|document ?\d*|presentation ?\d*|powerpoint presentation|slide ?\d+|title|titel"
    r"|microsoft (?:word|powerpoint|excel)\b.*|about:blank|none|null|(?:https?|file):.*|[\W\d_]*"
    r"|.*\.(?:docx?|dotx?|odt|rtf|tex|dvi|e?ps|pdf|indd|qx[dp]|pptx?|odp|xlsx?|html?|txt|md|hwpx?"
    r"|pages|ai|cdr|wpd|fm|tif|jpe?g|png)",
    re.IGNORECASE | re.DOTALL,
)
_DATE = re.compile(r"(?:D:)?(\d{4})(\d\d)?(\d\d)?")
_NO_AUTHOR = re.compile(
    r"(?:unknown|anonymous|author|admin(?:istrator)?|user|owner|root|\W*)", re.IGNORECASE
)
_MIN_YEAR = 1980


def read_metadata(properties: Mapping[str, str]) -> Metadata:
    """Return what the properties of the file say; what programs fill in is left out."""
    return Metadata(
        title=_choose_title(properties.get("Title", "")),
        authors=_list_authors(properties.get("Author", "")),
        date=_read_date(properties.get("CreationDate", "")),
    )


def _choose_title(text: str) -> str | None:
    title = _clean(text)
    if _GENERATED_TITLE.fullmatch(title) or len(title) > _MAX_TITLE_CHARS:
        return None
    return title if is_legible(title) and "\ufffd" not in title else None


def _list_authors(text: str) -> tuple[str, ...]:
    """Return the names of people; words that programs fill in are none."""
    return list_unique(
        name
        for name in split_authors(_clean(text))
        if not _NO_AUTHOR.fullmatch(name) and is_legible(name)
    )


def _clean(text: str) -> str:
    """Return a property on one line; UTF-8 that was stored as Latin-1 is repaired."""
    line = " ".join(text.replace("\0", " ").split())
    try:
        return line.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return line


def _read_date(text: str) -> str | None:
    match = _DATE.match(text.strip())
    if match is None or int(match[1]) < _MIN_YEAR:
        return None
    try:
        return date(int(match[1]), int(match[2] or 1), int(match[3] or 1)).isoformat()
    except ValueError:
        return None


def read_bookmarks(document: Any) -> list[Bookmark]:
    """Return the outline of a document; an outline that refers to itself ends."""
    marks: list[Bookmark] = []
    for entry in document.get_toc(max_depth=_MAX_DEPTH):
        # A title that is no text, or a target that is no page, leaves out one entry.
        with suppress(ValueError):
            target = entry.get_dest()
            index = target.get_index() if target is not None else None
            if index is not None:
                marks.append(Bookmark(entry.level + 1, entry.get_title(), index + 1))
        if len(marks) >= MAX_BOOKMARKS:
            break
    return marks
