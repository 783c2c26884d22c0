"""Finds damage in the database: in the file, the schema, the rows, the texts and the word index."""

from collections.abc import Callable, Iterator

import apsw

from kebab.core.chunks import build_embed_text
from kebab.core.ids import compute_digest
from kebab.store.sqlite.connection import create_schema
from kebab.store.sqlite.values import parse_strings

SAMPLE_CHUNKS = 100_000
"""How many chunks are compared with their hashes, 13 microseconds each.

Of a larger library an evenly spread part is taken.
"""

_WORD_CHUNKS = 50
_MAX_LISTED = 10

_LINKS = {
    "documents without a source": "SELECT count(*) FROM documents d"
    " WHERE NOT EXISTS (SELECT 1 FROM sources s WHERE s.source = d.source)",
    "documents without content": "SELECT count(*) FROM documents d"
    " WHERE NOT EXISTS (SELECT 1 FROM assets a WHERE a.asset = d.asset)",
    "passages without a document": "SELECT count(*) FROM chunks c"
    " WHERE NOT EXISTS (SELECT 1 FROM documents d WHERE d.doc = c.doc)",
    "tags without a document": "SELECT count(*) FROM document_tags t"
    " WHERE NOT EXISTS (SELECT 1 FROM documents d WHERE d.doc = t.doc)",
    "vector states without a passage": "SELECT count(*) FROM vectors v"
    " WHERE NOT EXISTS (SELECT 1 FROM chunks c WHERE c.key = v.key)",
    "passages without a vector state": "SELECT count(*) FROM chunks c"
    " WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.key = c.key)",
    "passages that are not in the word index": "SELECT count(*) FROM chunks c"
    " WHERE c.key NOT IN (SELECT rowid FROM chunks_fts)",
    "rows of the word index without a passage": "SELECT count(*) FROM chunks_fts"
    " WHERE rowid NOT IN (SELECT key FROM chunks)",
    "passages out of order": "SELECT count(*) FROM chunks"
    " WHERE start > end OR start_line > end_line OR start < 0 OR start_line < 1",
    "documents with a gap between passages": "SELECT count(*) FROM (SELECT 1 FROM chunks"
    " GROUP BY doc HAVING max(ordinal) - min(ordinal) + 1 <> count(*) OR min(ordinal) <> 0)",
    "missing or unreadable settings of the index": "SELECT 2 - count(*) FROM kv WHERE"
    " (name = 'corpus_revision' AND value NOT GLOB '*[^0-9]*' AND value <> '')"
    " OR (name = 'cursor_salt' AND value <> '')",
}
"""Counts of rows that break a rule of the database."""


def find_file_damage(database: apsw.Connection, below: str = "") -> list[str]:
    """Return the faults of the file and the schema as phrases; `below` names the migrations."""
    return [*_check_file(database), *_check_schema(database, below)]


def find_damage(database: apsw.Connection) -> Iterator[str]:
    """Yield the faults of a database as phrases; a fault of the file or the schema ends the list.

    The time is in proportion to the size of the file. Of a large library only a part of the texts
    is compared with the stored hashes.
    """
    faults = find_file_damage(database)
    if faults:
        yield from faults
        return
    for name, sql in _LINKS.items():
        if count := int(database.execute(sql).get):
            yield f"{name}: {count:,}"
    yield from _check_texts(database)


def _check_file(database: apsw.Connection) -> list[str]:
    rows = database.execute(f"PRAGMA integrity_check({_MAX_LISTED})")
    return [str(text) for (text,) in rows if text != "ok"]


def _check_schema(database: apsw.Connection, below: str) -> list[str]:
    """Compare the tables and indexes with those of a new database."""
    expected, found = _read_objects(create_schema(below)), _read_objects(database)
    missing = sorted(expected.keys() - found.keys())
    changed = sorted(name for name, sql in expected.items() if found.get(name, sql) != sql)
    faults = []
    if missing:
        faults.append(f"missing tables or indexes: {', '.join(missing)}")
    if changed:
        faults.append(f"changed tables or indexes: {', '.join(changed)}")
    return faults


def _read_objects(database: apsw.Connection) -> dict[str, str]:
    rows = database.execute("SELECT name, coalesce(sql, '') FROM sqlite_schema")
    return {str(name): str(sql) for name, sql in rows}


def _check_texts(database: apsw.Connection) -> Iterator[str]:
    """Compare texts, titles and headings with their hashes."""
    count = int(database.execute("SELECT count(*) FROM chunks").get)
    rows = database.execute(
        "SELECT c.heading_path, c.context, c.text, c.text_hash, c.embed_hash, d.title"
        " FROM chunks c JOIN documents d ON d.doc = c.doc WHERE c.key % ? = 0",
        (max(1, -(-count // SAMPLE_CHUNKS)),),
    )
    texts = headings = 0
    for heading_path, context, text, text_hash, embed_hash, title in rows:
        embedded = build_embed_text(title, _parse(heading_path), text, context)
        if compute_digest(text) != text_hash:
            texts += 1
        elif compute_digest(embedded) != embed_hash:
            headings += 1
    if texts:
        yield f"passages whose text was changed: {texts:,}"
    if headings:
        yield f"passages whose title or headings were changed: {headings:,}"


def _parse(heading_path: str) -> tuple[str, ...]:
    try:
        return parse_strings(heading_path)
    except ValueError:
        return ()


def find_missing_word(
    database: apsw.Connection, tokens: Callable[[str], list[str]]
) -> tuple[str, bool] | None:
    """Return a word of a passage and whether the word index finds it there.

    Passages at equal distances are tried until a word is not found. None when no passage has a
    word.
    """
    count = int(database.execute("SELECT count(*) FROM chunks").get)
    rows = database.execute(
        "SELECT key, text FROM chunks WHERE key % ? = 0 LIMIT ?",
        (max(1, count // _WORD_CHUNKS), _WORD_CHUNKS),
    ).fetchall()
    last = None
    for key, text in rows:
        words = tokens(str(text))
        if words:
            last = max(words, key=len)
            if not _finds(database, int(str(key)), last):
                return last, False
    return None if last is None else (last, True)


def _finds(database: apsw.Connection, key: int, word: str) -> bool:
    quoted = word.replace('"', '""')
    row = database.execute(
        "SELECT 1 FROM chunks_fts WHERE chunks_fts MATCH ? AND rowid = ?",
        (f'body : "{quoted}"', key),
    ).fetchone()
    return row is not None
