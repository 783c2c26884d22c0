"""Plans a run: which documents are new, changed, moved or missing."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kebab.core.documents import FileStamp, KnownDocument, Source
from kebab.core.files import FileEntry
from kebab.core.ids import hash_content
from kebab.ingest.job import FileOutcome, ItemKind
from kebab.ingest.scan import ScopeScan

TIMESTAMP_GRANULARITY_NS = 2_000_000_000
"""The coarsest time stamp of a file system in use."""


@dataclass(slots=True, kw_only=True)
class FileTask:
    """A file that must be read and stored; `known` is the document that it replaces."""

    kind: ItemKind
    source: Source
    entry: FileEntry
    known: KnownDocument | None = None

    def to_outcome(self) -> FileOutcome:
        """Return the outcome of the file before it is stored."""
        return FileOutcome(
            kind=self.kind,
            doc_path=self.entry.path,
            source=self.source.name,
            doc_id=self.known.doc_id if self.known else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingDocument:
    """A document whose file is missing at its path."""

    source: Source
    known: KnownDocument

    def to_outcome(self) -> FileOutcome:
        """Return the outcome of a document whose file was removed."""
        return FileOutcome(
            kind=ItemKind.REMOVED,
            doc_path=self.known.path,
            source=self.source.name,
            doc_id=self.known.doc_id,
        )


@dataclass(slots=True)
class Plan:
    """The work of a run; `files` counts the compared files."""

    tasks: list[FileTask] = field(default_factory=list)
    touched: list[tuple[KnownDocument, FileStamp]] = field(default_factory=list)
    missing: list[MissingDocument] = field(default_factory=list)
    unchanged: int = 0
    files: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not (self.tasks or self.touched or self.missing)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    """How files are compared.

    `recipes` holds digests by media type, `last_scans` times in nanoseconds by source name.
    `should_stop` is called between files; True ends the comparison.
    """

    recipes: Mapping[str, str]
    last_scans: Mapping[str, int]
    force: bool
    should_stop: Callable[[], bool]


def compare_files(scans: list[ScopeScan], options: CompareOptions) -> Plan:
    """Return the plan that makes the library agree with the files."""
    plan = Plan()
    seen: set[tuple[str, str]] = set()
    for scan in scans:
        _compare_scope(scan, options, plan, seen)
    if plan.missing:
        match_moved_files(plan.tasks, plan.missing, options.should_stop)
    return plan


def _compare_scope(
    scan: ScopeScan, options: CompareOptions, plan: Plan, seen: set[tuple[str, str]]
) -> None:
    source = scan.scope.source
    missing = dict(scan.known)
    for entry in scan.found.entries:
        known = missing.pop(entry.path, None)
        if (source.name, entry.path) in seen:
            continue
        seen.add((source.name, entry.path))
        plan.files += 1
        if known is None:
            plan.tasks.append(FileTask(kind=ItemKind.NEW, source=source, entry=entry))
        elif _has_same_stamp(known, entry, options, source):
            plan.unchanged += 1
        elif not options.should_stop():
            _compare_content(plan, known, entry, options, source)
    plan.missing += _find_missing(scan, missing)


def _has_same_stamp(
    known: KnownDocument, entry: FileEntry, options: CompareOptions, source: Source
) -> bool:
    """Return whether the stamp alone proves that a file is unchanged."""
    return (
        known.mtime_ns == entry.mtime_ns
        and known.size == entry.size
        and known.inode == entry.inode
        and known.recipe == options.recipes.get(entry.media)
        and entry.mtime_ns < options.last_scans.get(source.name, 0) - TIMESTAMP_GRANULARITY_NS
        and not options.force
    )


def _compare_content(
    plan: Plan, known: KnownDocument, entry: FileEntry, options: CompareOptions, source: Source
) -> None:
    """Hash a file whose stamp proves nothing."""
    may_be_same = (
        known.recipe == options.recipes.get(entry.media)
        and not options.force
        and known.size == entry.size
    )
    if may_be_same and compute_file_hash(entry.absolute) == known.content_hash:
        plan.unchanged += 1
        stamp = FileStamp(size=entry.size, mtime_ns=entry.mtime_ns, inode=entry.inode)
        if stamp != FileStamp(size=known.size, mtime_ns=known.mtime_ns, inode=known.inode):
            plan.touched.append((known, stamp))
    else:
        task = FileTask(kind=ItemKind.UPDATED, source=source, entry=entry, known=known)
        plan.tasks.append(task)


def _find_missing(scan: ScopeScan, missing: dict[str, KnownDocument]) -> list[MissingDocument]:
    unreadable = tuple(scan.found.unreadable)
    folders = tuple(path for path in unreadable if path.endswith("/"))
    return [
        MissingDocument(source=scan.scope.source, known=known)
        for path, known in missing.items()
        if path not in unreadable and not path.startswith(folders)
    ]


def match_moved_files(
    tasks: list[FileTask], missing: list[MissingDocument], should_stop: Callable[[], bool]
) -> None:
    """Turn new files into moved documents, in place; each document is used at most once.

    Only files with the size of a missing document are read. Among several candidates the same
    inode comes before the same name, and that before the order of paths, so the result never
    varies.
    """
    sizes = {document.known.size for document in missing}
    by_hash: dict[str, list[MissingDocument]] = defaultdict(list)
    for document in sorted(
        missing, key=lambda document: (document.source.name, document.known.path)
    ):
        by_hash[document.known.content_hash].append(document)
    candidates: dict[str, list[FileTask]] = defaultdict(list)
    for task in tasks:
        if task.kind is ItemKind.NEW and task.entry.size in sizes and not should_stop():
            content_hash = compute_file_hash(task.entry.absolute)
            if content_hash in by_hash:
                candidates[content_hash].append(task)
    for content_hash, files in candidates.items():
        for matches in (_has_same_inode, _has_same_name, _matches_any):
            _pair_files(files, by_hash[content_hash], matches)
    moved = {task.known.doc_id for task in tasks if task.kind is ItemKind.MOVED and task.known}
    missing[:] = [document for document in missing if document.known.doc_id not in moved]


def _pair_files(
    files: list[FileTask],
    missing: list[MissingDocument],
    matches: Callable[[FileTask, MissingDocument], bool],
) -> None:
    for file in files:
        if file.kind is not ItemKind.NEW:
            continue
        document = next((document for document in missing if matches(file, document)), None)
        if document is not None:
            missing.remove(document)
            file.kind, file.known = ItemKind.MOVED, document.known


def _has_same_inode(file: FileTask, document: MissingDocument) -> bool:
    return file.entry.inode == document.known.inode


def _has_same_name(file: FileTask, document: MissingDocument) -> bool:
    return file.entry.path.rpartition("/")[2] == document.known.path.rpartition("/")[2]


def _matches_any(file: FileTask, document: MissingDocument) -> bool:
    del file, document
    return True


def compute_file_hash(absolute: str) -> str | None:
    """Return the hash of a file's bytes, None when it cannot be read."""
    try:
        return hash_content(Path(absolute).read_bytes())
    except OSError:
        return None
