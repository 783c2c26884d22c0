"""Stores the documents of a run one after another, each whole or not at all."""

from collections.abc import Callable

from kebab.core.documents import DocumentRow, FileStamp, KnownDocument
from kebab.core.ids import DocId, make_doc_id
from kebab.core.ports import LibraryWriter
from kebab.core.progress import ProgressKind
from kebab.errors.catalog import ParseFailed, TimedOut
from kebab.errors.signal import Signal
from kebab.errors.system import build_io_error
from kebab.ingest.build import BuildResult, BuildTask, BuiltFile, DocumentBuilder, read_file
from kebab.ingest.job import FileOutcome, ItemKind, RunContext, select_slowest
from kebab.ingest.large_text import build_large_row, is_large_text
from kebab.ingest.plan import FileTask, MissingDocument
from kebab.ingest.pool import build_ahead
from kebab.wire.ingest import SlowFile

REMOVAL_BATCH = 256
"""How many documents are deleted in one transaction."""


class DocumentCommitter:
    """Writes to the library and collects the outcome of each file."""

    def __init__(self, library: LibraryWriter, context: RunContext) -> None:
        self.items: list[FileOutcome] = []
        self.slowest: tuple[SlowFile, ...] = ()
        self.missing: list[MissingDocument] = []
        self.tried = 0
        self._library = library
        self._context = context

    def store(self, tasks: list[FileTask], builder: DocumentBuilder) -> None:
        """Store the document of every file, until cancelled."""
        send = self._context.reporter.send
        with build_ahead(tasks, builder, self._choose_id, self._should_stop) as results:
            for number, task in enumerate(tasks, start=1):
                if self._context.cancel.requested:
                    return
                count, path = (number, len(tasks)), task.entry.path
                send(ProgressKind.ASSET_STARTED, path=path, count=count, unit="files")
                result = next(results)
                if self._should_stop():
                    return
                duration_ms = self._store_timed(task, builder, result)
                self.tried = number
                slow = SlowFile(doc_path=path, duration_ms=duration_ms)
                self.slowest = select_slowest((*self.slowest, slow))
                send(ProgressKind.ASSET_FINISHED, path=path, count=count, unit="files")

    def touch(self, touched: list[tuple[KnownDocument, FileStamp]]) -> None:
        """Store the new stamps of files whose content did not change."""
        for known, stamp in touched:
            self._library.update_stamp(known.doc_id, stamp)
            self._context.reporter.send_heartbeat("scan")

    def remove(self, missing: list[MissingDocument]) -> None:
        """Delete the documents whose files are missing."""
        unique = {document.known.doc_id: document for document in missing}
        ids = list(unique)
        for first in range(0, len(ids), REMOVAL_BATCH):
            self._library.remove_documents(ids[first : first + REMOVAL_BATCH])
            self._context.reporter.send_heartbeat("remove")
        self.items += [document.to_outcome() for document in unique.values()]

    def _should_stop(self) -> bool:
        self._context.reporter.send_heartbeat("parse")
        return self._context.cancel.requested

    def _store_timed(self, task: FileTask, builder: DocumentBuilder, result: BuildResult) -> float:
        """Store one file; return how many milliseconds it took in all processes."""
        started = self._context.clock.monotonic()
        if isinstance(result, Signal):
            self._add_error(task, result)
        elif result is None:
            self._store_file(task, builder)
        else:
            self._store_built(task, builder, result)
        duration_ms = (self._context.clock.monotonic() - started) * 1000
        return duration_ms + (result.duration_ms if isinstance(result, BuiltFile) else 0)

    def _store_built(self, task: FileTask, builder: DocumentBuilder, built: BuiltFile) -> None:
        """Store a file that a worker has built, or only parsed."""
        made = built.made
        if isinstance(made, DocumentRow):
            self._put(task, made)
            return
        self._store_row(task, lambda doc_id: builder.cut_row(task.source, task.entry, doc_id, made))

    def _store_file(self, task: FileTask, builder: DocumentBuilder) -> None:
        """Store one file; its error becomes its outcome, a missing file has none."""
        try:
            self._store_row(task, lambda doc_id: _build_row(task, builder, doc_id))
        except (FileNotFoundError, NotADirectoryError):
            self._library.forget_unread(task.source.name, task.entry.path)
            if task.known is not None:
                self.missing.append(MissingDocument(source=task.source, known=task.known))
        except OSError as failure:
            self._add_error(task, build_io_error(failure, "read", task.entry.absolute))

    def _store_row(self, task: FileTask, build: Callable[[DocId], DocumentRow]) -> None:
        """Build a row here and store it; every error of its parser becomes its outcome."""
        try:
            row = build(self._choose_id(task))
        except Signal as error:
            self._add_error(task, error)
            return
        try:
            self._put(task, row)
        except (ParseFailed, TimedOut) as error:  # of a later portion of a large text
            self._add_error(task, error)

    def _put(self, task: FileTask, row: DocumentRow) -> None:
        outcome = task.to_outcome()
        changes = self._library.put_document(row)
        outcome.doc_id = row.doc_id
        outcome.chunk_count = changes.kept + changes.added
        outcome.warnings = row.warnings
        self.items.append(outcome)

    def _add_error(self, task: FileTask, error: Signal) -> None:
        outcome = task.to_outcome()
        outcome.kind = ItemKind.ERROR
        outcome.error = error
        self._library.mark_failed(task.source.name, task.entry.path, error.format_message())
        self.items.append(outcome)

    def _choose_id(self, task: FileTask) -> DocId:
        """Return the id of a known document, or a free one."""
        if task.known is not None:
            return task.known.doc_id
        occurrence = 0
        while True:
            doc_id = make_doc_id(task.source.name, task.entry.path, occurrence)
            if not self._library.has_document(doc_id):
                return doc_id
            occurrence += 1


def _build_row(task: FileTask, builder: DocumentBuilder, doc_id: DocId) -> DocumentRow:
    """Read a file and build its row.

    Raises:
        OSError: The file cannot be read.
        Signal: The parser refuses it.
    """
    if is_large_text(task.entry):
        return build_large_row(builder, BuildTask(task.source, task.entry, doc_id))
    return builder.build_row(task.source, task.entry, doc_id, read_file(task.entry.absolute))
