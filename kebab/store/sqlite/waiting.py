"""Rows of the word index that wait for the end of their transaction in a table beside it.

FTS5 writes out what it has gathered whenever a savepoint begins, and every document has one. Given
to it together, before the commit, rows are written once and need fewer merges later on. They wait
in a table, so that a document that is undone takes its rows along.
"""

from typing import TYPE_CHECKING

from kebab.store.sqlite import fts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    import apsw

    from kebab.core.ids import Key


def prepare(database: "apsw.Connection") -> None:
    """Make the table; it lives in memory and belongs to this connection."""
    database.execute("PRAGMA temp_store = MEMORY")
    database.execute(
        "CREATE TEMP TABLE IF NOT EXISTS waiting_words"
        " (key INTEGER PRIMARY KEY, title TEXT, headings TEXT, body TEXT)"
    )


def insert(database: "apsw.Connection", rows: "Iterable[tuple[Key, str, str, str]]") -> None:
    """Let chunks be indexed: key, then the tokens of title, headings and body."""
    database.executemany("INSERT INTO waiting_words VALUES (?, ?, ?, ?)", rows)


def delete(database: "apsw.Connection", keys: "Collection[Key]") -> None:
    """Take chunks out of the index, and out of what waits for it."""
    database.executemany("DELETE FROM waiting_words WHERE key = ?", ((key,) for key in keys))
    fts.delete(database, keys)


def settle(database: "apsw.Connection") -> None:
    """Index what waits; one call, so that nothing comes between its two halves."""
    database.execute(
        "INSERT INTO chunks_fts (rowid, title, headings, body)"
        " SELECT key, title, headings, body FROM waiting_words ORDER BY key;"
        " DELETE FROM waiting_words"
    )
