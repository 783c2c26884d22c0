import pytest

from kebab.core.chunks import (
    Chunk,
    ChunkRow,
    build_embed_text,
    compute_digest,
    make_chunk_id,
    make_doc_id,
)
from kebab.core.documents import DocumentRow, FileStamp, Source, VectorRow
from kebab.search.engine import SearchEngine
from kebab.store.sqlite.reader import SqliteReader
from kebab.store.sqlite.writer import SqliteWriter
from kebab.text.tokenizer import join_tokens
from tests.fakes.embedder import HashingEmbedder
from tests.fakes.vectors import MemoryVectors


class Base:
    """A knowledge base on disk with its vectors in memory, filled note by note."""

    def __init__(self, folder):
        self.folder = folder
        self.embedder = HashingEmbedder()
        self.vectors = MemoryVectors()
        self.readers = []
        self.writer = SqliteWriter(folder, join_tokens, lambda: 1.0)
        self.writer.add_source(Source(name="notes", root=str(folder), kind="folder"))

    def add(self, path, *texts, title="", tags=(), lang=None, embed=True, **given):
        document = _document(path, texts, title=title, tags=tags, lang=lang, **given)
        self.writer.put_document(document)
        if embed:
            for chunk in self.writer.list_pending(1000):
                text = build_embed_text(chunk.title, chunk.heading_path, chunk.text)
                vector = self.embedder.embed_query(text)
                self.vectors.append([VectorRow(chunk.key, vector)])
                self.writer.mark_vectors([chunk.key], "committed", self.embedder.profile.version)
            self.embedder.embedded.clear()

    def reader(self):
        self.readers.append(SqliteReader(self.folder))
        return self.readers[-1]

    def engine(self, **parts):
        parts = {"vectors": lambda: self.vectors, "embedder": lambda: self.embedder, **parts}
        return SearchEngine(self.reader(), parts.pop("vectors"), parts.pop("embedder"), **parts)

    def close(self):
        for reader in self.readers:
            reader.close()
        self.writer.close()


@pytest.fixture
def base(tmp_path):
    base = Base(tmp_path)
    yield base
    base.close()


def _document(path, texts, *, title, tags, lang, heading=(), date=None, media="text/markdown"):
    owner = make_doc_id("notes", path)
    rows = tuple(
        ChunkRow(
            chunk=Chunk(
                ordinal=index,
                text=text,
                start=0,
                end=len(text),
                start_line=index + 1,
                end_line=index + 1,
                heading_path=tuple(heading),
            ),
            chunk_id=make_chunk_id(owner, "test-v1", compute_digest(text), index),
            text_hash=compute_digest(text),
            embed_hash=compute_digest(title, text),
        )
        for index, text in enumerate(texts)
    )
    return DocumentRow(
        doc_id=owner,
        source="notes",
        path=path,
        title=title or path,
        media=media,
        lang=lang,
        date=date,
        tags=tuple(tags),
        stamp=FileStamp(size=1, mtime_ns=1, inode=1),
        content_hash=compute_digest(path, *texts),
        recipe="r",
        parser_version="p",
        chunker_version="test-v1",
        chunks=rows,
    )
