"""Measures what the index does not cover, and brings it up to date.

New and deleted files show in the times of their folders; a folder with another time is listed again
under the rules of a scan. Files that were edited in place show in their own times only.
"""

import os
import re
import stat
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from kebab.app.context import AppContext
from kebab.config.settings import OBJECTS
from kebab.core.documents import Extent, FileCounts
from kebab.core.files import (
    IGNORE_FILES,
    SeenFiles,
    cut_root,
    find_container,
    is_below,
    join_root,
)
from kebab.core.ids import hash_file
from kebab.core.queries import Filters
from kebab.errors.catalog import IoError, Locked, NotIndexed, StoreCorrupt
from kebab.wire.coverage import (
    COUNTS,
    INDEXING_UNITS,
    MOST_NAMED,
    Coverage,
    Indexing,
    LeftOutText,
    format_indexing,
    format_left,
    merge_left_out,
)
from kebab.wire.record import fill_record, format_timestamp
from kebab.wire.search import SearchHit

if TYPE_CHECKING:
    from kebab.app.object_sources import MirrorState
    from kebab.store.sqlite.documents import KnownFiles
    from kebab.store.sqlite.reader import SqliteReader
    from kebab.wire.citation import Freshness
    from kebab.wire.search import DegradedChannel

_NOTHING: dict[str, Any] = dict.fromkeys(COUNTS, 0)
QUICK_S = 0.005
"""The time for looking at folders and files when there are results."""
THOROUGH_S = 0.05
"""The time when the reply says that something is not there."""
_FEWEST = 256
"""How many folders, and how many files, are looked at however long it takes."""
_FEWEST_STEPS = 16
"""How many steps are walked however long it takes: folders, and parts of large ones."""
_BYTES_PER_S = 200_000_000
"""How fast a file is read and hashed, for an estimate."""
_STEP = 64
"""How many of them are looked at between two looks at the clock."""


class _TimeUp(Exception):  # noqa: N818 - it ends a walk and is no error
    """The time for looking at the disk is over."""


