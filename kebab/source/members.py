"""Names the members of containers, and reads the directory of a zip archive within limits.

A container is a mail, a mailbox or a zip archive; its members are documents of their own.
The walk asks which archives are exports, `kebab.parse.containers` reads the members.
"""

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

if TYPE_CHECKING:
    from zipfile import ZipInfo


class Member(NamedTuple):
    """A file within a container; `media` is empty when no parser reads it.

    `span` are the bytes of the container that hold it as they are, if there are any.
    """

    name: str
    size: int
    media: str
    span: tuple[int, int] = (0, 0)


_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_MARKS = re.compile(r"(?<!!)!+/")
_MAX_NAME = 1_000


def clean_name(name: str) -> str:
    """Return the name of a member as a relative path without `..`, which is only a key."""
    plain = _CONTROLS.sub("_", name.replace("\\", "/"))
    parts = (part for part in plain.split("/") if part not in {"", ".", ".."})
    return _MARKS.sub("/", "/".join(parts)[-_MAX_NAME:]).strip("/")


def make_unique(name: str, taken: dict[str, int]) -> str:
    """Return a name with a number when it is taken, e.g. `plan (2).pdf`, and take it.

    `taken` has the last number of each name, so that many equal names take no longer than others.
    """
    path, unique, number = PurePosixPath(name), name, taken.get(name, 0)
    while unique in taken:
        number += 1
        unique = str(path.with_name(f"{path.stem} ({number}){path.suffix}"))
    taken[name] = number or 1
    taken.setdefault(unique, 1)
    return unique


MAX_FILES = 100_000
"""The most files of an archive; an export of many photos has some ten thousand."""

_MAX_DIRECTORY_BYTES = 32_000_000
LOCAL_HEADER_BYTES = 30

_EXPORT = re.compile(
    r"Takeout/|[^/]*archive_browser\.html\Z"  # Google
    r"|(?:.*[ /])?(?:[0-9a-f]{32}|Export(?:Block)?-[0-9a-f-]{36}[^/]*)"  # Notion
    r"(?:\.(?:md|csv|html|zip)\Z|/)"
    r"|(?:[^/]+/)?(?:channels|conversations|result)\.json\Z"  # Slack, ChatGPT and Claude, Telegram
    r"|(?:[^/]+/)?(?:_chat|WhatsApp[^/]*)\.txt\Z"
    r"|(?:.*/)?[^/]+\.textbundle/"  # Bear, Ulysses
)
"""The names by which the export of a program is known."""


class _BoundedReader:
    """A file of which no large part is read at once, as `zipfile` reads the directory."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        if size > _MAX_DIRECTORY_BYTES:
            raise ValueError("its directory is too large")
        return self._file.read(size)


def read_directory(file: BinaryIO) -> "list[ZipInfo]":
    """Return the files of an archive in the order of its directory, with their names as text.

    Links are left out.

    Raises:
        ValueError: It is no sound archive, or has too many files.
    """
    import stat
    import struct
    from zipfile import BadZipFile, ZipFile

    try:
        with ZipFile(_BoundedReader(file)) as archive:
            members = [one for one in archive.infolist() if not one.is_dir()]
    except (BadZipFile, OSError, LookupError, ValueError, RuntimeError, struct.error) as fault:
        cause = fault if type(fault) is ValueError else "the zip archive is cut off or broken"
        raise ValueError(f"damaged: {cause}") from fault
    if len(members) > MAX_FILES:
        raise ValueError(f"more than {MAX_FILES:,} files in one archive")
    end = 0
    for one in sorted(members, key=lambda one: one.header_offset):
        if one.header_offset < end:  # small bombs share bytes of the file
            raise ValueError("damaged: files of the archive overlap")
        end = one.header_offset + LOCAL_HEADER_BYTES + one.compress_size
    return [one for one in members if not stat.S_ISLNK(one.external_attr >> 16)]


def is_export(absolute: str) -> bool:
    """Return whether a zip archive is the export of a program, by the names of its files.

    Raises:
        OSError: The file cannot be opened.
        ValueError: It is damaged.
    """
    with open(absolute, "rb") as file:  # noqa: PTH123 - a plain string
        return any(_EXPORT.match(one.filename[:_MAX_NAME]) for one in read_directory(file))
