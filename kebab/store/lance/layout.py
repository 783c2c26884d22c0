"""Defines where the vector index is stored, and the header of the vector file."""

import mmap
import os
import re
import struct
import zlib
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kebab.core.ids import compute_digest
from kebab.errors.system import build_io_error

if TYPE_CHECKING:
    from typing import BinaryIO

FEATURE = "the vector index"
"""The feature that needs the libraries of this package, for messages."""

_FOLDER = "lance"
_STAMP_BYTES = 16
_OWN = re.compile(r"\.?fastembed-[A-Za-z0-9._-]+\.(?:lance|gone|f32(?:\.\d+)?)")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
_NEWEST_FIRST_DIGITS = 20
_HIGHEST = 2**64 - 1


def get_tables_folder(data_dir: Path) -> Path:
    """Return the folder of all tables; it is absolute, as LanceDB reads relative paths as URLs."""
    return Path(os.path.realpath(data_dir)) / _FOLDER


def build_table_name(version: str) -> str:
    """Return the table name of an embedding version, which is a valid file name."""
    safe = _UNSAFE.sub("-", version)
    return safe if safe == version else f"{safe}-{compute_digest(version, size=4)}"


def get_table_path(data_dir: Path, version: str) -> Path:
    """Return the folder of a table."""
    return get_tables_folder(data_dir) / f"{build_table_name(version)}.lance"


def get_vector_file_path(data_dir: Path, version: str) -> Path:
    """Return the path of the file that readers map instead of opening the table."""
    return get_tables_folder(data_dir) / f"{build_table_name(version)}.f32"


def is_own(name: str) -> bool:
    """Return whether only kebab gives this name to an entry of the folder; drafts count."""
    return _OWN.fullmatch(name) is not None


def list_manifests(table: Path) -> list[Path]:
    """Return the manifests of a table, the latest first.

    Raises:
        IoError: The file system refused.
    """
    try:
        files = [path for path in (table / "_versions").iterdir() if path.suffix == ".manifest"]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as fault:
        raise build_io_error(fault, "read", table) from fault
    manifests = [path for path in files if path.stem.isdecimal()]
    return sorted(manifests, key=_parse_version, reverse=True)


def _parse_version(path: Path) -> int:
    """Return a table version; names of 20 digits count down, so that listings start newest."""
    number = int(path.stem)
    return _HIGHEST - number if len(path.stem) == _NEWEST_FIRST_DIGITS else number


def read_table_digest(table: Path) -> bytes | None:
    """Return a digest that changes with every commit to a table; None when there is no table.

    Raises:
        IoError: The file system refused.
    """
    for manifest in list_manifests(table):
        try:
            return blake2b(manifest.read_bytes(), digest_size=_STAMP_BYTES).digest()
        except FileNotFoundError:
            continue  # the writer has deleted it meanwhile; an older one will not match
        except OSError as fault:
            raise build_io_error(fault, "read", manifest) from fault
    return None


HEADER_BYTES = 64

_MAGIC = b"kebabvec"
_LAYOUT = 1
_FIELDS = struct.Struct("<8sIIQ16s")
_CHECKSUM = struct.Struct("<I")


class Header(NamedTuple):
    """The number of rows in a vector file and the state of the table that they equal."""

    dimension: int
    rows: int
    table_digest: bytes

    def pack(self) -> bytes:
        """Return the header's bytes."""
        fields = _FIELDS.pack(_MAGIC, _LAYOUT, self.dimension, self.rows, self.table_digest)
        return (fields + _CHECKSUM.pack(zlib.crc32(fields))).ljust(HEADER_BYTES, b"\0")

    @staticmethod
    def unpack(raw: bytes) -> "Header | None":
        """Return the header in some bytes, or None when they are not a header."""
        if len(raw) != HEADER_BYTES:
            return None
        (checksum,) = _CHECKSUM.unpack_from(raw, _FIELDS.size)
        magic, layout, dimension, rows, digest = _FIELDS.unpack_from(raw)
        known = (magic, layout) == (_MAGIC, _LAYOUT)
        intact = checksum == zlib.crc32(raw[: _FIELDS.size])
        return Header(dimension, rows, digest) if known and intact else None

    def write(self, file: "BinaryIO") -> None:
        """Write the header into a file; the caller has written the rows."""
        os.pwrite(file.fileno(), self.pack(), 0)


def release_pages(array: Any) -> None:
    """Release the pages of a mapped array from the memory of this process.

    They stay in the page cache of the system. An array that is not mapped, or a system without
    `madvise`, changes nothing.
    """
    owner = array
    while owner is not None and not isinstance(owner, mmap.mmap):
        owner = getattr(owner, "base", None)
    if owner is not None and hasattr(mmap, "MADV_DONTNEED"):
        owner.madvise(mmap.MADV_DONTNEED)
