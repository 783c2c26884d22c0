"""Reads files that are zip archives: office documents and EPUB books.

Members are read into memory, within limits, and never written anywhere, so their names are only
keys. Archives within archives are not opened.
"""

import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy

from kebab.errors.catalog import ParseFailed

MAX_MEMBERS = 20_000
"""The most members of an archive; a book of 5,000 pages with pictures has about half as many."""

MAX_MEMBER_BYTES = 128_000_000
"""The largest member to read. Markup of this size takes about ten seconds to parse."""

MAX_EXPANSION_BYTES = 384_000_000
"""The most bytes to which all members together may expand."""

MAX_RATIO = 200
"""The most bytes to which one byte may expand; sheets of repeated values reach about 100."""

_MIN_SUSPICIOUS_BYTES = 16_000_000
"""Below this size the ratio does not matter."""

OLE2_MAGIC = bytes.fromhex("d0cf11e0a1b11ae1")
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_LOCAL_HEADER_BYTES = 30
_ENCRYPTED_FLAG = 0x1
_STEP_BYTES = 1 << 20
_MB = 1_000_000

ENCRYPTED = "the file is encrypted"
"""The cause of the refusal of a file that asks for a password."""

_ERRORS = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    NotImplementedError,
    RuntimeError,
)
"""What `zipfile` and its decompressors raise for bytes that are no sound archive."""


class Archive:
    """The members of a zip archive by name.

    `path` and `parser` are for errors. Where two members have one name, the last is read, as by
    `zipfile`.
    """

    def __init__(self, data: bytes, path: str, parser: str) -> None:
        """Read the directory of the archive.

        Raises:
            ParseFailed: The file is no zip archive, is damaged, or expands beyond the limits.
        """
        self._path, self._parser, self._size = path, parser, len(data)
        self._read = 0
        if not data.startswith(b"PK"):
            raise self.refuse(explain_foreign_file(data))
        with self._refuse_damage("the zip archive is cut off or broken"):
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        members = self._zip.infolist()
        self._check_members(members)
        self._members = {_clean_name(info): info for info in members if not info.is_dir()}
        self._by_folded_name = {name.casefold(): name for name in self._members}

    @property
    def names(self) -> Sequence[str]:
        """The names of the members in the order of the directory, without folders."""
        return tuple(self._members)

    def find_name(self, name: str) -> str | None:
        """Return the name of a member as it is written, whatever its case; None without one."""
        clean = name.lstrip("/")
        return clean if clean in self._members else self._by_folded_name.get(clean.casefold())

    def find(self, name: str) -> bytes | None:
        """Return the bytes of a member; None when there is none of that name.

        Raises:
            ParseFailed: The member is damaged, encrypted, or expands beyond the limits.
        """
        known = self.find_name(name)
        if known is None:
            return None
        info = self._members[known]
        if info.flag_bits & _ENCRYPTED_FLAG:
            raise self.refuse(ENCRYPTED)
        if info.file_size > MAX_MEMBER_BYTES:
            raise self.refuse(f"`{known}` expands to more than {MAX_MEMBER_BYTES // _MB} MB")
        # A member that is read again counts again, so the work is bounded as well.
        self._check_expansion(self._read + info.file_size)
        self._read += info.file_size
        with self._refuse_damage(f"`{known}` cannot be unpacked"):
            return self._zip.read(info)

    def read(self, name: str) -> bytes:
        """Return the bytes of a member.

        Raises:
            ParseFailed: There is no such member, or it cannot be read.
        """
        data = self.find(name)
        if data is None:
            raise self.refuse(f"damaged: `{name}` is missing")
        return data

    def check_sizes(self) -> None:
        """Unpack every member without keeping it, for libraries that trust the directory.

        Raises:
            ParseFailed: A member is damaged, encrypted, or larger than the directory says.
        """
        for name, info in self._members.items():
            if info.flag_bits & _ENCRYPTED_FLAG:
                raise self.refuse(ENCRYPTED)
            with self._refuse_damage(f"`{name}` cannot be unpacked"):
                if self._measure(info) != info.file_size:
                    raise self.refuse(f"damaged: the size of `{name}` is wrong")

    def _measure(self, info: zipfile.ZipInfo) -> int:
        """Return the size of a member, or one more than the directory says when it is larger."""
        probe = copy(info)
        probe.file_size += 1  # `zipfile` unpacks no more than this
        size = 0
        with self._zip.open(probe) as file:
            while part := file.read(_STEP_BYTES):
                size += len(part)
        return size

    def refuse(self, cause: str) -> ParseFailed:
        """Return the error for this file."""
        return ParseFailed(path=self._path, parser=self._parser, cause=cause)

    @contextmanager
    def _refuse_damage(self, cause: str) -> Iterator[None]:
        try:
            yield
        except _ERRORS as fault:
            raise self.refuse(f"damaged: {cause}") from fault

    def _check_members(self, members: Sequence[zipfile.ZipInfo]) -> None:
        if len(members) > MAX_MEMBERS:
            raise self.refuse(f"more than {MAX_MEMBERS:,} files in one archive")
        self._check_expansion(sum(info.file_size for info in members))
        if _has_overlap(members):
            raise self.refuse("damaged: files of the archive overlap")

    def _check_expansion(self, total: int) -> None:
        if total > MAX_EXPANSION_BYTES:
            raise self.refuse(f"expands to more than {MAX_EXPANSION_BYTES // _MB} MB")
        if total > max(self._size * MAX_RATIO, _MIN_SUSPICIOUS_BYTES):
            raise self.refuse(f"expands to more than {MAX_RATIO} times its size")


def explain_foreign_file(data: bytes) -> str:
    """Return why a file that is no zip archive cannot be read as an office document or a book."""
    if not data.startswith(OLE2_MAGIC):
        return "damaged: not a zip archive"
    if _ENCRYPTED_PACKAGE in data:
        return ENCRYPTED
    return "an old Microsoft Office file; save it as `.docx`, `.xlsx` or `.pptx`"


def _clean_name(info: zipfile.ZipInfo) -> str:
    return info.filename.replace("\\", "/").lstrip("/")


def _has_overlap(members: Sequence[zipfile.ZipInfo]) -> bool:
    """Return whether two members share bytes of the file, as those of small bombs do."""
    end = 0
    for info in sorted(members, key=lambda info: info.header_offset):
        if info.header_offset < end:
            return True
        end = info.header_offset + _LOCAL_HEADER_BYTES + info.compress_size
    return False
