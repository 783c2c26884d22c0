"""Scans a folder for documents, and chooses the media type of each file.

Symbolic links are followed inside the root when the scan does not find their target anyway. Files
without a suffix and with an unknown one are opened. A text of unknown suffix is read when it is
small and has short lines, so that data and generated files stay out. Files whose suffix names a
format without text are never opened.
"""

import errno
import os
import stat as modes
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from kebab.core.content import HEAD_BYTES, detect_media, find_named_media
from kebab.core.files import (
    IGNORE_FILES,
    ZIP,
    FileEntry,
    ScanResult,
    ScanRules,
    SeenFiles,
    join_root,
    resolve_links,
)
from kebab.core.media import choose_limit, detect_media_type
from kebab.core.members import is_export
from kebab.source.ignore import (
    SECRET,
    Layer,
    allows_secret,
    build_base_layer,
    build_layers_above,
    enter_folder,
    find_skip_reason,
    find_skip_reason_from_root,
    has_secret_content,
    is_secret_name,
    is_secret_name_below,
)


def detect_file_media(absolute: str, size: int) -> str | None:
    """Return the media type of a regular file, None when no parser reads it.

    Raises:
        OSError: The file cannot be opened.
    """

    def read_head() -> bytes:
        with open(absolute, "rb") as file:  # noqa: PTH123 - a path string from the scan
            return file.read(HEAD_BYTES)

    return detect_media(absolute.rpartition("/")[2], size, read_head)


def find_media(absolute: str, size: int, rules: ScanRules) -> str | None:
    """Return the media type of a file that the rules read; None also for most zip archives."""
    added = rules.added and detect_media_type(absolute, rules.added)
    media = added or detect_file_media(absolute, size)
    if media != ZIP or rules.archives == "all":
        return media
    with suppress(ValueError):  # what is damaged counts as none, unless it is known
        return media if rules.archives == "exports" and is_export(absolute) else None
    return None


def is_secret_file(rules: ScanRules, path: str, real: str, size: int) -> bool:
    """Return whether a file usually holds secrets, and the settings do not ask for it.

    `real` is the absolute path without links, because a link may have a harmless name.

    Raises:
        OSError: The file cannot be opened.
    """
    if is_secret_name_below(path):
        real = resolve_links(real)  # a folder above it may be a link
    found = is_secret_name(path) or is_secret_name(real) or has_secret_content(real, size)
    return found and not allows_secret(rules, path)


_COARSE_NS = 2_000_000_000
_FINE_NS = 20_000_000
_SECOND_NS = 1_000_000_000

_VISITS_PER_TICK = 256

CHANGED_NS = 0
"""The time of a folder that may have changed while it was listed, so that it is listed again."""


def read_change_time(path: str) -> int:
    """Return the time of the last change of a folder or file, in nanoseconds.

    When it is so recent that a further change could have the same time, it is `CHANGED_NS`. A file
    system that counts whole seconds may be two seconds late.

    Raises:
        OSError: The path cannot be read.
    """
    changed = os.stat(path).st_mtime_ns  # noqa: PTH116 - called for every folder
    granularity = _FINE_NS if changed % _SECOND_NS else _COARSE_NS
    return changed if abs(time.time_ns() - changed) > granularity else CHANGED_NS


class Entry(NamedTuple):
    """A folder or symbolic link below the root, with the ignore layers that apply to it."""

    path: str
    absolute: str
    layer: Layer | None


class Target(NamedTuple):
    """The target of a link."""

    real: str
    stat: os.stat_result
    folder: bool


