"""Reads whole documents of a snapshot, for a base that is published.

What tells only about this machine stays here: a source is named by the last part of its folder.
"""

import json
import os
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Any, NamedTuple

from kebab.core.chunks import Chunk, ChunkRow
from kebab.core.documents import STDIN, DocumentRow, FileStamp
from kebab.core.ids import ChunkId, DocId, Key
from kebab.store.sqlite.connection import translate_sqlite_errors
from kebab.store.sqlite.fts import parse_place, parse_strings
from kebab.store.sqlite.reader import SqliteReader

_DOCUMENTS = """
    SELECT d.doc, d.doc_id, d.source, d.path, d.title, d.media, d.lang, d.size, d.mtime_ns,
        a.content_hash, d.recipe, d.parser_version, d.chunker_version, d.warnings, d.date,
        (SELECT json_group_array(tag ORDER BY tag) FROM document_tags t WHERE t.doc = d.doc),
        (SELECT json_group_array(author ORDER BY author) FROM document_authors w
            WHERE w.doc = d.doc),
        (SELECT json_group_array(alias ORDER BY alias) FROM document_aliases n
            WHERE n.doc = d.doc),
        (SELECT json_group_array(target ORDER BY target) FROM document_links l
            WHERE l.doc = d.doc),
        (SELECT json_group_array(json_array(key, value) ORDER BY key, value)
            FROM document_properties p WHERE p.doc = d.doc)
    FROM documents d JOIN assets a ON a.asset = d.asset ORDER BY d.doc
"""
_CHUNKS = """
    SELECT c.doc, c.key, v.state = 'committed', c.chunk_id, c.text_hash, c.embed_hash,
        c.ordinal, c.text, c.start, c."end", c.start_line, c.end_line, c.heading_path, c.context,
        c.place
    FROM chunks c JOIN vectors v ON v.key = c.key ORDER BY c.doc, c.ordinal
"""


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
        for doc, *row in database.execute(_DOCUMENTS):
            found: list[Any] = []
            if following is not None and following[0] == doc:
                found = list(following[1])
                following = next(chunks, None)
            yield _build_document(names[row[1]], row, found)


def _choose_names(rows: Any) -> dict[int, str]:
    """Return the name of each source: the last part of its folder, numbered where it is taken."""
    seen: Counter[str] = Counter()
    names = {}
    for source, root, kind in sorted(rows):
        base = STDIN if kind == STDIN else os.path.basename(root.rstrip("/")) or "files"  # noqa: PTH119
        seen[base] += 1
        names[source] = base if seen[base] == 1 else f"{base}-{seen[base]}"
    return names


def _build_document(source: str, row: Any, chunks: list[Any]) -> WholeDocument:
    doc_id, _, path, title, media, lang, size, mtime_ns, content_hash, *rest = row
    recipe, parser, chunker, warnings, date, tags, authors, aliases, links, properties = rest
    document = DocumentRow(
        doc_id=DocId(doc_id),
        source=source,
        path=path,
        title=title,
        media=media,
        lang=lang,
        tags=parse_strings(tags),
        stamp=FileStamp(size=size, mtime_ns=mtime_ns, inode=0),
        content_hash=content_hash,
        recipe=recipe,
        parser_version=parser,
        chunker_version=chunker,
        warnings=parse_strings(warnings),
        authors=parse_strings(authors),
        date=date,
        aliases=parse_strings(aliases),
        links=parse_strings(links),
        properties=tuple((key, value) for key, value in json.loads(properties)),
        chunks=tuple(_build_chunk(*one[3:]) for one in chunks),
    )
    return WholeDocument(
        document, [Key(key) if embedded else None for _, key, embedded, *_ in chunks]
    )


def _build_chunk(chunk_id: str, text_hash: str, embed_hash: str, *columns: Any) -> ChunkRow:
    ordinal, text, start, end, first, last, headings, context, place = columns
    path = parse_strings(headings)
    chunk = Chunk(ordinal, text, start, end, first, last, path, context, parse_place(place))
    return ChunkRow(chunk, ChunkId(chunk_id), text_hash, embed_hash)
