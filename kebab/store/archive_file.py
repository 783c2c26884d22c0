"""Reads archives of knowledge bases, which may be damaged or made to do harm."""

import errno
import hashlib
import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, NoReturn

from kebab.core.ids import Key
from kebab.errors.catalog import NotIndexed, StoreCorrupt, TooLarge
from kebab.errors.system import build_read_error, translate_os_errors
from kebab.wire.archive import ArchiveManifest, decode_manifest
from kebab.wire.record import DECODE_ERRORS

FORMAT_VERSION = 1
INDEX, REVIEWS, VECTORS, MANIFEST = (
    "kebab.sqlite",
    "reviews.sqlite",
    "vectors.f32",
    "manifest.json",
)
TEXTS = "stdin/"
"""The beginning of the names of texts from standard input."""


class ExportedPassage(NamedTuple):
    """A passage as other systems get it; but for `key` its fields are columns of the file."""

    key: Key
    id: str
    """Its id."""
    doc_id: str
    source: str
    path: str
    """The path of its document below the source."""
    title: str
    heading_path: tuple[str, ...]
    text: str
    start_line: int
    end_line: int
    hash: str
    """The hash of the text."""
    lang: str | None
    media: str
    tags: tuple[str, ...]
    model: str | None
    """The embedding version of its vector; None without one."""


COPIED_AT_ONCE = 1 << 20
_MAX_MANIFEST_BYTES = 64_000_000
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OverflowError,
    KeyError,
    *DECODE_ERRORS,
)
"""What the readers of zip files and of JSON raise for damaged ones."""


def build_damage(path: Path, cause: str) -> StoreCorrupt:
    """Return the signal that an archive cannot be used."""
    return StoreCorrupt(path=str(path), cause=cause, archive=str(path))


@contextmanager
def _translate_damage(path: Path) -> Iterator[None]:
    try:
        yield
    except _DAMAGE as fault:
        raise build_damage(path, f"it is not whole: {fault}") from fault
    except OSError as fault:
        # A damaged list of members names places before the begin of the file.
        if fault.errno != errno.EINVAL:
            raise
        raise build_damage(path, "it is not whole") from fault


class ArchiveFile:
    """An open archive whose manifest agrees with its members."""

    def __init__(self, path: Path, is_text_name: Callable[[str], bool]) -> None:
        """Read the manifest, and compare it with the list of members.

        `is_text_name` tells the names that texts from standard input have.

        Raises:
            IoError: The file cannot be read.
            NotIndexed: A newer kebab wrote it.
            StoreCorrupt: It is not an archive, or it has other members than it lists.
        """
        self.path = path
        self._is_text_name = is_text_name
        with translate_os_errors(path, "read"):
            if not stat.S_ISREG(path.stat().st_mode):
                raise build_read_error(path, "it is not a regular file")
            with _translate_damage(path):
                self._zip = zipfile.ZipFile(path)
        try:
            with translate_os_errors(path, "read"), _translate_damage(path):
                self.manifest = self._load_manifest()
                self._check_members()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._zip.close()

    def _load_manifest(self) -> ArchiveManifest:
        info = self._zip.getinfo(MANIFEST)
        if info.file_size > _MAX_MANIFEST_BYTES:
            raise TooLarge(what=MANIFEST, size=info.file_size, limit=_MAX_MANIFEST_BYTES)
        raw = b"".join(self._read(MANIFEST, _MAX_MANIFEST_BYTES))
        manifest = decode_manifest(raw, FORMAT_VERSION)
        if isinstance(manifest, int):
            file = str(self.path)
            raise NotIndexed(data_dir=file, expected=FORMAT_VERSION, found=manifest, file=file)
        return manifest

    def _check_members(self) -> None:
        found = sorted(info.filename for info in self._zip.infolist())
        listed = sorted([MANIFEST, *(member.name for member in self.manifest.members)])
        if found != listed or len({*listed}) != len(listed):
            raise ValueError("its members are not those that it lists")
        for member in self.manifest.members:
            if not self._is_member_name(member.name):
                raise ValueError(f"a member of this name is not expected: {member.name!r}")
            if member.bytes != self._zip.getinfo(member.name).file_size or member.bytes < 0:
                raise ValueError(f"a member has another size than it lists: {member.name}")
        if INDEX not in listed:
            raise ValueError("it has no index")

    def _is_member_name(self, name: str) -> bool:
        if name.startswith(TEXTS):
            text = name.removeprefix(TEXTS)
            return "/" not in text and "\0" not in text and self._is_text_name(text)
        return name in (INDEX, REVIEWS, VECTORS)

    def refuse(self, cause: str) -> NoReturn:
        """Raise that the archive is damaged.

        Raises:
            StoreCorrupt: Always.
        """
        raise build_damage(self.path, cause)

    def _read(self, name: str, limit: int) -> Iterator[bytes]:
        """Yield the content of a member, at most one byte above a limit."""
        with self._zip.open(name) as member:
            while limit >= 0 and (part := member.read(min(COPIED_AT_ONCE, limit + 1))):
                yield part
                limit -= len(part)

    def unpack(self, folder: Path, names: Collection[str], count: Callable[[int], None]) -> None:
        """Write members into a folder, and compare the sizes and hashes of all.

        `count` receives the size of each part that was read.

        Raises:
            StoreCorrupt: A member differs from what the manifest says.
            IoError: A file cannot be read or written.
        """
        for member in self.manifest.members:
            digest, size = hashlib.sha256(), 0
            target = folder / member.name if member.name in names else Path(os.devnull)
            with (
                translate_os_errors(target, "write"),
                target.open("wb") as file,
                _translate_damage(self.path),
            ):
                for part in self._read(member.name, member.bytes):
                    digest.update(part)
                    size += len(part)
                    count(len(part))
                    file.write(part)
            if size != member.bytes or digest.hexdigest() != member.sha256:
                cause = f"a member does not have the hash that the archive lists: {member.name}"
                self.refuse(cause)