def resolve_link(link: Entry, root: str, rules: ScanRules, followed: set[str]) -> Target | str:
    """Return the target that a link adds to the scan, or the reason why it is skipped."""
    try:
        real = resolve_links(link.absolute, strict=True)
        stat = Path(real).stat()
    except OSError:
        return "symlink_broken"
    folder = modes.S_ISDIR(stat.st_mode)
    if real != root and not real.startswith(_add_slash(root)):
        return "symlink_outside"
    if not folder and not modes.S_ISREG(stat.st_mode):
        return "special_file"
    if folder and (real in followed or _add_slash(link.absolute).startswith(_add_slash(real))):
        return "symlink_loop"
    if _is_found_by_scan(real[len(_add_slash(root)) :], root, rules, None if folder else stat):
        return "duplicate"
    return Target(real, stat, folder)


def _is_found_by_scan(path: str, root: str, rules: ScanRules, stat: os.stat_result | None) -> bool:
    """Return whether the scan finds a folder, or a file with a stamp, anyway."""
    if find_skip_reason_from_root(root, rules, path, folder=stat is None) is not None:
        return False
    if stat is None:
        return True
    with suppress(OSError):
        media = find_media(f"{_add_slash(root)}{path}", stat.st_size, rules)
        return media is not None and media not in rules.left_out
    return True


def _add_slash(folder: str) -> str:
    return folder if folder.endswith("/") else f"{folder}/"


class _Walk:
    def __init__(self, root: str, rules: ScanRules, claimed: Mapping[str, str]) -> None:
        self.found = ScanResult()
        self._root = root
        self._rules = rules
        self._claimed = claimed
        self._folders: list[Entry] = []
        self._links: list[Entry] = []
        self._followed: set[str] = set()

    def run(self, below: str, tick: Callable[[], None]) -> None:
        """Visit the folder `below`, all folders below it, and then the links."""
        if below:
            layer = build_layers_above(self._root, self._rules, below)
            self._read_folder(Entry(f"{below}/", join_root(self._root, below), layer))
        else:
            self._read_folder(Entry("", self._root, build_base_layer(self._rules)))
        self._visit_all(tick)

    def _visit_all(self, tick: Callable[[], None]) -> None:
        while self._folders or self._links:
            if self._folders:
                self._visit_folder(self._folders.pop())
            else:
                links, self._links = sorted(self._links, key=attrgetter("path")), []
                for link in links:
                    self._visit_link(link)
            tick()

    def _visit_folder(self, folder: Entry) -> None:
        try:
            self._read_folder(folder)
        except OSError as failure:
            self._handle_failure(failure, folder.path)

    def _read_folder(self, folder: Entry) -> None:
        changed = read_change_time(folder.absolute)
        with os.scandir(folder.absolute) as listing:
            children = sorted(listing, key=attrgetter("name"))
        names = {child.name for child in children}
        self.found.folders[folder.path.rstrip("/")] = changed
        for name in IGNORE_FILES & names:
            self.found.folders[folder.path + name] = read_change_time(f"{folder.absolute}/{name}")
        layer = enter_folder(folder.layer, folder.path, folder.absolute, names)
        start = _add_slash(folder.absolute)
        for child in children:
            self._visit(child, folder.path + child.name, f"{start}{child.name}", layer)

    def _visit(
        self, child: os.DirEntry[str], path: str, absolute: str, layer: Layer | None
    ) -> None:
        self.found.seen += child.name[0] != "."
        if not child.name.isascii() and not _is_utf8(child.name):
            self.found.skips.add("undecodable_name", path)
        elif child.is_symlink():
            self._links.append(Entry(path, absolute, layer))
        elif child.is_dir(follow_symlinks=False):
            if not self._is_skipped(path, absolute, layer, folder=True):
                self._folders.append(Entry(f"{path}/", absolute, layer))
        elif not self._is_skipped(path, absolute, layer, folder=False):
            self._visit_file(child, path, absolute)

    def _is_skipped(self, path: str, absolute: str, layer: Layer | None, *, folder: bool) -> bool:
        reason = find_skip_reason(layer, self._rules, self._root, path, folder=folder)
        if reason is None and self._claimed:
            reason = self._claimed.get(absolute)
        if reason is not None:
            self.found.skips.add(reason, path)
        return reason is not None

    def _visit_file(self, child: os.DirEntry[str], path: str, absolute: str) -> None:
        if not child.is_file(follow_symlinks=False):
            self.found.skips.add("special_file", path)
            return
        try:
            stat = child.stat(follow_symlinks=False)
            _add_file(self.found, path, absolute, stat, self._rules)
        except OSError as failure:
            self._handle_failure(failure, path)

    def _handle_failure(self, failure: OSError, path: str) -> None:
        """Record an unreadable path, unless it no longer exists."""
        if failure.errno not in {errno.ENOENT, errno.ENOTDIR}:
            self.found.skip_unreadable(path)

    def _visit_link(self, link: Entry) -> None:
        target = resolve_link(link, self._root, self._rules, self._followed)
        if not isinstance(target, Target):
            self.found.skips.add(target, link.path)
        elif self._is_skipped(link.path, link.absolute, link.layer, folder=target.folder):
            return
        elif target.folder:
            self._followed.add(target.real)
            self._folders.append(link._replace(path=f"{link.path}/"))
        else:
            self._add_linked_file(link, target)

    def _add_linked_file(self, link: Entry, target: Target) -> None:
        try:
            media = find_media(link.absolute, target.stat.st_size, self._rules)
            is_known = media is not None and target.real in self._followed
            if is_known:
                self.found.skips.add("duplicate", link.path)
            elif is_secret_file(self._rules, link.path, target.real, target.stat.st_size):
                self.found.skips.add(SECRET, link.path)
            else:
                _add_entry(self.found, link.path, link.absolute, target.stat, media, self._rules)
        except OSError as failure:
            self._handle_failure(failure, link.path)
            return
        if media is not None:
            self._followed.add(target.real)


