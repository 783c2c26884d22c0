"""Scans the scopes of a run, and plans it: which documents are new, changed, moved or missing."""

import json
import os
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from kebab.core.documents import FileStamp, KnownDocument, Source, build_named_files_key
from kebab.core.files import (
    OCR_SETTING,
    SECRET_SETTING,
    FileEntry,
    ScanResult,
    ScanRules,
    get_suffix,
    is_below,
    join_root,
    list_containers,
    resolve_links,
)
from kebab.errors.catalog import IoError, SecretFile, TooLarge, UnsupportedMedia
from kebab.errors.hints import KNOWN_IN_IT
from kebab.errors.system import build_io_error, build_read_error
from kebab.ingest.build import choose_recipe
from kebab.ingest.job import IngestJob, LibraryState, Scope, build_item
from kebab.ingest.members import TIMESTAMP_GRANULARITY_NS, MemberScanner, compute_entry_hash
from kebab.text.names import join_name, list_title_texts
from kebab.wire.ingest import IngestItem, ItemKindName

if TYPE_CHECKING:
    from kebab.parse.containers import ContainerFiles
    from kebab.source.walk import FolderScanner
    from kebab.store.sqlite.writer import SqliteWriter


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeScan:
    """The files and the known documents of one scope.

    `exempt` are files that stay documents although ignore rules name them, because the user once
    named them.
    """

    scope: Scope
    found: ScanResult
    known: dict[str, KnownDocument]
    exempt: frozenset[str] = field(default_factory=frozenset)


@dataclass(slots=True)
class ScanSummary:
    """The scanned scopes of a run, and those whose root cannot be read."""

    scopes: Sequence[Scope]
    scans: list[ScopeScan] = field(default_factory=list)
    failures: list[tuple[Scope, IoError]] = field(default_factory=list)


def scan_scopes(
    scopes: Sequence[Scope],
    job: IngestJob,
    library: LibraryState,
    scanner: "FolderScanner",
    tick: Callable[[], None],
    members: MemberScanner | None = None,
) -> ScanSummary:
    """Scan every scope.

    Raises:
        IoError: A root cannot be read or is suddenly empty. When the user names no path and
            another root can be read, it becomes an outcome instead.
        SecretFile: The only file named usually holds secrets, and is not indexed.
        TooLarge: The only file named is above the size limit.
        UnsupportedMedia: No parser reads the only file named.
    """
    sources = {source.name: source for source in library.list_sources()}
    sources.update((scope.source.name, scope.source) for scope in scopes)
    scope_scanner = ScopeScanner(job, library, scanner, tick)
    summary = ScanSummary(scopes)
    for scope in scopes:
        try:
            scan = scope_scanner.scan(scope, sources.values())
            if members is not None:
                source = scope.source
                members.add_members(source.name, source.root, scan.found, scan.known)
            summary.scans.append(scan)
        except IoError as error:
            if (job.paths and not job.changed) or len(scopes) == 1:
                raise
            summary.failures.append((scope, error))
    if not summary.scans and summary.failures:
        raise summary.failures[0][1]
    if is_single_file(job, scopes) and not summary.scans[0].found.entries:
        scan = summary.scans[0]
        location, reasons = scan.scope.location, scan.found.skips.by_reason
        if reasons["secret"] and not scan.known:
            raise SecretFile(path=location, setting=SECRET_SETTING)
        if reasons["unsupported"] or reasons["special_file"] or reasons["ocr_off"]:
            media = get_suffix(location.rpartition("/")[2]) or "no extension"
            setting = OCR_SETTING if reasons["ocr_off"] else None
            raise UnsupportedMedia(path=location, media=media, setting=setting)
        if reasons["over_limit"]:
            raise TooLarge(what=location, size=scan.found.largest, limit=job.rules.max_file_bytes)
        if reasons["unreadable"]:
            raise build_read_error(location, "permission denied")
    return summary


def is_single_file(job: IngestJob, scopes: Sequence[Scope]) -> bool:
    """Return whether the user named one file and nothing else."""
    is_named = len(job.paths) == 1 and not job.changed
    return is_named and len(scopes) == 1 and scopes[0].files is not None


