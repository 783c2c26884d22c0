"""Adds the members of containers to a scan, and reads the bytes of files and members.

A mail, a mailbox and a zip archive are documents, and so is each file within them. A container is
opened when it changed, when one of its members is not read yet, or when other files would be read
of it. Otherwise its members are those that are stored. Each has the time of its container, so a
run that was killed half-way is noticed.
"""

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

from kebab.core.chunks import compute_named_hash, hash_content, hash_file
from kebab.core.documents import FileStamp, KnownDocument, build_last_scan_key
from kebab.core.files import (
    CONTAINERS,
    MBOX,
    MEMBER_MARK,
    NAMED,
    ZIP,
    FileEntry,
    ScanResult,
    cut_root,
    join_root,
    list_containers,
)
from kebab.core.media import EMAIL, ENEX_NOTE, MSG, PDF, detect_media_type
from kebab.errors.signal import Signal
from kebab.ingest.job import IngestJob, LibraryState, ParserGuard
from kebab.source.content import HEAD_BYTES, holds_secret, may_hold_secret

if TYPE_CHECKING:
    from kebab.parse.containers import ContainerFiles
    from kebab.source.walk import FolderScanner

MAX_DEPTH = 4
"""How deep containers are opened within each other: a mail in a mailbox in an export has three."""

MAX_EXPANSION_BYTES = 4_000_000_000
"""The most bytes of readable members of one file."""

TIMESTAMP_GRANULARITY_NS = 2_000_000_000
"""The coarsest time stamp of a file system in use."""

MAX_MEMBERS = 1_000_000
"""The most members of one file, with those of its members."""

_WITH_FILES = {EMAIL, MSG, PDF, ENEX_NOTE}
"""Documents that other files may be attached to."""
_OPENED = CONTAINERS | _WITH_FILES


@dataclass(slots=True)
class _Budget:
    """How many bytes and members a file may still have, and its members that cannot be opened."""

    size: int
    members: int
    closed: set[str] = field(default_factory=set)

    def allows(self, size: int) -> bool:
        fits = size <= self.size and self.members >= 0
        self.size -= size * fits
        return fits


@dataclass(frozen=True, slots=True, kw_only=True)
class FileContent:
    """The bytes of a file, with its stamp from before they were read.

    Of a container without a text of its own, and of a file that is too large, these are the first
    bytes; `content_hash` is that of the whole file.
    """

    data: bytes
    stamp: FileStamp
    content_hash: str = ""


def read_entry(entry: FileEntry, containers: "ContainerFiles | None") -> FileContent:
    """Return the bytes of a file or a member; the stamp is older, so a later edit is noticed.

    The size is that of the bytes: a file that was cut off while it was read is read again.

    Raises:
        OSError: It cannot be read.
        ParseFailed: The container is damaged, or the member in it.
    """
    if entry.media in NAMED.values():
        stamp = FileStamp(size=entry.size, mtime_ns=entry.mtime_ns, inode=entry.inode)
        named = compute_named_hash(entry.size, entry.mtime_ns)
        return FileContent(data=b"", stamp=stamp, content_hash=named)
    with open(entry.container or entry.absolute, "rb") as file:  # noqa: PTH123 - a path string from the scan
        stat = os.fstat(file.fileno())
        if containers is not None and entry.media in CONTAINERS:
            next(iter(containers.list_members(entry.absolute, entry.span)), None)  # refuses damage
        if containers is not None and entry.container:
            data = containers.read(entry.absolute, entry.span)
            size = entry.size  # of a message in a mailbox with its escapes, as it is listed
            content_hash = hash_content(data)
        elif containers is not None and entry.media in CONTAINERS:
            content_hash, size = hash_file(file), file.tell()
            file.seek(0)
            data = file.read(HEAD_BYTES)
        elif entry.limit:
            data = read_portion(file, entry.limit)
            file.seek(0)
            content_hash, size = hash_file(file), stat.st_size
        else:
            data = file.read()
            content_hash, size = hash_content(data), len(data)
    stamp = FileStamp(size=size, mtime_ns=stat.st_mtime_ns, inode=stat.st_ino)
    return FileContent(data=data, stamp=stamp, content_hash=content_hash)