class _FolderWalk(_Walk):
    """A walk that collects the folders in which a scan looks for files."""

    def __init__(self, root: str, rules: ScanRules, claimed: Mapping[str, str]) -> None:
        super().__init__(root, rules, claimed)
        self.folders: list[str] = []

    def _read_folder(self, folder: Entry) -> None:
        super()._read_folder(folder)
        self.folders.append(folder.absolute)

    def _visit_file(self, child: os.DirEntry[str], path: str, absolute: str) -> None:
        del child, path, absolute

    def _add_linked_file(self, link: Entry, target: Target) -> None:
        del link, target


class _ChangedWalk(_Walk):
    """A walk through changed and new folders that finds the files that were not seen."""

    def __init__(
        self, root: str, rules: ScanRules, claimed: Mapping[str, str], seen: SeenFiles
    ) -> None:
        super().__init__(root, rules, claimed)
        self._seen = seen
        self._tick: Callable[[], None] = lambda: None
        self._visited = 0

    def run_changed(self, tick: Callable[[], None]) -> None:
        """Visit the changed folders, and the new folders below them.

        A large folder ticks several times, because the time of the caller may be short.
        """
        self._tick = tick
        for path in self._seen.changed:
            absolute = join_root(self._root, path) if path else self._root
            layer = build_base_layer(self._rules)
            with suppress(OSError):
                if path:
                    layer = build_layers_above(self._root, self._rules, path)
                self._read_folder(Entry(f"{path}/" if path else "", absolute, layer))
            tick()
        self._visit_all(tick)

    def _visit_folder(self, folder: Entry) -> None:
        if folder.path.rstrip("/") not in self._seen.folders:
            super()._visit_folder(folder)

    def _visit(
        self, child: os.DirEntry[str], path: str, absolute: str, layer: Layer | None
    ) -> None:
        super()._visit(child, path, absolute, layer)
        self._visited += 1
        if self._visited % _VISITS_PER_TICK == 0:
            self._tick()

    def _visit_file(self, child: os.DirEntry[str], path: str, absolute: str) -> None:
        if path not in self._seen.files:
            super()._visit_file(child, path, absolute)

    def _visit_link(self, link: Entry) -> None:
        if link.path not in self._seen.files:
            super()._visit_link(link)