@dataclass(frozen=True, slots=True)
class ScopeScanner:
    """Scans scopes one by one."""

    job: IngestJob
    library: LibraryState
    scanner: "FolderScanner"
    tick: Callable[[], None]

    def scan(self, scope: Scope, sources: Iterable[Source]) -> ScopeScan:
        """Scan one scope; `sources` are all roots, also those about to be registered.

        Raises:
            IoError: The root cannot be read, or is suddenly empty.
        """
        root, rules = scope.source.root, self.job.rules
        documents = self.library.load_known_documents(scope.source.name)
        known = {path: known for path, known in documents.items() if scope.contains(path)}
        exempt = load_exempt_files(self.library, scope.source)
        if scope.files is None:
            found = self._scan_folder(scope, sources, known)
            seen = {entry.path for entry in found.entries}
            missed = [path for path in exempt if path not in seen and scope.contains(path)]
            self.scanner.add_named_files(found, root, missed, rules)
        else:
            found = ScanResult()
            self.scanner.add_named_files(found, root, scope.files, rules)
            if scope.named:
                skip = partial(self.scanner.find_skip_reason, root, rules, folder=False)
                exempt |= {path for path in scope.files if skip(path) not in {None, "secret"}}
            is_gone = known and not found.entries and not found.unreadable and not found.skips.total
            if is_gone and not self.job.force:
                names: list[str] = []
                with suppress(OSError):
                    names = os.listdir(root)  # noqa: PTH208 - only whether there is any name
                if not names:
                    raise _build_missing_root_error(root, len(known))
        return ScopeScan(scope=scope, found=found, known=known, exempt=frozenset(exempt))

    def _scan_folder(
        self, scope: Scope, sources: Iterable[Source], known: dict[str, KnownDocument]
    ) -> ScanResult:
        root, force = scope.source.root, self.job.force
        list_paths = self.library.load_known_documents
        claimed = find_claimed_paths(scope.source, sources, list_paths, self.job.private)
        rules = ScanRules() if scope.source.kind == "stdin" else self.job.rules
        try:
            found = self.scanner.scan(
                root, rules, below=scope.below, claimed=claimed, tick=self.tick
            )
        except OSError as failure:
            if force and known and not Path(root).exists():
                return ScanResult()
            if known and not Path(root).exists():
                raise _build_missing_root_error(root, len(known)) from failure
            raise build_io_error(failure, "read", scope.location) from failure
        if scope.is_whole and not found.seen and known and not force:
            raise _build_missing_root_error(root, len(known))
        return found


