"""Documents and chunks with every field filled in, for tests of the stores."""

from collections.abc import Iterable, Sequence
from typing import Any

import apsw

from kebab.core.chunks import (
    Chunk,
    ChunkRow,
    DocId,
    Key,
    build_embed_text,
    compute_digest,
    make_chunk_id,
    make_doc_id,
)
from kebab.core.documents import DocumentRow, FileStamp, Source
from kebab.store.sqlite import fts

NOTES = Source(name="notes", root="/home/me/notes", kind="folder")
OTHER = Source(name="other", root="/srv/other", kind="folder")
CHUNKER = "headings-v1"


def stamp(seconds: float = 1.0, size: int = 10, inode: int = 7) -> FileStamp:
    return FileStamp(size=size, mtime_ns=int(seconds * 1e9), inode=inode)


def chunk_row(
    doc: DocId, ordinal: int, text: str, *, title: str = "", headings: tuple[str, ...] = ()
) -> ChunkRow:
    text_hash = compute_digest(text)
    return ChunkRow(
        chunk=Chunk(
            ordinal=ordinal,
            text=text,
            start=ordinal * 100,
            end=ordinal * 100 + len(text),
            start_line=ordinal * 10 + 1,
            end_line=ordinal * 10 + 3,
            heading_path=headings,
        ),
        chunk_id=make_chunk_id(doc, CHUNKER, text_hash, 0),
        text_hash=text_hash,
        embed_hash=compute_digest(build_embed_text(title, headings, text)),
    )


def document(
    path: str,
    texts: Sequence[str] = ("alpha beta",),
    *,
    doc: DocId | None = None,
    source: str = "notes",
    title: str = "Title",
    media: str = "text/markdown",
    lang: str | None = "en",
    tags: tuple[str, ...] = (),
    at: float = 1.0,
    headings: tuple[str, ...] = (),
    content: str | None = None,
    warnings: tuple[str, ...] = (),
    **fields: Any,
) -> DocumentRow:
    ident = doc or make_doc_id(source, path)
    rows = [
        chunk_row(ident, ordinal, text, title=title, headings=headings)
        for ordinal, text in enumerate(texts)
    ]
    return DocumentRow(
        doc_id=ident,
        source=source,
        path=path,
        title=title,
        media=media,
        lang=lang,
        tags=tags,
        stamp=stamp(at),
        content_hash=content or compute_digest(*texts, size=32),
        recipe="recipe-1",
        parser_version="markdown-v1",
        chunker_version=CHUNKER,
        chunks=tuple(rows),
        warnings=warnings,
        **fields,
    )


def index_words(database: apsw.Connection, rows: Iterable[tuple[Key, str, str, str]]) -> None:
    """Put chunks into the word index: key, then the tokens of title, headings and body."""
    fts.write_words(database, rows)
