"""Publishes the knowledge base as a LanceDB dataset in a folder or an object store.

Rows that are there already are not sent again. `base.json` is written last, by a conditional write,
so a reader sees the earlier state until the new one is whole.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from kebab import __version__
from kebab.app.context import AppContext, parse_dimension
from kebab.app.coverage import measure_stored_coverage
from kebab.config.settings import BASE_FILE
from kebab.core.documents import EMBEDDING_VERSION
from kebab.core.progress import ProgressCallback, ProgressKind
from kebab.errors.catalog import InvalidInput, NotIndexed, StoreCorrupt
from kebab.ingest.job import ProgressReporter
from kebab.store import published
from kebab.store.objects import ObjectStore, resolve_address
from kebab.store.published import Dataset, Row
from kebab.store.sqlite.connection import get_expected_schema_version
from kebab.store.sqlite.copies import WholeDocument, iterate_documents
from kebab.text.tokenizer import join_tokens
from kebab.wire.published import PublishedManifest, PublishReport, PublishRequest
from kebab.wire.record import fill_record, format_timestamp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kebab.store.sqlite.reader import SqliteReader


def publish(
    context: AppContext, request: PublishRequest, report: ProgressCallback
) -> PublishReport:
    """Publish the knowledge base; an ingest may be at work, one state of it is published.

    Raises:
        InvalidInput: Nothing can be published there.
        Locked: Another publisher is at work, or was faster.
        IoError: The store refused.
        NotIndexed: There is no index with the schema of this build.
        DependencyMissing: The extra is not installed.
    """
    started = context.clock.monotonic()
    with context.open_reader() as reader:
        store = ObjectStore(resolve_address(request.dest, "$.dest"))
        if store.address.lower().startswith("http"):
            cause = "a web server only sends what is published; publish to its folder or its store"
            raise InvalidInput(field="$.dest", cause=cause)
        folder = Path(store.address).resolve()
        if store.is_local and folder.is_relative_to(context.paths.data.resolve()):
            cause = "a published base cannot be inside the folder of the knowledge base"
            raise InvalidInput(field="$.dest", cause=cause)
        work = _Publication(context, reader, store, ProgressReporter(report, context.clock))
        found = work.run()
    return fill_record(
        PublishReport,
        found,
        work,
        dest=store.address,
        bytes=sum(file.bytes for file in found.files),
        duration_ms=(context.clock.monotonic() - started) * 1000,
    )


class _Publication:
    """One run of `publish`, over a snapshot of the index."""

    def __init__(
        self,
        context: AppContext,
        reader: "SqliteReader",
        store: ObjectStore,
        progress: ProgressReporter,
    ) -> None:
        self._context, self._reader, self._store = context, reader, store
        self._progress = progress
        self._version = reader.get_value(EMBEDDING_VERSION)
        self.added = self.removed = self.sent_bytes = 0

    def run(self) -> PublishedManifest:
        """Publish; return what describes the new state."""
        before, salt = self._store.read_version(BASE_FILE), os.urandom(16).hex()
        with suppress(StoreCorrupt, NotIndexed):
            salt = published.parse_base(before.data, "").salt if before else salt
        dimension = parse_dimension(self._version)
        dataset = Dataset(self._store.address, dimension=dimension)
        documents, passages, sources = set[str](), set[str](), set[str]()
        vectors = 0
        for document, row, keys in self._iterate():
            sources.add(document.row.source)
            documents.add(row["key"])
            passages.update(keys)
            vectors += sum(key is not None for key in document.keys)
        there = {one.name for one in self._store.list("")}
        tables = {published.DOCUMENTS: documents, published.PASSAGES: passages}
        for name, wanted in tables.items():
            self._write(dataset, name, wanted)
        self._progress.send(ProgressKind.HEARTBEAT, phase="index")
        dataset.maintain()
        versions = dataset.read_versions()
        for name, wanted in tables.items():
            dataset.require_keys(name, wanted)
        stored = [*self._store.list("")]
        manifest = PublishedManifest(
            format_version=published.FORMAT_VERSION,
            kebab_version=__version__,
            created_at=format_timestamp(self._context.clock.now()),
            salt=salt,
            index_schema=get_expected_schema_version(),
            embedding_version=self._version,
            dimension=dimension or None,
            documents=len(documents),
            chunks=len(passages),
            vectors=vectors,
            sources=sorted(sources),
            versions=versions,
            files=published.list_copied_files(stored, versions),
            coverage=measure_stored_coverage(self._context, seconds=None),
        )
        data = msgspec.json.format(msgspec.json.encode(manifest), indent=1)
        self._store.replace(BASE_FILE, data, before)
        self.sent_bytes = len(data) + sum(one.size for one in stored if one.name not in there)
        return manifest

    def _write(self, dataset: Dataset, name: str, wanted: set[str]) -> None:
        """Delete and add the rows of a table by the difference of keys."""
        there = dataset.list_keys(name)
        gone = {key for key, count in there.items() if count > 1 or key not in wanted}
        new = wanted - (there.keys() - gone)
        dataset.delete(name, gone)
        if name == published.PASSAGES:
            self.added, self.removed = len(new), len(gone)
            dataset.add(name, self._build_passages(new))
        elif new:
            dataset.add(name, (row for _, row, _ in self._iterate() if row["key"] in new))

    def _iterate(self) -> "Iterator[tuple[WholeDocument, Row, list[str]]]":
        """Yield each document with its row and the keys of its passages."""
        for document in iterate_documents(self._reader):
            keys = published.build_passage_keys(document, self._version)
            yield document, published.build_document(document.row, keys), keys

    def _build_passages(self, new: set[str]) -> "Iterator[Row]":
        """Yield the new rows of passages, with their vectors."""
        version = self._version
        index = self._context.open_vector_index(version).load_index() if version else None
        for document, _, keys in self._iterate() if new else ():
            if not (wanted := new.intersection(keys)):
                continue
            vectors = index.get([key for key in document.keys if key is not None]) if index else {}
            rows = published.build_passages(document, keys, vectors, join_tokens)
            yield from (row for row in rows if row["key"] in wanted)
            self._progress.send_heartbeat("publish")
