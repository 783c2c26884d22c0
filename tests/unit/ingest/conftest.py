"""A desk to ingest from: a folder of files, a stored library, an index and a model."""

import time
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from kebab.app.classify import build_error_reply
from kebab.chunk.budget import Budget
from kebab.core.files import NAMED
from kebab.core.progress import Cancel
from kebab.ingest.job import IngestJob, IngestPorts, LoadedModel
from kebab.ingest.run import run_ingest
from kebab.parse.registry import TextParser, guard_parser
from kebab.parse.text.markdown import MarkdownParser
from kebab.source.walk import FolderScanner
from kebab.store.sqlite.reader import SqliteReader
from kebab.store.sqlite.writer import SqliteWriter
from tests.fakes.embedder import HashingEmbedder
from tests.fakes.vectors import MemoryVectors

if TYPE_CHECKING:
    from kebab.core.ports import Parser


class SystemClock:
    """The time, moved on by hand where a test needs it."""

    def __init__(self):
        self.ahead = 0.0

    def now(self):
        return time.time() + self.ahead

    def monotonic(self):
        return time.monotonic() + self.ahead


class StoredLibrary(SqliteWriter):
    """A library on disk that also shows what it holds."""

    load_chunks = SqliteReader.load_chunks

    def __init__(self, data):
        super().__init__(data, str.lower)


class Desk:
    """Everything that a run needs, and shorthands to look at what came of it."""

    def __init__(self, folder):
        self.root = folder / "notes"
        self.root.mkdir()
        self.library = StoredLibrary(folder / "data")
        self.tables = {}
        self.embedder: Any = HashingEmbedder()
        self.parsers: dict[str, Parser] = {
            "text/markdown": MarkdownParser(),
            "text/plain": TextParser(),
            **dict.fromkeys(NAMED.values(), TextParser()),
        }
        self.clock = SystemClock()
        self.events = []
        self.models_loaded = 0
        self.tables_opened = 0

    def ports(self, library=None):
        return IngestPorts(
            library=library or self.library,
            vectors=self._open,
            embedder=self._load,
            scanner=FolderScanner(),
            parsers=self.parsers,
            guard=guard_parser,
            budget=Budget,
            clock=self.clock,
            describe_error=partial(build_error_reply, operation="ingest"),
            batch=self.library.batch,
        )

    def _open(self, version):
        self.tables_opened += 1
        return self.tables.setdefault(version, MemoryVectors(self.tables))

    def _load(self, survey):
        self.models_loaded += 1
        self.languages = survey
        return None if self.embedder is None else LoadedModel(self.embedder)

    def ingest(self, *paths, cancel=None, **options):
        """Run over paths below the root, the root itself without any, and check the books."""
        named = tuple(str(self.root / path) for path in paths) or (str(self.root),)
        return self.run(IngestJob(paths=named, **options), cancel)

    def again(self, **options):
        """Run over every registered source, long enough after the last run."""
        self.clock.ahead += 10
        return self.run(IngestJob(**options))

    def run(self, request, cancel=None):
        report = run_ingest(request, self.ports(), self.events.append, cancel or Cancel())
        self.check()
        return report

    def check(self):
        """Assert that index and library tell the same, each row once."""
        for version, table in self.tables.items():
            if version == self.library.get_value("embedding_version"):
                assert sorted(table.list_keys()) == sorted(self.library.list_committed_keys())

    def count_chunks(self):
        """Return how many chunks the library holds, with and without a vector."""
        return len(self.library.list_committed_keys()) + self.library.count_pending()

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def ids(self, root=None):
        """Return the documents' ids by path."""
        known = self.library.load_known_documents(str(root or self.root))
        return {path: one.doc_id for path, one in known.items()}


@pytest.fixture
def desk(tmp_path):
    made = Desk(tmp_path)
    yield made
    made.library.close()
