"""Plans a run: which documents are new, changed, moved or gone."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kebab.core.documents import FileStamp, KnownDocument, Source
from kebab.core.files import FileEntry
from kebab.core.ids import hash_content
from kebab.ingest.job import ItemKind
from kebab.ingest.scan import ScopeScan


@dataclass(slots=True, kw_only=True)
class FileTask:
    """A file that must be read and stored; `known` is the document that it becomes."""

    kind: ItemKind
    source: Source
    entry: FileEntry
    known: KnownDocument | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingDocument:
    """A document whose file is no longer where it was."""

    source: Source
    known: KnownDocument


def match_moved_files(
    work: list[FileTask], gone: list[MissingDocument], tick: Callable[[], bool]
) -> None:
    """Turn new files into moved documents, in place; each document is claimed at most once.

    Only files of a size that went missing are read. Among several candidates the same inode goes
    before the same name, and that before the order of paths, so the outcome never varies.
    """
    sizes = {one.known.size for one in gone}
    lost: dict[str, list[MissingDocument]] = defaultdict(list)
    for one in sorted(gone, key=lambda one: (one.source.name, one.known.path)):
        lost[one.known.content_hash].append(one)
    hashed: dict[str, list[FileTask]] = defaultdict(list)
    for file in work:
        if file.kind is ItemKind.NEW and file.entry.size in sizes and not tick():
            found = compute_file_hash(file.entry.absolute)
            if found in lost:
                hashed[found].append(file)
    for digest, files in hashed.items():
        for rank in (_has_same_inode, _has_same_name, _matches_any):
            _pair_files(files, lost[digest], rank)
    moved = {one.known.doc_id for one in work if one.kind is ItemKind.MOVED and one.known}
    gone[:] = [one for one in gone if one.known.doc_id not in moved]


def _pair_files(
    files: list[FileTask],
    lost: list[MissingDocument],
    fits: Callable[[FileTask, MissingDocument], bool],
) -> None:
    for file in files:
        if file.kind is not ItemKind.NEW:
            continue
        match = next((one for one in lost if fits(file, one)), None)
        if match is not None:
            lost.remove(match)
            file.kind, file.known = ItemKind.MOVED, match.known


def _has_same_inode(file: FileTask, gone: MissingDocument) -> bool:
    return file.entry.inode == gone.known.inode


def _has_same_name(file: FileTask, gone: MissingDocument) -> bool:
    return file.entry.path.rpartition("/")[2] == gone.known.path.rpartition("/")[2]


def _matches_any(file: FileTask, gone: MissingDocument) -> bool:
    del file, gone
    return True


def compute_file_hash(absolute: str) -> str | None:
    """Return the hash of a file's bytes, None when it cannot be read."""
    try:
        return hash_content(Path(absolute).read_bytes())
    except OSError:
        return None


TIMESTAMP_GRANULARITY_NS = 2_000_000_000
"""The coarsest time stamp that a file system in use gives."""


@dataclass(slots=True)
class Plan:
    """What a run will do."""

    work: list[FileTask] = field(default_factory=list)
    touched: list[tuple[KnownDocument, FileStamp]] = field(default_factory=list)
    gone: list[MissingDocument] = field(default_factory=list)
    unchanged: int = 0
    files: int = 0
    """How many files were compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    """How files are compared: `recipes` by media type, `since` by source name, in nanoseconds."""

    recipes: Mapping[str, str]
    since: Mapping[str, int]
    force: bool
    tick: Callable[[], bool]
    """Called between files; True stops the comparison."""


def compare_files(surveys: list[ScopeScan], how: CompareOptions) -> Plan:
    """Return the work that makes the library tell what is on disk."""
    plan = Plan()
    seen: set[tuple[str, str]] = set()
    for survey in surveys:
        _compare_scope(survey, how, plan, seen)
    if plan.gone:
        match_moved_files(plan.work, plan.gone, how.tick)
    return plan


def to_stamp(entry: FileEntry) -> FileStamp:
    """Return the stamp that the scan saw."""
    return FileStamp(size=entry.size, mtime_ns=entry.mtime_ns, inode=entry.inode)


def _compare_scope(
    survey: ScopeScan, how: CompareOptions, plan: Plan, seen: set[tuple[str, str]]
) -> None:
    source = survey.scope.source
    missing = dict(survey.known)
    for entry in survey.found.entries:
        known = missing.pop(entry.path, None)
        if (source.name, entry.path) in seen:
            continue
        seen.add((source.name, entry.path))
        plan.files += 1
        if known is None:
            plan.work.append(FileTask(kind=ItemKind.NEW, source=source, entry=entry))
        elif _is_unchanged(known, entry, how, source):
            plan.unchanged += 1
        elif not how.tick():
            _compare_content(plan, known, entry, how, source)
    plan.gone += _find_missing(survey, missing)


def _is_unchanged(
    known: KnownDocument, entry: FileEntry, how: CompareOptions, source: Source
) -> bool:
    """Return whether a file is as it was, by its stamp alone."""
    return (
        known.mtime_ns == entry.mtime_ns
        and known.size == entry.size
        and known.inode == entry.inode
        and known.recipe == how.recipes.get(entry.media)
        and entry.mtime_ns < how.since.get(source.name, 0) - TIMESTAMP_GRANULARITY_NS
        and not how.force
    )


def _compare_content(
    plan: Plan, known: KnownDocument, entry: FileEntry, how: CompareOptions, source: Source
) -> None:
    """Hash a file whose stamp leaves a doubt."""
    same_recipe = known.recipe == how.recipes.get(entry.media) and not how.force
    if (
        same_recipe
        and known.size == entry.size
        and compute_file_hash(entry.absolute) == known.content_hash
    ):
        plan.unchanged += 1
        stamp = to_stamp(entry)
        if stamp != FileStamp(size=known.size, mtime_ns=known.mtime_ns, inode=known.inode):
            plan.touched.append((known, stamp))
    else:
        work = FileTask(kind=ItemKind.UPDATED, source=source, entry=entry, known=known)
        plan.work.append(work)


def _find_missing(survey: ScopeScan, missing: dict[str, KnownDocument]) -> list[MissingDocument]:
    unreadable = tuple(survey.found.unreadable)
    folders = tuple(path for path in unreadable if path.endswith("/"))
    return [
        MissingDocument(source=survey.scope.source, known=known)
        for path, known in missing.items()
        if path not in unreadable and not path.startswith(folders)
    ]