class _Budget:
    """Counts looks at the disk, and says when no more are allowed; None means no limit."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self.started = time.monotonic()
        self.steps = 0

    def allows(self, looks: int) -> bool:
        """Return whether another look is allowed after so many of one kind."""
        if self.seconds is None or looks < _FEWEST:
            return True
        return time.monotonic() - self.started < self.seconds

    def allows_reading(self, size: int) -> bool:
        """Return whether there is time to read and hash a file of so many bytes."""
        if self.seconds is None:
            return True
        return time.monotonic() - self.started + size / _BYTES_PER_S < self.seconds

    def tick(self) -> None:
        """Count a step of a walk, and end the walk when the time is over."""
        self.steps += 1
        if self.steps >= _FEWEST_STEPS and not self.allows(_FEWEST):
            raise _TimeUp


class DiskChanges:
    """What differs on disk from what is known, as absolute paths, and how much was looked at."""

    def __init__(self) -> None:
        self.changed: set[str] = set()
        self.new: set[str] = set()
        self.gone: set[str] = set()
        self.touched: set[str] = set()
        """Files with another time and the same content."""
        self.unreadable: set[str] = set()
        self.checked = 0
        self.unchecked_folders = 0


def measure_coverage(
    context: AppContext,
    reader: "SqliteReader",
    filters: Filters,
    *,
    seconds: float | None = QUICK_S,
    hits: Iterable[SearchHit] = (),
    indexing: Indexing | None = None,
) -> Coverage:
    """Return what the index covers of the sources that filters name.

    `seconds` is the time for looking at the disk, None means no limit. The files of `hits` were
    compared already, and `indexing` is the ingest that runs now.
    """
    if context.published is not None:
        return _describe_published(context, reader)
    survey = _Survey(context, reader, filters)
    changes = survey.compare(seconds)
    coverage = _build_coverage(context, survey, changes, hits, indexing)
    left_out = merge_left_out(
        LeftOutText(reason=reason, documents=count, words=words)
        for extent in survey.extents
        for reason, count, words in survey.known.list_omissions(extent)
    )
    return replace(coverage, left_out=left_out)


def compare_contents(context: AppContext, reader: "SqliteReader") -> tuple[Coverage, DiskChanges]:
    """Compare the content of every file with what was indexed, whatever its time says."""
    survey = _Survey(context, reader, Filters())
    changes = survey.compare(None, contents=True)
    return _build_coverage(context, survey, changes, (), find_indexing(context)), changes


def _build_coverage(
    context: AppContext,
    survey: "_Survey",
    changes: DiskChanges,
    hits: Iterable[SearchHit],
    indexing: Indexing | None,
) -> Coverage:
    states: Mapping[Freshness, set[str]] = {"changed": changes.changed, "gone": changes.gone}
    for hit in hits:
        file = hit.file
        if hit.freshness in ("fresh", "published") or file is None or file in changes.touched:
            continue
        if not survey.is_unread(file):
            states[hit.freshness].add(file)
    counts, pending = survey.counts, survey.count_pending()
    unread = (survey.known.list_unread(one) for one in survey.extents if counts.failed)
    failed = (path for one in unread for path, reason in one.items() if reason is not None)
    partial = [found for one in survey.extents for found in survey.known.list_partial(one)]
    mirrors = survey.list_mirrors()
    absent = sum(one.missing for one in mirrors)
    missing = (counts.unread, counts.failed, pending, len(partial), len(survey.unlisted), absent)
    differing = (len(changes.changed), len(changes.new), len(changes.gone))
    is_checked = changes.checked == counts.documents - counts.indexed
    return Coverage(
        complete=is_checked
        and survey.has_sources
        and not any((*missing, *differing, changes.unchecked_folders, indexing)),
        files=counts.files + absent,
        unread=counts.unread + absent,
        failed=counts.failed,
        failed_examples=sorted(failed)[:MOST_NAMED],
        changed=len(changes.changed),
        new=len(changes.new),
        gone=len(changes.gone),
        checked=changes.checked,
        # Only the mirror of a store is compared here, so it is as old as the last listing.
        checked_at=format_timestamp(
            min([context.clock.now(), *(one.synced_at for one in mirrors)])
        ),
        unchecked_folders=changes.unchecked_folders,
        unlisted=survey.unlisted,
        pending_vectors=pending,
        partial=len(partial),
        partial_examples=[path for path, _ in partial[:MOST_NAMED]],
        partial_reasons=[reason for _, reason in partial[:MOST_NAMED]],
        indexing=indexing,
    )


def _describe_published(context: AppContext, reader: "SqliteReader") -> Coverage:
    """Return what the index of the publisher covered: nothing here tells about its files.

    A copy that may be old is not complete.
    """
    state = context.published.state if context.published else None
    known = state.manifest.coverage if state else None
    pending = reader.count_pending()
    if state is None or known is None:
        known = Coverage(
            complete=False,
            checked_at=state.manifest.created_at if state else format_timestamp(0),
            unlisted=[],
            indexing=None,
            **_NOTHING,
        )
    is_complete = known.complete and not pending and state is not None and not state.problem
    return replace(known, complete=is_complete, pending_vectors=pending, indexing=None)


def find_indexing(context: AppContext) -> Indexing | None:
    """Return the ingest that is running now; the lock file of an idle knowledge base is empty."""
    from kebab.store.sqlite.lock import LOCK_NAME

    try:
        if not (context.paths.data / LOCK_NAME).stat().st_size:
            return None
    except OSError:
        return None
    from kebab.store.sqlite.lock import read_writer

    writer = read_writer(context.paths.data)
    if writer is None or writer.ingest is None:
        return None
    return fill_record(
        Indexing,
        writer.ingest,
        pid=writer.pid,
        started_at=format_timestamp(writer.ingest.started),
        unit=INDEXING_UNITS.get(writer.ingest.unit),
        per_second=writer.ingest.rate,
        seconds_left=writer.ingest.left,
    )


def explain_degraded(
    channels: "Iterable[DegradedChannel]", indexing: Indexing | None
) -> "list[DegradedChannel]":
    """Return degraded channels; while an ingest runs, none suggests to run one."""
    if indexing is None:
        return list(channels)
    state = f"; indexing: {format_indexing(indexing)}"
    if indexing.unit == "passages" and indexing.seconds_left is not None:
        state = f", about {format_left(indexing.seconds_left)} left"
    return [
        replace(channel, reason=f"{channel.reason}{state}", hint=None)
        if suggests_ingest(channel.hint)
        else channel
        for channel in channels
    ]


def suggests_ingest(hint: str | None) -> bool:
    """Return whether a hint is to run an ingest."""
    words = (hint or "").split()
    return words[:1] == ["kebab"] and "ingest" in words


def measure_stored_coverage(
    context: AppContext, *, seconds: float | None = QUICK_S
) -> Coverage | None:
    """Return what the index covers of all sources; None without an index that can be read."""
    try:
        with context.open_reader() as reader:
            indexing = find_indexing(context)
            return measure_coverage(context, reader, Filters(), seconds=seconds, indexing=indexing)
    except (IoError, Locked, NotIndexed, StoreCorrupt):
        return None


class _Survey:
    """Compares what a snapshot knows of some extents with the disk."""

    def __init__(self, context: AppContext, reader: "SqliteReader", filters: Filters) -> None:
        from kebab.store.sqlite.documents import KnownFiles

        self._context = context
        self._reader = reader
        self.known = KnownFiles(reader)
        self._rules = context.build_scan_rules()
        self._sources = self.known.list_extents()
        self.has_sources = bool(self._sources)
        selected = _select_extents(self.known, self._sources, filters)
        self.extents: list[Extent] = []
        for extent in selected:  # a new folder shows in the time of the nearest known one
            while extent.below and not self.known.holds(extent):
                above = extent.below.rpartition("/")[0]
                extent = extent._replace(below=above)  # noqa: PLW2901 - the same, wider
            self.extents.append(extent)
        counts = map(self.known.count_files, self.extents)
        self.counts = FileCounts(*map(sum, zip(FileCounts(), *counts, strict=True)))
        digest = self._rules.compute_digest()
        self.unlisted = [
            extent.source.root
            for extent in self.extents
            if extent.source.kind == "folder" and extent.rules != digest and not filters.doc_id
        ]
        if filters.folder is not None and not self.extents and self._sources:
            self.unlisted = [filters.folder]

    def is_unread(self, file: str) -> bool:
        """Return whether a file, an absolute path, is known and not read."""
        for extent in self.extents:
            if is_below(file, root := extent.source.root):
                counts = self.known.count_files(extent._replace(below=cut_root(file, root)))
                if counts.unread or counts.failed:
                    return True
        return False

    def count_pending(self) -> int:
        """Return how many passages of the extents lack a vector."""
        if self.extents == self._sources:
            return self._reader.count_pending()
        return self.known.count_pending(self.extents)

    def list_mirrors(self) -> "list[MirrorState]":
        """Return what is known of the mirrors of object storage among the extents."""
        roots = [Path(extent.source.root) for extent in self.extents]
        roots = [root for root in roots if root.parent.name == OBJECTS]
        if not roots:
            return []
        from kebab.app.object_sources import read_state

        return list(filter(None, map(read_state, roots)))

    def compare(self, seconds: float | None, *, contents: bool = False) -> DiskChanges:
        """Compare folders, then files, within a time; with `contents` that of every file."""
        changes, budget = DiskChanges(), _Budget(seconds)
        for extent in self.extents:
            if extent.source.kind == "folder":
                self._compare_folders(extent, changes, budget)
        for extent in self.extents:
            if contents:
                self._compare_contents(extent, changes)
            else:
                self._compare_files(extent, changes, budget)
        return changes

    def _compare_contents(self, extent: Extent, changes: DiskChanges) -> None:
        """Compare the hash of every file; a member of a container is compared with it."""
        for path, _, _ in self.known.iterate_documents(extent):
            absolute = join_root(extent.source.root, path)
            file = find_container(absolute)
            try:
                if not stat.S_ISREG(os.stat(file).st_mode):  # noqa: PTH116 - a plain string
                    changes.unreadable.add(file)
                elif file == absolute:
                    with open(file, "rb") as opened:  # noqa: PTH123 - a plain string
                        content_hash = hash_file(opened)
                    if content_hash != self.known.find_content_hash(extent, path):
                        changes.changed.add(file)
            except (FileNotFoundError, NotADirectoryError):
                changes.gone.add(file)
            except OSError:
                changes.unreadable.add(file)
            changes.checked += 1

    def _compare_folders(self, extent: Extent, changes: DiskChanges, budget: _Budget) -> None:
        listed = self.known.list_folders(extent)
        root, differing = extent.source.root, []
        for looks, (path, listed_ns) in enumerate(listed.items()):
            if looks % _STEP == 0 and not budget.allows(looks):
                changes.unchecked_folders += len(listed) - looks
                break
            if _read_time(join_root(root, path)) != listed_ns:
                differing.append(path)
                # Rules that came since may have been applied to a part of the folders.
                new = {f"{path}/{name}".lstrip("/") for name in IGNORE_FILES} - listed.keys()
                differing += [one for one in new if _read_time(join_root(root, one)) is not None]
        if self._has_changed_rules_above(extent):
            folders = [path for path in listed if path.rpartition("/")[2] not in IGNORE_FILES]
        else:
            found: dict[str, None] = {}
            for path in differing:
                folder, _, name = path.rpartition("/")
                if name in IGNORE_FILES:  # all folders below it are listed again
                    below = (one for one in listed if f"{one}/".startswith(f"{folder}/"))
                    found.update(dict.fromkeys(below if folder else listed))
                else:
                    found[path] = None
            folders = [path for path in found if path.rpartition("/")[2] not in IGNORE_FILES]
        if not folders:
            return
        try:
            self._list_again(extent, folders, listed, changes, budget)
        except _TimeUp:
            changes.unchecked_folders += len(folders)

    def _has_changed_rules_above(self, extent: Extent) -> bool:
        """Return whether an ignore file in a folder above the extent has another time."""
        above = extent.below
        while above:
            above = above.rpartition("/")[0]
            for name in IGNORE_FILES:
                path = f"{above}/{name}".lstrip("/")
                listed = self.known.list_folders(extent._replace(below=path))
                if listed.get(path) != _read_time(join_root(extent.source.root, path)):
                    return True
        return False

    def _list_again(
        self,
        extent: Extent,
        folders: Sequence[str],
        listed: Collection[str],
        changes: DiskChanges,
        budget: _Budget,
    ) -> None:
        """Add the new files of changed folders, and the documents that are gone from them."""
        from kebab.ingest.plan import find_claimed_paths
        from kebab.source.walk import FolderScanner

        root, documents, unread = extent.source.root, set[str](), set[str]()
        for looks, folder in enumerate(folders):
            if looks % _STEP == 0 and not budget.allows(looks):
                raise _TimeUp
            documents |= self.known.list_documents_in(extent, folder)
            unread |= self.known.list_unread_in(extent, folder)
        for looks, path in enumerate(documents - unread):
            if looks % _STEP == 0 and not budget.allows(looks):
                raise _TimeUp
            absolute = join_root(root, path)
            if not os.path.lexists(find_container(absolute)):
                changes.gone.add(absolute)
        seen = SeenFiles(changed=folders, folders=listed, files=documents | unread)
        extents = {one.source.name: one for one in self._sources}
        claimed = find_claimed_paths(
            extent.source,
            (one.source for one in self._sources),
            lambda name: self.known.list_documents_in(extents[name], ""),
            self._context.private_folders,
        )
        scanner = FolderScanner()
        found = scanner.scan_again(root, self._rules, seen, claimed=claimed, tick=budget.tick)
        known: set[str] = set()
        for folder in found.folders.keys() - set(folders):
            known |= self.known.list_documents_in(extent, folder)
            known |= self.known.list_unread_in(extent, folder)
        changes.new |= {join_root(root, one.path) for one in found.entries if one.path not in known}

    def _compare_files(self, extent: Extent, changes: DiskChanges, budget: _Budget) -> None:
        start = f"{extent.source.root.rstrip('/')}/"
        documents = self.known.iterate_documents(extent)
        for looks, (path, size, mtime_ns) in enumerate(documents):
            if looks % _STEP == 0 and not budget.allows(looks):
                return
            absolute = find_container(start + path)
            is_member = absolute != start + path
            try:
                status = os.stat(absolute)  # noqa: PTH116 - called for every file
            except (FileNotFoundError, NotADirectoryError):
                changes.gone.add(absolute)
            except OSError:
                continue
            else:
                if status.st_size != size and not is_member:
                    changes.changed.add(absolute)
                elif status.st_mtime_ns != mtime_ns:
                    if is_member:  # the container is compared by itself
                        continue
                    if not budget.allows_reading(size):
                        continue
                    is_same = False
                    with suppress(OSError), open(absolute, "rb") as file:  # noqa: PTH123 - a plain string
                        known = self.known.find_content_hash(extent, path)
                        is_same = hash_file(file) == known
                    (changes.touched if is_same else changes.changed).add(absolute)
            changes.checked += 1


def _select_extents(known: "KnownFiles", sources: list[Extent], filters: Filters) -> list[Extent]:
    """Return the sources, or the folder or the document in one, that filters name."""
    if filters.doc_id is not None:
        number, path = known.find_document_place(filters.doc_id) or (None, "")
        return [one._replace(below=path) for one in sources if one.number == number]
    if filters.source:
        sources = [one for one in sources if one.source.name in filters.source]
    if filters.folder is not None:
        sources = _narrow(sources, filters.folder)
    literal = re.split(r"[*?\[]", filters.path_glob or "", maxsplit=1)[0].rpartition("/")[0]
    if literal.startswith("/"):
        return _narrow(sources, literal)
    return [two for one in sources for two in _narrow([one], join_root(one.source.root, literal))]


def _narrow(extents: Iterable[Extent], folder: str) -> list[Extent]:
    """Return what these extents have in a folder."""
    narrowed = []
    for one in extents:
        location = join_root(one.source.root, one.below).rstrip("/") or "/"
        if location == folder or is_below(location, folder):
            narrowed.append(one)
        elif is_below(folder, location):
            narrowed.append(one._replace(below=cut_root(folder, one.source.root)))
    return narrowed


def _read_time(path: str) -> int | None:
    """Return the time of a folder or an ignore file; None when it cannot be read."""
    try:
        return os.stat(path).st_mtime_ns  # noqa: PTH116 - called for every folder
    except OSError:
        return None
