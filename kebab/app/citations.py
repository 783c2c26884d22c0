"""Builds citations of lines, and compares files with what was indexed."""

import os
import unicodedata

from kebab.core.stored import STDIN
from kebab.wire.citation import Citation, Freshness, LineCitation, LineSpan

_RESERVED = frozenset("%#?\\\"<>^`{}|[]()*' ")


def line_citation(path: str, start: int, end: int) -> Citation:
    """Return the citation of lines `start` to `end` of a file."""
    fragment = f"#L{start}" if start == end else f"#L{start}-L{end}"
    return LineCitation(
        path=path, uri=quote_path(path) + fragment, line=LineSpan(start=start, end=end)
    )


def quote_path(path: str) -> str:
    """Return a path as the path of an IRI: reserved, blank and invisible characters escaped."""
    return "".join(one if _plain(one) else _escaped(one) for one in path)


def file_of(source: str, root: str, path: str) -> str | None:
    """Return where a document's file lies, None for text from standard input."""
    return None if source == STDIN else os.path.join(root, path)  # noqa: PTH118 - called for every hit


def freshness(root: str, path: str, size: int, mtime_ns: int) -> Freshness:
    """Return how the file on disk compares with what was indexed, by size and time."""
    try:
        now = os.stat(os.path.join(root, path))  # noqa: PTH116, PTH118 - called for every hit
    except OSError:
        return "gone"
    return "fresh" if (now.st_size, now.st_mtime_ns) == (size, mtime_ns) else "changed"


def _plain(character: str) -> bool:
    if character in _RESERVED:
        return False
    return " " < character < "\x7f" or unicodedata.category(character)[0] not in "CZ"


def _escaped(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogateescape"))
