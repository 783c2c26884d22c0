"""Tells a watcher of files which folders of the index it follows, and which changes matter."""

import os
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct, field

from kebab.app.context import AppContext
from kebab.core.documents import Source, build_named_files_key, parse_named_files
from kebab.core.files import (
    IGNORE_FILES,
    ScanRules,
    cut_root,
    is_below,
    resolve_folder_links,
    resolve_links,
)
from kebab.ingest.plan import list_ancestors
from kebab.platform import is_linux
from kebab.source.ignore import find_skip_reason_from_root
from kebab.source.walk import list_folders

WATCHES_RECURSIVELY = not is_linux()
"""Whether the system reports changes below a folder; Linux reports those in it only."""


class WatchedFolder(Struct, frozen=True):
    """The folder `below` the root of a source, or only the files `named` in it.

    Ignore rules do not apply to `named`. `claimed` are absolute paths that belong to another
    source or to kebab.
    """

    root: str
    rules: ScanRules
    below: str = ""
    named: frozenset[str] = frozenset()
    only_named: bool = False
    claimed: Mapping[str, str] = field(default_factory=dict)

    @property
    def location(self) -> str:
        """The absolute path of the folder."""
        return f"{self.root}/{self.below}" if self.below else self.root

    def list_folders(self) -> list[str]:
        """Return the folders in which changes matter; none when the folder cannot be read."""
        if self.only_named or WATCHES_RECURSIVELY:
            return [self.location] if os.path.isdir(self.location) else []  # noqa: PTH112 - a plain string
        try:
            return list_folders(self.root, self.rules, below=self.below, claimed=self.claimed)
        except OSError:
            return []

    def contains(self, path: str) -> bool:
        """Return whether an absolute path is the folder or below it."""
        return path == self.location or is_below(path, self.location)

    def is_relevant(self, path: str) -> bool:
        """Return whether a change at an absolute path can change the index."""
        if not self.contains(path):
            return False
        relative = cut_root(path, self.root)
        if relative in self.named or not relative:
            return True
        if self.only_named:
            return False
        if self.claimed and any(
            f"{self.root}/{p}" in self.claimed for p in list_ancestors(relative)
        ):
            return False
        return relative.rpartition("/")[2] in IGNORE_FILES or not self._is_skipped(relative)

    def _is_skipped(self, path: str) -> bool:
        is_folder = os.path.isdir(f"{self.root}/{path}")  # noqa: PTH112 - a plain string
        try:
            reason = find_skip_reason_from_root(self.root, self.rules, path, folder=is_folder)
        except OSError:
            return False
        return reason is not None


class WatchTargets(NamedTuple):
    """The folders and files that the user names; without any, every source is watched."""

    folders: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def resolve_targets(paths: Sequence[str]) -> WatchTargets:
    """Return what some paths are now; a path that is gone is taken for a folder."""
    files = [path for path in paths if os.path.isfile(path)]  # noqa: PTH113 - a plain string
    folders = [path for path in paths if path not in files]
    return WatchTargets(
        tuple(dict.fromkeys(map(resolve_links, folders))),
        tuple(dict.fromkeys(map(resolve_folder_links, files))),
    )


def find_watched_folders(context: AppContext, targets: WatchTargets) -> list[WatchedFolder]:
    """Return the folders to watch; the index has them already.

    Raises:
        NotIndexed: There is no index.
    """
    with context.open_reader() as reader:
        known = context.build_catalogue(reader).list_sources()
        sources = [one for one in known if one.kind != "stdin"]
        named = {
            one.name: parse_named_files(reader.get_value(build_named_files_key(one.name)))
            for one in sources
        }
        if any(source.kind == "files" for source in sources):
            for document in context.build_catalogue(reader).list_names():
                if any(one.name == document.source and one.kind == "files" for one in sources):
                    named[document.source].add(document.path)
    finder = _FolderFinder(context, sources, named)
    return finder.find(targets) if any(targets) else [finder.build(one) for one in sources]


class _FolderFinder:
    """Finds the watched folder of a source, of a folder below one, or of a file."""

    def __init__(
        self, context: AppContext, sources: list[Source], named: Mapping[str, Collection[str]]
    ) -> None:
        self._sources = sources
        self._named = named
        self._rules = context.build_scan_rules()
        self._private = dict.fromkeys(map(resolve_links, context.private_folders), "excluded")

    def build(self, source: Source, below: str = "") -> WatchedFolder:
        """Return a source, or a folder below its root, to be watched."""
        inside = [one.root for one in self._sources if is_below(one.root, source.root)]
        return WatchedFolder(
            root=source.root,
            rules=self._rules,
            below=below,
            named=frozenset(self._named[source.name]),
            only_named=source.kind == "files",
            claimed=self._private | dict.fromkeys(inside, "other_source"),
        )

    def find(self, targets: WatchTargets) -> list[WatchedFolder]:
        """Return the folders of what the user names."""
        found: list[WatchedFolder] = []
        for path in targets.folders:
            owners = [
                one
                for one in self._sources
                if one.kind == "folder" and (one.root == path or is_below(path, one.root))
            ]
            if owners:
                nearest = max(owners, key=lambda source: len(source.root))
                found.append(self.build(nearest, cut_root(path, nearest.root)))
        for path in targets.files:
            folder, _, name = path.rpartition("/")
            named = frozenset({name})
            found.append(WatchedFolder(folder or "/", self._rules, named=named, only_named=True))
        return found
