"""Declares the files that a scan finds, its rules, and what it leaves out; settings of OCR.

Paths that are stored and compared have slashes on every system; Windows takes them too.
"""

import os
import re
from collections import Counter
from collections.abc import Collection
from typing import NamedTuple

from msgspec import Struct, field

from kebab.core.ids import compute_digest
from kebab.platform import get_inode, is_windows

OCR_SETTING = "ingest.ocr"
"""The setting that turns the recognition of text on."""
IMAGE = "image/any"
"""The media type of pictures, which are read only when the recognition of text is turned on."""

SECRET_SETTING = "ingest.secret_files"  # noqa: S105 - the name of a setting
"""The setting that names files to read although they usually hold secrets."""

_PAGES_PER_FILE = 20
"""How many pages of the longest time a file may take; most pages take a tenth of it."""


class OcrSettings(NamedTuple):
    """The languages of texts, such as `eng+kor`, and the time limit for a page in seconds.

    A limit of 0 means none.
    """

    languages: str = "eng"
    page_deadline_s: float = 30.0

    @property
    def deadline_s(self) -> float:
        """The time limit for a whole file, in seconds; 0 means none."""
        return _PAGES_PER_FILE * self.page_deadline_s


GIT_FILE = ".gitignore"
OWN_FILE = ".kebabignore"
IGNORE_FILES = frozenset({GIT_FILE, OWN_FILE})
"""The names of files with rules that leave out files."""

_DEFAULTS_VERSION = "1"
"""Raise it when `kebab.source.defaults` changes, so that known folders are listed again."""

MAX_EXAMPLES = 3
"""How many names of one reason are remembered."""


def get_suffix(name: str) -> str:
    """Return the last suffix of a file name in lower case, with its dot; empty without one."""
    stem, dot, last = name.rpartition(".")
    return f".{last.lower()}" if dot and stem and last else ""


_DRIVE = re.compile(r"[A-Za-z]:(?=[/\\]|$)")
_ANY_DRIVE = re.compile(r"(?:[A-Za-z]|\[[A-Za-z]{2}\]):(?=[/\\]|$)")


def to_slashes(path: str, *, windows: bool | None = None) -> str:
    r"""Return a path of this system, or of Windows, with slashes.

    On Windows the prefix `\\?\` is dropped, and the letter of the drive becomes a capital.
    """
    if not (is_windows() if windows is None else windows):
        return path
    if path.startswith("\\\\?\\UNC\\"):
        path = "\\" + path.removeprefix("\\\\?\\UNC")
    path = path.removeprefix("\\\\?\\").replace("\\", "/")
    return path[0].upper() + path[1:] if _DRIVE.match(path) else path


def resolve_links(path: str, *, strict: bool = False) -> str:
    """Return the absolute path without links.

    Raises:
        OSError: With `strict`, the path does not exist.
    """
    return to_slashes(os.path.realpath(path, strict=strict))


def add_working_folder(path: str) -> str:
    """Return the absolute path; links stay."""
    return to_slashes(os.path.abspath(path))  # noqa: PTH100 - keeps links


def resolve_folder_links(path: str) -> str:
    """Return the absolute path without links in its folder; a link itself keeps its name."""
    folder, name = os.path.split(os.path.abspath(path))  # noqa: PTH100 - keeps a link
    return join_root(resolve_links(folder), name)


def join_root(root: str, path: str) -> str:
    """Return the absolute path of a path below a root."""
    return f"{root.rstrip('/')}/{path}"


def is_absolute(path: str, *, windows: bool | None = None) -> bool:
    """Return whether a path or a glob begins at a root or, on Windows, at a drive."""
    drives = is_windows() if windows is None else windows
    return path.startswith("/") or (drives and _ANY_DRIVE.match(path) is not None)


def read_uri_path(path: str, *, windows: bool | None = None) -> str:
    """Return the path that a `file` URI has: on Windows a slash precedes the drive."""
    drives = is_windows() if windows is None else windows
    return path[1:] if drives and path[:1] == "/" and _DRIVE.match(path, 1) else path


def is_below(path: str, root: str) -> bool:
    """Return whether an absolute path lies strictly below a root."""
    return path != root and path.startswith(root if root.endswith("/") else f"{root}/")


def cut_root(path: str, root: str) -> str:
    """Return the path below a root."""
    return path[len(root) :].lstrip("/")


