"""Contains the index of the names of documents: what is written, and how it is searched."""

import json
import math
from collections.abc import Collection
from typing import Any

import apsw

from kebab.core.ids import DocNumber, Key
from kebab.core.queries import Filters, NamedDocument
from kebab.store.sqlite.fts import build_condition, parse_strings, to_json
from kebab.text.names import list_index_words

_WIDEST = 2_000
"""A word in the names of more documents, such as that of their folder, finds none by itself."""


def write_names(
    database: apsw.Connection, doc: int, path: str, title: str, aliases: tuple[str, ...]
) -> None:
    """Replace the words of the names of a document."""
    words = list_index_words(path, title, aliases)
    database.execute("DELETE FROM document_names WHERE doc = ?", (doc,))
    database.executemany(
        "INSERT INTO document_names (token, doc, word) VALUES (?, ?, ?)",
        ((token, doc, word) for token, word in words.items()),
    )


def add_missing_names(database: apsw.Connection) -> None:
    """Write the names of the documents that an earlier version stored."""
    rows: list[Any] = database.execute(
        "SELECT d.doc, d.path, d.title,"
        " (SELECT json_group_array(a.alias) FROM document_aliases a WHERE a.doc = d.doc)"
        " FROM documents d WHERE NOT EXISTS (SELECT 1 FROM document_names n WHERE n.doc = d.doc)"
    ).fetchall()
    with database:
        for doc, path, title, aliases in rows:
            write_names(database, doc, path, title, parse_strings(aliases))


def find_named_documents(
    database: apsw.Connection, tokens: Collection[str], filters: Filters, limit: int
) -> list[NamedDocument]:
    """Return the documents with the rarest of some tokens in their names, short titles first."""
    counts: list[Any] = database.execute(
        "SELECT token, count(*), (SELECT count(*) FROM documents) FROM document_names"
        " WHERE token IN (SELECT value FROM json_each(?)) GROUP BY token",
        (to_json(tokens),),
    ).fetchall()
    weights = {token: math.log1p(total / n) for token, n, total in counts if n <= _WIDEST}
    if not weights:
        return []
    allowed = ""
    values: list[str | int] = []
    if filters.is_active:
        where, values = build_condition(filters)
        allowed = f" WHERE n.doc IN (SELECT d.doc FROM documents d WHERE {where})"  # noqa: S608 - values are bound
    rows = database.execute(
        "SELECT d.doc, c.key, d.path, d.title,"  # noqa: S608 - values are bound
        " (SELECT json_group_array(a.alias) FROM document_aliases a WHERE a.doc = d.doc)"
        " FROM (SELECT n.doc, sum(w.value) AS weight FROM json_each(?) w"
        f" CROSS JOIN document_names n ON n.token = w.key{allowed} GROUP BY n.doc) found"
        " JOIN documents d ON d.doc = found.doc"
        " JOIN chunks c ON c.doc = d.doc AND c.ordinal = 0"
        " ORDER BY found.weight DESC, length(d.title), d.doc LIMIT ?",
        (json.dumps(weights), *values, limit),
    )
    return [
        NamedDocument(DocNumber(doc), Key(key), path, title, parse_strings(aliases))
        for doc, key, path, title, aliases in rows
    ]


def list_similar_words(database: apsw.Connection, word: str) -> list[str]:
    """Return the words of names that may differ from a word in one place.

    One wrong letter, or two that changed places, leaves one half of a word as it is.
    """
    half = (len(word) - 1) // 2
    rows = database.execute(
        "SELECT DISTINCT word FROM document_names WHERE length(word) BETWEEN ?1 - 1 AND ?1 + 1"
        " AND (substr(word, 1, ?2) = ?3 OR substr(word, -?2) = ?4)",
        (len(word), half, word[:half], word[-half:]),
    )
    return [str(word) for (word,) in rows]
