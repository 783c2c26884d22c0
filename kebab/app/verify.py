"""Compares the index with the files: content hashes, stored passages, and vectors. It only reads.

Times and sizes prove nothing here: every file of the same size is read and hashed.
"""

import os
import stat
from collections import Counter
from typing import TYPE_CHECKING

from kebab.app.context import AppContext
from kebab.app.file_text import read_file
from kebab.app.grep import find_at_paths
from kebab.app.references import join_path
from kebab.core.documents import EMBEDDING_VERSION, DocumentDetail
from kebab.core.files import find_container
from kebab.core.ids import DocId, Key, hash_content, hash_file
from kebab.core.media import CitationKind, get_media_type
from kebab.core.progress import Cancel, Progress, ProgressCallback, ProgressKind
from kebab.errors.catalog import InvalidInput
from kebab.errors.signal import Signal
from kebab.wire.repair import Difference, VerifyCounts, VerifyKind, VerifyReport, VerifyRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kebab.store.sqlite.catalogue import Catalogue
    from kebab.store.sqlite.chunks import CheckedChunk
    from kebab.store.sqlite.reader import SqliteReader

_BY_OFFSETS = (CitationKind.LINE, CitationKind.CODE)
"""Formats whose text is that of the file, so that a passage stands at its offsets."""


def verify(
    context: AppContext, request: VerifyRequest, report: ProgressCallback, cancel: Cancel
) -> VerifyReport:
    """Compare every document with its file, and the passages with their hashes and vectors.

    Raises:
        InvalidInput: A path names no document of the index.
        NotIndexed: There is no index.
        StoreCorrupt: The index cannot be read.
    """
    with context.open_reader() as reader:
        catalogue = context.build_catalogue(reader)
        check = _Verification(context, catalogue)
        wanted = _choose_documents(context, reader, catalogue, request.paths)
        started = context.clock.monotonic()
        for number, doc_id in enumerate(wanted):
            if cancel.requested:
                break
            check.compare(doc_id)
            elapsed = round((context.clock.monotonic() - started) * 1000)
            event = Progress(ProgressKind.HEARTBEAT, phase="compare", elapsed_ms=elapsed)
            report(event._replace(done=number + 1, total=len(wanted), unit="files"))
        report(Progress(ProgressKind.ABORTED if cancel.requested else ProgressKind.COMPLETED))
        committed = reader.find_committed_keys(check.keys)
        missing = _count_missing_vectors(context, reader, committed)
        counts = check.counts
        different = sum(counts.values()) - counts["equal"]
        return VerifyReport(
            equal=not (different or missing or cancel.requested),
            cancelled=cancel.requested,
            documents=sum(counts.values()),
            bytes=check.bytes,
            counts=VerifyCounts(**counts),
            differences=check.differences[: request.limit],
            left_out=max(0, different - request.limit),
            passages=len(check.keys),
            vectors=len(committed),
            missing_vectors=missing,
            pending_vectors=reader.count_pending(),
        )


def _choose_documents(
    context: AppContext, reader: "SqliteReader", catalogue: "Catalogue", paths: "Sequence[str]"
) -> list[DocId]:
    ids = [name.doc_id for name in catalogue.list_names()]
    if not paths:
        return ids
    at_paths = find_at_paths(context, reader, paths)
    for path, found in at_paths.items():
        if not found:
            raise InvalidInput(field="paths", cause=f"no document of the index is there: {path}")
    wanted = set().union(*at_paths.values())
    return [doc_id for doc_id in ids if doc_id in wanted]


def _count_missing_vectors(context: AppContext, reader: "SqliteReader", committed: set[Key]) -> int:
    version = reader.get_value(EMBEDDING_VERSION)
    if version is None or not committed:
        return 0
    return len(committed.difference(context.open_vector_table(version).list_keys(verify=True)))


class _Verification:
    """Compares documents one after another, and collects what differs."""

    def __init__(self, context: AppContext, catalogue: "Catalogue") -> None:
        self._context = context
        self._catalogue = catalogue
        self.counts: Counter[str] = Counter()
        self.differences: list[Difference] = []
        self.keys: set[Key] = set()
        self.bytes = 0

    def compare(self, doc_id: DocId) -> None:
        document = self._catalogue.load_document(doc_id)
        if document is None:
            return
        passages = self._catalogue.check_passages(doc_id)
        self.keys.update(passage.key for passage in passages)
        difference = self._compare_file(document, passages)
        kind, detail = difference or ("equal", None)
        self.counts[kind] += 1
        if kind != "equal":
            summary = document.summary
            self.differences.append(
                Difference(
                    kind=kind,
                    doc_id=doc_id,
                    doc_path=summary.path,
                    source=summary.source,
                    detail=detail,
                )
            )

    def _compare_file(  # noqa: PLR0911 - one return for each kind of difference
        self, document: DocumentDetail, passages: "Sequence[CheckedChunk]"
    ) -> tuple[VerifyKind, str | None] | None:
        """Return how a document differs from its file, or its passages from what they were."""
        path = join_path(document.summary)
        file_path = find_container(path)
        by_offsets = get_media_type(document.summary.media).cites in _BY_OFFSETS
        try:
            status = os.stat(file_path)  # noqa: PTH116 - a plain string
            if not stat.S_ISREG(status.st_mode):
                return "unreadable", "not a regular file"
            indexed = document.summary.size
            is_member = file_path != path
            if status.st_size != indexed and not is_member:
                return "changed", f"{indexed:,} bytes were indexed, now {status.st_size:,}"
            with open(file_path, "rb") as file:  # noqa: PTH123 - a plain string
                data = file.read() if by_offsets and not is_member else None
                data = read_file(document.summary) if is_member else data
                content_hash = hash_file(file) if data is None else hash_content(data)
                size = file.tell() if data is None else len(data)
        except (FileNotFoundError, NotADirectoryError):
            return "gone", None
        except OSError as fault:
            return "unreadable", fault.strerror
        except Signal as fault:
            return "unreadable", fault.format_message()
        self.bytes += size
        if size != status.st_size and not is_member:
            return "unreadable", f"{size:,} bytes were read, {status.st_size:,} expected"
        if content_hash != document.content_hash:
            return "changed" if is_member else "same_size", None
        text = self._decode(data, path) if data is not None and by_offsets else None
        return self._compare_passages(passages, text)

    def _compare_passages(
        self, passages: "Sequence[CheckedChunk]", text: str | None
    ) -> tuple[VerifyKind, str | None] | None:
        """Compare passages with their hashes, and with the text of the file if there is one."""
        if damaged := sum(passage.fault is not None for passage in passages):
            return "passages", f"{damaged:,} of {len(passages):,} lack the hash of their text"
        absent = 0
        if text is not None:
            absent = sum(text[one.start : one.end] != one.text for one in passages)
        if absent:
            return "passages", f"{absent:,} of {len(passages):,} do not stand in the file"
        return None

    def _decode(self, data: bytes, path: str) -> str | None:
        try:
            return self._context.decode_text(data, path)
        except Signal:
            return None  # another version of kebab could read it
