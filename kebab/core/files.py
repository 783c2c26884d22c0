"""Declares the files that a scan finds, its rules, and what it leaves out; settings of OCR.

Paths are joined, compared, and written in references.
"""

import json
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Literal, NamedTuple
from urllib.parse import unquote_to_bytes

from msgspec import Struct, field, to_builtins

from kebab.core.chunks import compute_digest

OCR_SETTING = "ingest.ocr"
"""The setting that turns the recognition of text on."""
IMAGE = "image/any"
"""The media type of pictures, which are read only when the recognition of text is turned on."""

ZIP = "application/zip"
MBOX = "application/mbox"
ENEX = "application/enex+xml"
CONTAINERS = frozenset({ZIP, MBOX, ENEX})
"""The media types of files without a text of their own: their members are the documents."""

NAMED = {
    "image": "image/x-named",
    "vector image": "image/x-named",
    "audio": "audio/x-named",
    "video": "video/x-named",
    "": "application/x-named",
}
"""The media types of files that are found by their name alone, by what the files are; the last is
that of documents and archives that no parser reads. Nothing of them is read."""

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

_DEFAULTS_VERSION = "2"
"""Raise it when `kebab.source.ignore` changes, so that known folders are listed again."""

MAX_EXAMPLES = 3
"""How many names of one reason are remembered."""


def get_suffix(name: str) -> str:
    """Return the last suffix of a file name in lower case, with its dot; empty without one."""
    stem, dot, last = name.rpartition(".")
    return f".{last.lower()}" if dot and stem and last else ""


def resolve_links(path: str, *, strict: bool = False) -> str:
    """Return the absolute path without links.

    Raises:
        OSError: With `strict`, the path does not exist.
    """
    return os.path.realpath(path, strict=strict)


def add_working_folder(path: str) -> str:
    """Return the absolute path; links stay."""
    return os.path.abspath(path)  # noqa: PTH100 - keeps links


def resolve_folder_links(path: str) -> str:
    """Return the absolute path without links in its folder; a link itself keeps its name."""
    folder, name = os.path.split(os.path.abspath(path))  # noqa: PTH100 - keeps a link
    return join_root(resolve_links(folder), name)


def join_root(root: str, path: str) -> str:
    """Return the absolute path of a path below a root."""
    return f"{root.rstrip('/')}/{path}"


def is_below(path: str, root: str) -> bool:
    """Return whether an absolute path lies strictly below a root."""
    return path != root and path.startswith(root if root.endswith("/") else f"{root}/")


def cut_root(path: str, root: str) -> str:
    """Return the path below a root."""
    return path[len(root) :].lstrip("/")


MEMBER_MARK = "!/"
"""Stands between the path of a container and the name of a member, as in `mail.eml!/plan.pdf`."""


def list_containers(path: str) -> list[str]:
    """Return the paths that can hold a member of this path; a folder `a!` has one of no file."""
    parts = path.split(MEMBER_MARK)
    return [MEMBER_MARK.join(parts[:count]) for count in range(1, len(parts))]


def find_container(path: str) -> str:
    """Return the file on disk for an absolute path: its container for a member, else the path.

    The name of a folder may end in `!` too, so the disk decides, and a file of that path leads.
    """
    if MEMBER_MARK not in path or os.path.isfile(path):  # noqa: PTH113 - called for every hit
        return path
    return next(filter(os.path.isfile, list_containers(path)), path)


class FileState(NamedTuple):
    """Where the file of a document is, and its size and time when it was read."""

    root: str
    path: str
    size: int
    mtime_ns: int


class FileEntry(NamedTuple):
    """A file that can be a document; `path` is relative to the root, with slashes.

    A member of a container has the absolute path of the container, and its time and inode. `span`
    are the bytes of the container that hold it, where they do so as they are. Of a file that is too
    large only the first `limit` bytes are read; 0 means all.
    """

    path: str
    absolute: str
    size: int
    mtime_ns: int
    inode: int
    media: str
    container: str = ""
    span: tuple[int, int] = (0, 0)
    limit: int = 0


class ScanRules(Struct, frozen=True, kw_only=True):
    """The settings of a scan; `max_file_bytes` 0 means no limit.

    `secret_files` are patterns of files that are read although they usually hold secrets.
    `left_out` are the media types that are not read with these settings: images without `ocr`.
    `readable` are the names and suffixes that this version reads, which the digest tells apart.
    `archives` says which zip archives are read.
    """

    exclude: tuple[str, ...] = ()
    secret_files: tuple[str, ...] = ()
    hidden: bool = False
    max_file_bytes: int = 0
    left_out: frozenset[str] = frozenset({IMAGE})
    readable: frozenset[str] = frozenset()
    archives: Literal["exports", "all", "none"] = "exports"
    added: Mapping[str, str] = field(default_factory=dict)
    """The media types of plugins by suffix or file name."""

    def compute_digest(self) -> str:
        """Return a digest that changes with the rules."""
        fields = json.dumps(to_builtins(self, order="deterministic"))
        return compute_digest("defaults", _DEFAULTS_VERSION, fields)


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
    listed folders and of their ignore files by path; the path of the root is empty. `inner` counts
    the skipped members of containers, `named` the skipped files that are entries by their names.
    """

    entries: list[FileEntry] = field(default_factory=list)
    skips: SkipCounts = field(default_factory=SkipCounts)
    unreadable: list[str] = field(default_factory=list)
    seen: int = 0
    largest: int = 0
    folders: dict[str, int] = field(default_factory=dict)
    inner: int = 0
    named: int = 0

    def accepts(self, entry: FileEntry, rules: ScanRules) -> bool:
        """Return whether a file is read; count it as skipped without a parser, or when too large.

        Of its members a container has those below the limit.
        """
        if not entry.media or entry.media in rules.left_out:
            self.skips.add("ocr_off" if entry.media == IMAGE else "unsupported", entry.path)
            self.skips.by_extension[get_suffix(entry.path.rpartition("/")[2])] += 1
            return False
        is_part = entry.limit and not entry.container
        if 0 < rules.max_file_bytes < entry.size and entry.media not in CONTAINERS and not is_part:
            self.skips.add("over_limit", entry.path)
            self.largest = max(self.largest, entry.size)
            return False
        return True

    def skip_unreadable(self, path: str) -> None:
        """Record a path that cannot be read."""
        self.skips.add("unreadable", path)
        self.unreadable.append(path)


_RESERVED = frozenset("%#?\\\"<>^`{}|[]()*' ")
_PLAIN = re.compile(r"[\w./@+~,=-]*", re.ASCII)
"""What most paths consist of; none of it is escaped."""


def quote_path(path: str) -> str:
    """Return a path with reserved, blank and invisible characters escaped for an IRI."""
    if _PLAIN.fullmatch(path):
        return path
    parts: list[str] = []
    for char in path:
        visible = " " < char < "\x7f" or unicodedata.category(char)[0] not in "CZ"
        if visible and char not in _RESERVED:
            parts.append(char)
        else:
            parts += (f"%{byte:02X}" for byte in char.encode("utf-8", "surrogateescape"))
    return "".join(parts)


def decode_percent(text: str) -> str:
    """Return text with its percent escapes decoded; escapes that are not UTF-8 stay."""
    if "%" not in text:
        return text
    try:
        return unquote_to_bytes(text).decode()
    except UnicodeDecodeError:
        return text