def list_ancestors(path: str) -> list[str]:
    """Return a path below a root and the folders above it, the path first."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(len(parts), 0, -1)]


def find_claimed_paths(
    source: Source,
    others: Iterable[Source],
    list_paths: Callable[[str], Iterable[str]],
    private: Iterable[str],
) -> dict[str, str]:
    """Return the skip reason of absolute paths that a scan of a source leaves to others.

    Sources below it have their own folders and files. `list_paths` returns the paths of the
    documents of a source of single files, by its name; `private` are the folders of kebab.
    """
    claimed: dict[str, str] = {}
    for other in others:
        if not is_below(other.root, source.root):
            continue
        if other.kind == "files":
            for path in list_paths(other.name):
                claimed[join_root(other.root, path)] = "other_source"
        else:
            claimed[other.root] = "other_source"
    claimed.update(dict.fromkeys(map(resolve_links, map(str, private)), "excluded"))
    return claimed


def load_exempt_files(library: LibraryState, source: Source) -> set[str]:
    """Return the files of a source that the user named although ignore rules skip them.

    When the stored names are damaged, no document is taken for an ignored file.
    """
    try:
        return set(json.loads(library.get_value(build_named_files_key(source.name)) or "[]"))
    except (ValueError, TypeError):
        return set(library.load_known_documents(source.name))


def store_exempt_files(library: "SqliteWriter", scan: ScopeScan) -> None:
    """Store which files of a source the user named although ignore rules skip them."""
    source, found = scan.scope.source, scan.found
    before, now = load_exempt_files(library, source), set(scan.exempt)
    if now and scan.scope.is_whole:
        now &= {entry.path for entry in found.entries} | set(found.unreadable)
    if now != before:
        stored = json.dumps(sorted(now)) if now else None
        library.set_value(build_named_files_key(source.name), stored)


def _build_missing_root_error(root: str, count: int) -> IoError:
    cause = (
        f"the folder is empty or missing, but {count} {KNOWN_IN_IT}; "
        f"`kebab source rm {shlex.quote(root)}` removes them"
    )
    return build_read_error(root, cause)


@dataclass(slots=True, kw_only=True)
class FileTask:
    """A file that must be stored; `known` is the document that it replaces.

    With `is_same_document` only its path has changed, so that it need not be read.
    """

    kind: ItemKindName
    source: Source
    entry: FileEntry
    known: KnownDocument | None = None
    is_same_document: bool = False

    def to_item(self) -> IngestItem:
        """Return the item of the file before it is stored."""
        doc_id = self.known.doc_id if self.known else None
        return build_item(self.kind, self.source.name, self.entry.path, doc_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingDocument:
    """A document whose file is missing at its path."""

    source: Source
    known: KnownDocument

    def to_item(self) -> IngestItem:
        """Return the item of a document that is removed."""
        return build_item("removed", self.source.name, self.known.path, self.known.doc_id)


@dataclass(slots=True)
class Plan:
    """The work of a run; `files` counts the compared files, without those within others."""

    tasks: list[FileTask] = field(default_factory=list)
    touched: list[tuple[KnownDocument, FileStamp]] = field(default_factory=list)
    missing: list[MissingDocument] = field(default_factory=list)
    unchanged: int = 0
    files: int = 0

    def list_files_to_read(self) -> list[FileTask]:
        """Return the files that must be read and parsed."""
        return [task for task in self.tasks if not task.is_same_document]


def compare_files(
    scans: list[ScopeScan],
    *,
    recipes: Mapping[str, str],
    last_scans: Mapping[str, int],
    force: bool,
    should_stop: Callable[[], bool],
    containers: "ContainerFiles | None" = None,
) -> Plan:
    """Return the plan that makes the library agree with the files.

    `recipes` holds digests by media type, `last_scans` times in nanoseconds by source name.
    `should_stop` is called between files; True ends the comparison.
    """
    plan = Plan()
    seen: set[tuple[str, str]] = set()
    for scan in scans:
        source = scan.scope.source
        missing = dict(scan.known)
        for entry in scan.found.entries:
            known = missing.pop(entry.path, None)
            if (source.name, entry.path) in seen:
                continue
            seen.add((source.name, entry.path))
            plan.files += not entry.container
            if known is None:
                plan.tasks.append(FileTask(kind="new", source=source, entry=entry))
                continue
            may_be_same = (
                known.size == entry.size
                and known.recipe == choose_recipe(recipes, entry, known.recipe)
                and not force
            )
            has_same_stamp = known.mtime_ns == entry.mtime_ns and known.inode == entry.inode
            is_old = entry.mtime_ns < last_scans.get(source.name, 0) - TIMESTAMP_GRANULARITY_NS
            if may_be_same and has_same_stamp and is_old:
                plan.unchanged += 1
            elif should_stop():
                continue
            elif may_be_same and compute_entry_hash(entry, containers) == known.content_hash:
                plan.unchanged += 1
                if not has_same_stamp:
                    stamp = FileStamp(size=entry.size, mtime_ns=entry.mtime_ns, inode=entry.inode)
                    plan.touched.append((known, stamp))
            else:
                task = FileTask(kind="updated", source=source, entry=entry, known=known)
                plan.tasks.append(task)
        unreadable = set(scan.found.unreadable)
        folders = tuple(path for path in unreadable if path.endswith("/"))
        plan.missing += [
            MissingDocument(source=source, known=known)
            for path, known in missing.items()
            if unreadable.isdisjoint((path, *list_containers(path)))
            and not path.startswith(folders)
        ]
    if plan.missing:
        due = None if force else recipes
        match_moved_files(plan.tasks, plan.missing, due, should_stop, containers)
    return plan


_MATCHES: tuple[Callable[[FileEntry, KnownDocument], bool], ...] = (
    lambda entry, known: entry.inode == known.inode != 0,
    lambda entry, known: entry.path.rpartition("/")[2] == known.path.rpartition("/")[2],
    lambda _entry, _known: True,
)


def match_moved_files(
    tasks: list[FileTask],
    missing: list[MissingDocument],
    recipes: Mapping[str, str] | None,
    should_stop: Callable[[], bool],
    containers: "ContainerFiles | None" = None,
) -> None:
    """Turn new files into moved documents, in place; each document is used at most once.

    Without `recipes` every file is read again.
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
        if task.kind == "new" and task.entry.size in sizes and not should_stop():
            content_hash = compute_entry_hash(task.entry, containers)
            if content_hash in by_hash:
                candidates[content_hash].append(task)
    for content_hash, files in candidates.items():
        for matches in _MATCHES:
            for file in files:
                documents = by_hash[content_hash]
                match = next((one for one in documents if matches(file.entry, one.known)), None)
                if file.kind == "new" and match is not None:
                    documents.remove(match)
                    file.kind, file.known = "moved", match.known
                    recipe = choose_recipe(recipes or {}, file.entry, match.known.recipe)
                    file.is_same_document = (
                        recipes is not None
                        and match.known.recipe == recipe
                        and _is_path_unused(match.known, file.entry.path)
                    )
    moved = {task.known.doc_id for task in tasks if task.kind == "moved" and task.known}
    missing[:] = [document for document in missing if document.known.doc_id not in moved]


def _is_path_unused(known: KnownDocument, path: str) -> bool:
    """Return whether a document is the same at another path, because nothing in it is of its path.

    Titles are taken from names of files and folders, dates from both, languages from suffixes, or
    from the whole name where there is none. Passages have words of the name of their file.
    """
    title, before, after = join_name(known.title), PurePosixPath(known.path), PurePosixPath(path)
    names = ((before.stem, after.stem), (before.parent.name, after.parent.name))
    in_title = (
        not title or join_name(old) in title or title in join_name(old)
        for old, new in names
        if old != new
    )
    return (
        before.suffix == after.suffix != ""
        and list_title_texts(known.title, known.path) == list_title_texts(known.title, path)
        and not any(in_title)
    )
