"""Scans a folder for documents, and chooses the media type of each file.

Symbolic links are not followed. Files without a suffix and with an unknown one are opened. A text
of unknown suffix is read when it is small and has short lines, so that data and generated files
stay out. Files whose suffix names a format without text are never opened.
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

from kebab.core.files import (
    IGNORE_FILES,
    ZIP,
    FileEntry,
    ScanResult,
    ScanRules,
    SeenFiles,
    is_below,
    join_root,
    resolve_links,
)
from kebab.core.media import choose_limit, detect_media_type
from kebab.source.content import HEAD_BYTES, detect_media, find_named_media
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
from kebab.source.members import is_export


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
    granularity = _FINE_NS if changed % 1_000_000_000 else _COARSE_NS
    return changed if abs(time.time_ns() - changed) > granularity else CHANGED_NS


class Folder(NamedTuple):
    """A folder below the root, with the ignore layers that apply to it."""

    path: str
    absolute: str
    layer: Layer | None


class _Walk:
    """Visits folders; those and files that were `seen` are left out, and files on request."""

    def __init__(
        self,
        root: str,
        rules: ScanRules,
        claimed: Mapping[str, str],
        tick: Callable[[], None] = lambda: None,
        *,
        seen: SeenFiles | None = None,
        reads_files: bool = True,
    ) -> None:
        self.found = ScanResult()
        self.folders: list[str] = []
        """The absolute paths of the folders that were listed."""
        self._root = root
        self._rules = rules
        self._claimed = claimed
        self._tick = tick
        self._seen = seen or SeenFiles(changed=(), folders=(), files=())
        self._reads_files = reads_files
        self._folders: list[Folder] = []
        self._visited = 0

    def run(self, below: str) -> None:
        """Visit the folder `below`, empty for the root, and all folders below it."""
        layer = build_base_layer(self._rules)
        if below:
            layer = build_layers_above(self._root, self._rules, below)
        absolute = join_root(self._root, below) if below else self._root
        self._read_folder(Folder(f"{below}/" if below else "", absolute, layer))
        while self._folders:
            folder = self._folders.pop()
            if folder.path.rstrip("/") not in self._seen.folders:
                try:
                    self._read_folder(folder)
                except OSError as failure:
                    self._handle_failure(failure, folder.path)
            self._tick()

    def _read_folder(self, folder: Folder) -> None:
        changed = read_change_time(folder.absolute)
        with os.scandir(folder.absolute) as listing:
            children = sorted(listing, key=attrgetter("name"))
        names = {child.name for child in children}
        self.found.folders[folder.path.rstrip("/")] = changed
        for name in IGNORE_FILES & names:
            self.found.folders[folder.path + name] = read_change_time(f"{folder.absolute}/{name}")
        layer = enter_folder(folder.layer, folder.path, folder.absolute, names)
        self.folders.append(folder.absolute)
        start = folder.absolute if folder.absolute.endswith("/") else f"{folder.absolute}/"
        for child in children:
            self._visit(child, folder.path + child.name, f"{start}{child.name}", layer)
            self._visited += 1
            if self._visited % 256 == 0:  # the time of the caller may be short
                self._tick()

    def _visit(
        self, child: os.DirEntry[str], path: str, absolute: str, layer: Layer | None
    ) -> None:
        self.found.seen += child.name[0] != "."
        if not child.name.isascii() and any("\ud800" <= char <= "\udfff" for char in child.name):
            self.found.skips.add("undecodable_name", path)
        elif child.is_symlink():
            # What it leads to is read where it is, if at all.
            try:
                real = resolve_links(absolute, strict=True)
            except OSError:
                reason = "symlink_broken"
            else:
                is_inside = real == self._root or is_below(real, self._root)
                reason = "symlink" if is_inside else "symlink_outside"
            self.found.skips.add(reason, path)
        elif child.is_dir(follow_symlinks=False):
            if not self._is_skipped(path, absolute, layer, folder=True):
                self._folders.append(Folder(f"{path}/", absolute, layer))
        elif (
            self._reads_files
            and not self._is_skipped(path, absolute, layer, folder=False)
            and path not in self._seen.files
        ):
            try:
                stat = child.stat(follow_symlinks=False)
                _add_file(self.found, path, absolute, stat, self._rules)
            except OSError as failure:
                self._handle_failure(failure, path)

    def _is_skipped(self, path: str, absolute: str, layer: Layer | None, *, folder: bool) -> bool:
        reason = find_skip_reason(layer, self._rules, self._root, path, folder=folder)
        if reason is None and self._claimed:
            reason = self._claimed.get(absolute)
        if reason is not None:
            self.found.skips.add(reason, path)
        return reason is not None

    def _handle_failure(self, failure: OSError, path: str) -> None:
        """Record an unreadable path, unless it no longer exists."""
        if failure.errno not in {errno.ENOENT, errno.ENOTDIR}:
            self.found.skip_unreadable(path)


def list_folders(
    root: str, rules: ScanRules, *, below: str = "", claimed: Mapping[str, str] | None = None
) -> list[str]:
    """Return the absolute paths of the folders in which a scan looks for files.

    Raises:
        OSError: The folder itself cannot be listed.
    """
    walk = _Walk(root, rules, claimed or {}, reads_files=False)
    walk.run(below)
    return walk.folders


class FolderScanner:
    """Is used for folders of the file system."""

    find_skip_reason = staticmethod(find_skip_reason_from_root)
    is_export = staticmethod(is_export)

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
        walk = _Walk(root, rules, claimed or {}, tick)
        walk.run(below)
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
        walk = _Walk(root, rules, claimed, tick, seen=seen)
        for path in seen.changed:
            with suppress(OSError):
                walk.run(path)
            tick()
        return walk.found

    def add_named_files(
        self, found: ScanResult, root: str, paths: Iterable[str], rules: ScanRules
    ) -> None:
        """Add files that the user named, or the reasons why they cannot be documents."""
        for path in paths:
            absolute = join_root(root, path)
            try:
                stat = Path(absolute).stat()
                _add_file(found, path, absolute, stat, rules, real=resolve_links(absolute))
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError:
                found.skip_unreadable(path)
            found.seen += 1


def _add_file(
    found: ScanResult,
    path: str,
    absolute: str,
    stat: os.stat_result,
    rules: ScanRules,
    *,
    real: str | None = None,
) -> None:
    """Add a file, or skip it by its kind, its name, its content, its format or its size.

    Without `real`, the path without links, the rules of names were applied before.
    """
    if not modes.S_ISREG(stat.st_mode):
        found.skips.add("special_file", path)
        return
    if real is None and not is_secret_name_below(path):
        is_secret = has_secret_content(absolute, stat.st_size) and not allows_secret(rules, path)
    else:
        is_secret = is_secret_file(rules, path, real or absolute, stat.st_size)
    if is_secret:
        found.skips.add(SECRET, path)
        return
    media = find_media(absolute, stat.st_size, rules)
    entry = FileEntry(path, absolute, stat.st_size, stat.st_mtime_ns, stat.st_ino, media or "")
    if media and 0 < rules.max_file_bytes < stat.st_size:
        limit = choose_limit(media, stat.st_size, rules.max_file_bytes) or 0
        entry = entry._replace(limit=limit)
    if found.accepts(entry, rules):
        found.entries.append(entry)
    elif real is None and (named := find_named_media(path)):
        found.entries.append(entry._replace(media=named, limit=0))
        found.named += 1
