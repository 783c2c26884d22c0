"""Names the members of containers, and reads the directory of a zip archive within limits.

A container is a mail, a mailbox or a zip archive; its members are documents of their own.
`kebab.source` asks which archives are exports, `kebab.parse.containers` reads the members.
"""

import io
import re
import struct
import zlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from kebab.core.files import MEMBER_MARK

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
_MAX_NAME = 1_000


def clean_name(name: str) -> str:
    """Return the name of a member as a relative path without `..`, which is only a key."""
    plain = _CONTROLS.sub("_", name.replace("\\", "/"))
    parts = (part for part in plain.split("/") if part not in {"", ".", ".."})
    return "/".join(parts)[-_MAX_NAME:].replace(MEMBER_MARK, "/").strip("/")


def make_unique(name: str, taken: set[str]) -> str:
    """Return a name with a number when it is taken, e.g. `plan (2).pdf`, and take it."""
    path, unique, number = PurePosixPath(name), name, 1
    while unique in taken:
        number += 1
        unique = str(path.with_name(f"{path.stem} ({number}){path.suffix}"))
    taken.add(unique)
    return unique


MAX_FILES = 100_000
"""The most files of an archive; an export of many photos has some ten thousand."""

_MAX_DIRECTORY_BYTES = 32_000_000

_EXPORT = re.compile(
    r"Takeout/|[^/]*archive_browser\.html\Z"  # Google
    r"|(?:.*[ /])?(?:[0-9a-f]{32}|Export(?:Block)?-[0-9a-f-]{36}[^/]*)"  # Notion
    r"(?:\.(?:md|csv|html|zip)\Z|/)"
    r"|(?:[^/]+/)?(?:channels|conversations|result)\.json\Z"  # Slack, ChatGPT and Claude, Telegram
    r"|(?:[^/]+/)?(?:_chat|WhatsApp[^/]*)\.txt\Z"
)
"""The names by which the export of a program is known."""

BROKEN_ZIP = (ValueError, LookupError, NotImplementedError, EOFError, struct.error, zlib.error)
"""What reading a broken archive raises beside `BadZipFile` and `OSError`."""


class _BoundedReader(io.BufferedReader):
    """A file of which no large part is read at once, as `zipfile` reads the directory."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > _MAX_DIRECTORY_BYTES:
            raise ValueError("its directory is too large")
        return super().read(size)


def read_directory(file: BinaryIO) -> "list[ZipInfo]":
    """Return the files of an archive in the order of its directory, with their names as text.

    Links are left out.

    Raises:
        ValueError: It is no sound archive, or has too many files.
    """
    import stat
    from zipfile import BadZipFile, ZipFile

    try:
        with ZipFile(_BoundedReader(file)) as archive:  # type: ignore[arg-type]
            members = [one for one in archive.infolist() if not one.is_dir()]
    except (BadZipFile, OSError, *BROKEN_ZIP) as fault:
        raise ValueError(f"damaged: {fault or 'not a zip archive'}") from fault
    if len(members) > MAX_FILES:
        raise ValueError(f"more than {MAX_FILES:,} files in one archive")
    return [one for one in members if not stat.S_ISLNK(one.external_attr >> 16)]


def is_export(absolute: str) -> bool:
    """Return whether a zip archive is the export of a program, by the names of its files."""
    with suppress(ValueError, OSError), open(absolute, "rb", buffering=0) as file:  # noqa: PTH123 - a plain string
        return has_export_names(one.filename for one in read_directory(file))  # type: ignore[arg-type]
    return False


def has_export_names(names: Iterable[str]) -> bool:
    """Return whether one of the names is that of an export."""
    return any(map(_EXPORT.match, names))
