"""Reads whole documents of a snapshot, for a base that is published.

SQLite writes the rows of a document as JSON with the names of the records, which are decoded.
What tells only about this machine stays here: a source is named by the last part of its folder.
"""

import os
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Any, NamedTuple

import msgspec

from kebab.core.chunks import ChunkRow
from kebab.core.documents import STDIN, DocumentRow
from kebab.core.ids import Key
from kebab.store.sqlite.connection import translate_sqlite_errors
from kebab.store.sqlite.reader import SqliteReader


def _select_list(value: str, order: str) -> str:
    """Return the SQL of a JSON list of what a document has in a table of its own."""
    return (
        f"json((SELECT json_group_array({value} ORDER BY {order}) FROM"  # noqa: S608 - constants
        f" document_{{}} o WHERE o.doc = d.doc))"
    )


_FIELDS = ("path", "title", "media", "lang", "recipe", "parser_version", "chunker_version", "date")
_LISTS = {"tags": "tag", "authors": "author", "aliases": "alias", "links": "target"}
_MEMBERS = {
    "doc_id": "d.doc_id",
    "source": "CAST(d.source AS TEXT)",
    "content_hash": "a.content_hash",
    "stamp": "json_object('size', d.size, 'mtime_ns', d.mtime_ns, 'inode', 0)",
    "warnings": "json(d.warnings)",
    "chunks": "json_array()",
    "properties": _select_list("json_array(key, value)", "key, value").format("properties"),
    **{name: f"d.{name}" for name in _FIELDS},
    **{name: _select_list(one, one).format(name) for name, one in _LISTS.items()},
}
_RECORD = ", ".join(f"'{name}', {sql}" for name, sql in _MEMBERS.items())
_DOCUMENTS = (
    f"SELECT d.doc, json_object({_RECORD})"  # noqa: S608 - constants
    " FROM documents d JOIN assets a ON a.asset = d.asset ORDER BY d.doc"
)
_CHUNKS = """
    SELECT c.doc, iif(v.state = 'committed', c.key, NULL), json_array(
        json_array(c.ordinal, c.text, c.start, c."end", c.start_line, c.end_line,
            json(c.heading_path), c.context, json(iif(c.place = '', 'null', c.place))),
        c.chunk_id, c.text_hash, c.embed_hash)
    FROM chunks c JOIN vectors v ON v.key = c.key ORDER BY c.doc, c.ordinal
"""
_read_document = msgspec.json.Decoder(DocumentRow).decode
_read_chunk = msgspec.json.Decoder(ChunkRow).decode


class WholeDocument(NamedTuple):
    """A document with its chunks, and the keys of the chunks that have a vector."""

    row: DocumentRow
    keys: list[Key | None]


def iterate_documents(reader: SqliteReader) -> Iterator[WholeDocument]:
    """Yield every document of a snapshot with its chunks in order."""
    database = reader.connection
    with translate_sqlite_errors(reader.path, "read"):
        names = _choose_names(database.execute("SELECT source, root, kind FROM sources"))
        chunks: Iterator[Any] = groupby(database.execute(_CHUNKS), key=lambda row: row[0])
        following = next(chunks, None)
        for doc, record in database.execute(_DOCUMENTS):
            found: list[Any] = []
            if following is not None and following[0] == doc:
                found = list(following[1])
                following = next(chunks, None)
            row = _read_document(record)
            row = msgspec.structs.replace(
                row,
                source=names[row.source],
                chunks=tuple(_read_chunk(chunk) for *_, chunk in found),
            )
            yield WholeDocument(row, [key for _, key, _ in found])


def _choose_names(rows: Any) -> dict[str, str]:
    """Return the name of each source: the last part of its folder, numbered where it is taken."""
    seen: Counter[str] = Counter()
    names = {}
    for source, root, kind in sorted(rows):
        base = STDIN if kind == STDIN else os.path.basename(root.rstrip("/")) or "files"  # noqa: PTH119
        seen[base] += 1
        names[str(source)] = base if seen[base] == 1 else f"{base}-{seen[base]}"
    return names
