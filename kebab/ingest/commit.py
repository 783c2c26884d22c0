"""One document after another into the library, each whole or not at all."""

from kebab.core.documents import DocumentRow, FileStamp, KnownDocument
from kebab.core.ids import DocId, make_doc_id
from kebab.core.ports import Clock, LibraryWriter
from kebab.core.progress import Cancel, ProgressKind
from kebab.errors.catalog import ParseFailed, TimedOut, UnsupportedMedia
from kebab.errors.signal import Signal
from kebab.errors.system import build_io_error
from kebab.ingest.build import DocumentBuilder, read_file
from kebab.ingest.job import FileOutcome, ItemKind, ProgressReporter, select_slowest
from kebab.ingest.plan import FileTask, MissingDocument
from kebab.ingest.prefetch import BuiltDocument, prefetch_documents
from kebab.wire.ingest import SlowFile

REMOVAL_BATCH = 256
"""How many documents are deleted in one transaction."""


class DocumentCommitter:
    """Writes to the library and remembers what came of each file."""

    def __init__(self, library: LibraryWriter, pulse: ProgressReporter, clock: Clock) -> None:
        self.items: list[FileOutcome] = []
        self.slowest: tuple[SlowFile, ...] = ()
        self.vanished: list[MissingDocument] = []
        self._library = library
        self._pulse = pulse
        self._clock = clock

    def store(self, work: list[FileTask], press: DocumentBuilder, cancel: Cancel) -> None:
        """Store every file of the work, until cancelled."""
        with prefetch_documents(work, press, self._id) as rows:
            for number, one in enumerate(work, start=1):
                if cancel.requested:
                    return
                count, path = (number, len(work)), one.entry.path
                self._pulse.say(ProgressKind.ASSET_STARTED, path=path, count=count, unit="files")
                took = self._timed(one, press, next(rows))
                self.slowest = select_slowest(
                    (*self.slowest, SlowFile(doc_path=path, duration_ms=took))
                )
                self._pulse.say(ProgressKind.ASSET_FINISHED, path=path, count=count, unit="files")

    def touch(self, touched: list[tuple[KnownDocument, FileStamp]]) -> None:
        """Remember the new stamps of files whose content did not change."""
        for known, stamp in touched:
            self._library.update_stamp(known.doc_id, stamp)
            self._pulse.beat("scan")

    def remove(self, gone: list[MissingDocument]) -> None:
        """Delete the documents whose files are gone."""
        unique = {one.known.doc_id: one for one in gone}
        ids = list(unique)
        for first in range(0, len(ids), REMOVAL_BATCH):
            self._library.remove_documents(ids[first : first + REMOVAL_BATCH])
            self._pulse.beat("remove")
        self.items += [build_removed_outcome(one) for one in unique.values()]

    def _timed(self, work: FileTask, press: DocumentBuilder, ready: BuiltDocument | None) -> float:
        """Store one file; return how many milliseconds it took, wherever they were spent."""
        started = self._clock.monotonic()
        if ready is None:
            self._one(work, press)
        else:
            self._put(work, ready.row)
        took = (self._clock.monotonic() - started) * 1000
        return took if ready is None else took + ready.duration_ms

    def _one(self, work: FileTask, press: DocumentBuilder) -> None:
        """Store one file; a fault of its own becomes its item, a vanished file is no item."""
        try:
            content = read_file(work.entry.absolute)
        except (FileNotFoundError, NotADirectoryError):
            if work.known is not None:
                self.vanished.append(MissingDocument(source=work.source, known=work.known))
        except OSError as failure:
            self._refuse(work, build_io_error(failure, "read", work.entry.absolute))
        else:
            try:
                self._put(work, press.build_row(work.source, work.entry, self._id(work), content))
            except (ParseFailed, TimedOut, UnsupportedMedia) as fault:
                self._refuse(work, fault)

    def _put(self, work: FileTask, row: DocumentRow) -> None:
        written = self._library.put_document(row)
        self.items.append(
            FileOutcome(
                kind=work.kind,
                doc_path=work.entry.path,  # that of the row may be a copy from another process
                source=work.source.name,
                doc_id=row.doc_id,
                chunk_count=len(row.chunks),
                reused=written.kept,
                warnings=row.warnings,
            )
        )

    def _refuse(self, work: FileTask, error: Signal) -> None:
        item = FileOutcome(
            kind=ItemKind.ERROR,
            doc_path=work.entry.path,
            source=work.source.name,
            doc_id=work.known.doc_id if work.known else None,
            error=error,
        )
        self.items.append(item)

    def _id(self, work: FileTask) -> DocId:
        """Return the id of a known document, or one that is free."""
        if work.known is not None:
            return work.known.doc_id
        occurrence = 0
        while True:
            doc = make_doc_id(work.source.name, work.entry.path, occurrence)
            if not self._library.has_document(doc):
                return doc
            occurrence += 1


def build_removed_outcome(gone: MissingDocument) -> FileOutcome:
    """Return what the report says of a document whose file is gone."""
    return FileOutcome(
        kind=ItemKind.REMOVED,
        doc_path=gone.known.path,
        source=gone.source.name,
        doc_id=gone.known.doc_id,
    )