def list_folders(
    root: str, rules: ScanRules, *, below: str = "", claimed: Mapping[str, str] | None = None
) -> list[str]:
    """Return the absolute paths of the folders in which a scan looks for files.

    Raises:
        OSError: The folder itself cannot be listed.
    """
    walk = _FolderWalk(root, rules, claimed or {})
    walk.run(below, lambda: None)
    return walk.folders


def _is_utf8(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


class FolderScanner:
    """Implements the port `FileScanner` for folders of the file system."""

    find_skip_reason = staticmethod(find_skip_reason_from_root)

    def scan(
        self,
        root: str,
        rules: ScanRules,
        *,
        below: str = "",
        claimed: Mapping[str, str] | None = None,
        tick: Callable[[], None] = lambda: None,
    ) -> ScanResult:
        """Return the files of the folder `below` in `root`, sorted by path.

        Raises:
            OSError: The folder itself cannot be listed.
        """
        walk = _Walk(root, rules, claimed or {})
        walk.run(below, tick)
        walk.found.entries.sort()
        return walk.found

    def scan_again(
        self,
        root: str,
        rules: ScanRules,
        seen: SeenFiles,
        *,
        claimed: Mapping[str, str],
        tick: Callable[[], None] = lambda: None,
    ) -> ScanResult:
        """Return the files that were not seen in the changed folders and in new folders below."""
        walk = _ChangedWalk(root, rules, claimed, seen)
        walk.run_changed(tick)
        return walk.found

    def add_named_files(
        self, found: ScanResult, root: str, paths: Iterable[str], rules: ScanRules
    ) -> None:
        """Add files that the user named, or the reasons why they cannot be documents."""
        for path in paths:
            _add_named_file(found, root, path, rules)


def _add_named_file(found: ScanResult, root: str, path: str, rules: ScanRules) -> None:
    absolute = join_root(root, path)
    try:
        stat = Path(absolute).stat()
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError:
        found.seen += 1
        found.skip_unreadable(path)
        return
    found.seen += 1
    if not modes.S_ISREG(stat.st_mode):
        found.skips.add("special_file", path)
        return
    try:
        _add_file(found, path, absolute, stat, rules, real=resolve_links(absolute))
    except OSError:
        found.skip_unreadable(path)


def _add_file(
    found: ScanResult,
    path: str,
    absolute: str,
    stat: os.stat_result,
    rules: ScanRules,
    *,
    real: str | None = None,
) -> None:
    """Add a file, or skip it by its name, its content, its format or its size.

    Without `real`, the path without links, the rules of names were applied before.
    """
    if real is None and not is_secret_name_below(path):
        is_secret = has_secret_content(absolute, stat.st_size) and not allows_secret(rules, path)
    else:
        is_secret = is_secret_file(rules, path, real or absolute, stat.st_size)
    if is_secret:
        found.skips.add(SECRET, path)
        return
    media = find_media(absolute, stat.st_size, rules)
    is_read = _add_entry(found, path, absolute, stat, media, rules)
    if not is_read and real is None and (named := find_named_media(path)):
        entry = FileEntry(path, absolute, stat.st_size, stat.st_mtime_ns, stat.st_ino, named)
        found.entries.append(entry)
        found.named += 1


def _add_entry(
    found: ScanResult,
    path: str,
    absolute: str,
    stat: os.stat_result,
    media: str | None,
    rules: ScanRules,
) -> bool:
    """Add a file, if it is read; return whether it is."""
    entry = FileEntry(path, absolute, stat.st_size, stat.st_mtime_ns, stat.st_ino, media or "")
    if media and 0 < rules.max_file_bytes < stat.st_size:
        limit = choose_limit(media, stat.st_size, rules.max_file_bytes)
        entry = entry._replace(limit=limit or 0)
    accepts = found.accepts(entry, rules)
    if accepts:
        found.entries.append(entry)
    return accepts
