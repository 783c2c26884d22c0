"""A database with a document in it, below the level of the writer."""

from collections.abc import Sequence
from pathlib import Path

import apsw
import pytest

from kebab.core.chunks import Key
from kebab.core.documents import ChunkChanges, DocumentRow
from kebab.store.sqlite import chunks, documents
from kebab.store.sqlite.connection import open_writer
from kebab.store.sqlite.writer import SqliteWriter
from tests.fakes.rows import NOTES, document


class Stored:
    """Stores documents of the source `notes`; called with texts it returns their keys."""

    def __init__(self, database: apsw.Connection) -> None:
        self.database = database

    def put_document(self, row: DocumentRow, now: float = 1.0) -> ChunkChanges:
        saved = documents.save_document(self.database, row, now)
        target = chunks.ChunkTarget(str, row, *saved)
        return chunks.replace_chunks(self.database, target)

    def __call__(self, texts: Sequence[str]) -> list[Key]:
        self.put_document(document("a.md", texts))
        return [chunk.key for chunk in chunks.list_pending(self.database, 1_000)]


@pytest.fixture
def stored(tmp_path: Path):
    with SqliteWriter(tmp_path, str) as made:
        made.add_source(NOTES)
    database = open_writer(tmp_path)
    yield Stored(database)
    database.close()


@pytest.fixture
def writer(tmp_path: Path):
    """A writer whose library holds one note."""
    with SqliteWriter(tmp_path, str) as made:
        made.add_source(NOTES)
        made.put_document(document("a.md", ["rain"]))
        yield made