class FileState(NamedTuple):
    """Where the file of a document is, and its size and time when it was read."""

    root: str
    path: str
    size: int
    mtime_ns: int


class FileEntry(NamedTuple):
    """A file that can be a document; `path` is relative to the root, with slashes.

    Of a file that is too large only the first `limit` bytes are read; 0 means all.
    """

    path: str
    absolute: str
    size: int
    mtime_ns: int
    inode: int
    media: str
    limit: int = 0


class ScanRules(Struct, frozen=True, kw_only=True):
    """The settings of a scan; `max_file_bytes` 0 means no limit.

    `secret_files` are patterns of files that are read although they usually hold secrets.
    `left_out` are the media types that are not read with these settings: images without `ocr`.
    `readable` are the names and suffixes that this version reads, which the digest tells apart.
    """

    exclude: tuple[str, ...] = ()
    secret_files: tuple[str, ...] = ()
    hidden: bool = False
    max_file_bytes: int = 0
    left_out: frozenset[str] = frozenset({IMAGE})
    readable: frozenset[str] = frozenset()

    def compute_digest(self) -> str:
        """Return a digest that changes with the rules."""
        limits = (str(self.hidden), str(self.max_file_bytes))
        media = ("left out", *sorted(self.left_out), "readable", *sorted(self.readable))
        secrets = ("secret files", *self.secret_files, "defaults", _DEFAULTS_VERSION)
        return compute_digest(*limits, "exclude", *self.exclude, *media, *secrets)


class SeenFiles(Struct, frozen=True, kw_only=True):
    """What an earlier scan has seen: its folders and files, and those folders that changed since.

    Folders are paths below the root, empty for the root itself.
    """

    changed: Collection[str]
    folders: Collection[str]
    files: Collection[str]


class SkipCounts(Struct):
    """Counts skipped files by reason and by suffix, with a few names for each reason."""

    by_reason: Counter[str] = field(default_factory=Counter)
    by_extension: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def add(self, reason: str, path: str) -> None:
        """Count one skipped entry."""
        self.by_reason[reason] += 1
        self._add_example(reason, path)

    def merge(self, other: "SkipCounts") -> None:
        """Add the counts of another scan."""
        self.by_reason.update(other.by_reason)
        self.by_extension.update(other.by_extension)
        for reason, names in other.examples.items():
            for name in names:
                self._add_example(reason, name)

    def _add_example(self, reason: str, name: str) -> None:
        names = self.examples.setdefault(reason, [])
        if len(names) < MAX_EXAMPLES:
            names.append(name)

    @property
    def total(self) -> int:
        """The number of skipped entries."""
        return sum(self.by_reason.values())


class ScanResult(Struct):
    """What a scan found.

    `unreadable` holds the paths that cannot be read; those of folders end in a slash. Documents
    below them do not count as deleted. `seen` counts the entries that are not hidden, documents or
    not. `largest` is the size of the largest file above the limit. `folders` holds the times of the
    listed folders and of their ignore files by path; the path of the root is empty.
    """

    entries: list[FileEntry] = field(default_factory=list)
    skips: SkipCounts = field(default_factory=SkipCounts)
    unreadable: list[str] = field(default_factory=list)
    seen: int = 0
    largest: int = 0
    folders: dict[str, int] = field(default_factory=dict)

    def add_file(
        self, path: str, absolute: str, stat: os.stat_result, media: str | None, rules: ScanRules
    ) -> None:
        """Add a file, or skip it when no parser reads it or it is above the limit."""
        if media is None or media in rules.left_out:
            self.skips.add("unsupported" if media is None else "ocr_off", path)
            self.skips.by_extension[get_suffix(path.rpartition("/")[2])] += 1
            return
        limit: int | None = 0
        if 0 < rules.max_file_bytes < stat.st_size:
            from kebab.core.media import choose_limit

            limit = choose_limit(media, stat.st_size, rules.max_file_bytes)
        if limit is None:
            self.skips.add("over_limit", path)
            self.largest = max(self.largest, stat.st_size)
            return
        times = (stat.st_size, stat.st_mtime_ns, get_inode(stat))
        entry = FileEntry(path, absolute, *times, media, limit)
        self.entries.append(entry)

    def skip_unreadable(self, path: str) -> None:
        """Record a path that cannot be read."""
        self.skips.add("unreadable", path)
        self.unreadable.append(path)
