"""Reads the documents of an index with their texts, to compare one index with another."""

from contextlib import closing
from pathlib import Path

import apsw


def read_texts(data: Path) -> dict[str, list[str]]:
    """Return the texts of the passages of each document by its path."""
    path = data / "kebab.sqlite"
    found: dict[str, list[str]] = {}
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as database:
        # A writer that closes the index locks it for a moment.
        database.set_busy_timeout(60_000)
        for name, text in database.execute(
            "SELECT d.path, c.text FROM documents d LEFT JOIN chunks c ON c.doc = d.doc"
            " ORDER BY d.path, c.ordinal"
        ):
            found.setdefault(name, []).append(text or "")
    return found