_CONTINUATION, _CONTINUES = 0b1100_0000, 0b1000_0000


def read_portion(file: BinaryIO, most: int) -> bytes:
    """Return the next bytes, cut behind a blank line, else a line, else a character."""
    data = file.read(most)
    if len(data) < most or b"\0" in data[:HEAD_BYTES]:  # UTF-16 has other line ends
        return data
    end = data.rfind(b"\n\n", len(data) // 2) + 2
    end = end if end > 1 else data.rfind(b"\n") + 1
    if not end:
        # The last character of UTF-8 begins before its continuation bytes.
        end = len(data) - 1
        while end > 1 and data[end] & _CONTINUATION == _CONTINUES:
            end -= 1
    file.seek(end - len(data), os.SEEK_CUR)
    return data[:end]


def compute_entry_hash(entry: FileEntry, containers: "ContainerFiles | None") -> str | None:
    """Return the hash of the bytes of a file or a member, None when it cannot be read."""
    if entry.media in NAMED.values():
        return compute_named_hash(entry.size, entry.mtime_ns)
    try:
        if containers is not None and entry.container:
            return hash_content(containers.read(entry.absolute, entry.span))
        with open(entry.absolute, "rb") as file:  # noqa: PTH123 - a path string from the scan
            return hash_file(file)
    except (OSError, Signal):
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberScanner:
    """Adds members to the scans of one run; `recipes` are digests by media type."""

    containers: "ContainerFiles"
    scanner: "FolderScanner"
    library: LibraryState
    job: IngestJob
    guard: ParserGuard
    recipes: Mapping[str, str]
    tick: Callable[[], None]

    def add_members(
        self, source: str, root: str, found: ScanResult, known: dict[str, KnownDocument]
    ) -> None:
        """Add the members of all containers of a scan, in place.

        Members of a container that cannot be opened are taken out of the known documents, so that
        they stay as they are.
        """
        self._add_damaged_exports(root, found, known)
        if not any(entry.media in _OPENED for entry in found.entries):
            return
        members: defaultdict[str, list[KnownDocument]] = defaultdict(list)
        for path, document in known.items():
            for container in (path, *list_containers(path)):
                members[container].append(document)
        listing = self.library.load_listing(source)
        unread = {container for path in listing.unread for container in list_containers(path)}
        media_of = {recipe: media for media, recipe in self.recipes.items()}
        has_other_rules = listing.rules != self.job.rules.compute_digest()
        scanned = self.library.get_value(build_last_scan_key(source)) or ""
        newest_ns = int(scanned) - TIMESTAMP_GRANULARITY_NS if scanned.isdecimal() else None
        files, found.entries = found.entries, []
        for entry in files:
            found.entries.append(entry)
            if entry.media not in _OPENED:
                continue
            self.tick()
            documents = members[entry.path]
            is_open = entry.path in unread or has_other_rules
            if is_open or not self._is_unchanged(newest_ns, entry, documents, media_of):
                self._open(root, entry, found, known, documents)
                continue
            for one in documents:
                if one.path != entry.path:
                    media = detect_media_type(one.path) or ""
                    if self.recipes.get(media) != one.recipe:
                        media = media_of[one.recipe]
                    absolute = join_root(root, one.path)
                    size, own = one.size, entry._replace(container=entry.absolute)
                    member = own._replace(path=one.path, absolute=absolute, size=size, media=media)
                    found.entries.append(member)

    def _add_damaged_exports(
        self, root: str, found: ScanResult, known: Mapping[str, KnownDocument]
    ) -> None:
        """Add the archives that were exports, and whose names of files cannot be read any more.

        So they keep their documents, and are reported.
        """
        rules = self.job.rules
        unopened = {self.recipes.get(media) for media in NAMED.values()}
        opened = {path for path, one in known.items() if one.recipe not in unopened}
        archives = [path for path in opened if path.endswith(".zip") and MEMBER_MARK not in path]
        if not archives or rules.archives != "exports":
            return
        named = {one.path: one for one in found.entries if one.media in NAMED.values()}
        read = {one.path for one in found.entries} - named.keys()
        for path in set(archives) - read:
            absolute = join_root(root, path)
            try:
                self.scanner.is_export(absolute)
            except OSError:
                continue
            except ValueError:
                if self.scanner.find_skip_reason(root, rules, path, folder=False) is None:
                    stat = os.stat(absolute)  # noqa: PTH116 - a plain string
                    stamp = (stat.st_size, stat.st_mtime_ns, stat.st_ino)
                    found.entries.append(FileEntry(path, absolute, *stamp, ZIP))
                    if path in named:
                        found.entries.remove(named[path])
                        found.named -= 1
                    found.skips.by_reason -= Counter(unsupported=1)
                    found.skips.by_extension -= Counter({".zip": 1})

    def _is_unchanged(
        self,
        newest_ns: int | None,
        entry: FileEntry,
        documents: list[KnownDocument],
        media_of: Mapping[str, str],
    ) -> bool:
        """Return whether the documents of a container are those that it has now."""
        is_old = newest_ns is not None and entry.mtime_ns < newest_ns
        own = any((one.path, one.size) == (entry.path, entry.size) for one in documents)
        stamp = (entry.mtime_ns, entry.inode)
        is_same = all(
            (one.mtime_ns, one.inode) == stamp and one.recipe in media_of for one in documents
        )
        return own and is_same and is_old and not self.job.force

    def _open(
        self,
        root: str,
        entry: FileEntry,
        found: ScanResult,
        known: dict[str, KnownDocument],
        documents: list[KnownDocument],
    ) -> None:
        count, budget = len(found.entries), _Budget(MAX_EXPANSION_BYTES, MAX_MEMBERS)
        skipped = found.skips.total
        try:
            for member in self._list(entry, 1, root, found, budget):
                found.entries.append(member)
                self.tick()
        except (OSError, Signal):
            # Reading the container tells the reason.
            del found.entries[count:]
            budget.closed.add(entry.path)
        if budget.closed:
            listed = {one.path for one in found.entries[count:]}
            for one in documents:
                if one.path not in listed and budget.closed & {*list_containers(one.path)}:
                    known.pop(one.path, None)
        found.inner += found.skips.total - skipped

    def _list(
        self, entry: FileEntry, depth: int, root: str, found: ScanResult, budget: _Budget
    ) -> Iterator[FileEntry]:
        """Yield the members of a container that are read, each before its own members."""
        members = self.containers.list_members(entry.absolute, entry.span)
        if entry.media in _WITH_FILES:
            with self.guard(entry.path, entry.media, self.job.deadline_s):
                members = iter(list(members))
        for member in members:
            budget.members -= 1
            is_read = member.media != ZIP or self.job.rules.archives != "none"
            one = entry._replace(
                path=f"{entry.path}{MEMBER_MARK}{member.name}",
                absolute=f"{entry.absolute}{MEMBER_MARK}{member.name}",
                size=member.size,
                media=member.media if is_read else "",
                container=entry.container or entry.absolute,
                span=member.span if depth == 1 else entry.span,
            )
            reason = None if entry.media == MBOX else self._find_skip_reason(one, root)
            if reason is None and one.media in _OPENED and depth >= MAX_DEPTH:
                reason = "nested"
            if reason is None and not found.accepts(one, self.job.rules):
                continue
            if reason is None and not budget.allows(one.size):
                reason = "expansion"
            if reason is not None:
                found.skips.add(reason, one.path)
            else:
                yield one
                if one.media in _OPENED:
                    try:
                        yield from self._list(one, depth + 1, root, found, budget)
                    except (OSError, Signal):  # reading it tells the reason
                        budget.closed.add(one.path)

    def _find_skip_reason(self, entry: FileEntry, root: str) -> str | None:
        """Return why the rules skip a member; those of folders hold unless they skip its file."""
        find, rules = self.scanner.find_skip_reason, self.job.rules
        file = cut_root(entry.container, root)
        if find(root, rules, file, folder=False) is None:
            reason = find(root, rules, entry.path, folder=False)
        else:  # the user named the file
            start = len(file) + len(MEMBER_MARK)
            reason = find(f"{entry.container}!", rules, entry.path[start:], folder=False)
        if reason is None and may_hold_secret(entry.path, entry.size):
            with suppress(OSError, Signal):
                data = self.containers.read(entry.absolute, entry.span)
                return "secret" if holds_secret(entry.path, data) else None
        return reason
