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
"""What does not work without the libraries of this package."""

_FOLDER = "lance"
_STAMP_BYTES = 16
_OWN = re.compile(r"\.?fastembed-[A-Za-z0-9._-]+\.(?:lance|gone|f32(?:\.\d+)?)")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
_NEWEST_FIRST_DIGITS = 20
_HIGHEST = 2**64 - 1


def get_tables_folder(data_dir: Path) -> Path:
    """Return where the tables of a data directory lie; LanceDB takes relative paths for URLs."""
    return Path(os.path.realpath(data_dir)) / _FOLDER


def build_table_name(version: str) -> str:
    """Return the name of the table of an embedding version, fit for a file name."""
    safe = _UNSAFE.sub("-", version)
    return safe if safe == version else f"{safe}-{compute_digest(version, size=4)}"


def get_table_path(data_dir: Path, version: str) -> Path:
    """Return the folder of a table."""
    return get_tables_folder(data_dir) / f"{build_table_name(version)}.lance"


def get_vector_file_path(data_dir: Path, version: str) -> Path:
    """Return the file that readers map instead of opening the table."""
    return get_tables_folder(data_dir) / f"{build_table_name(version)}.f32"


def is_own(name: str) -> bool:
    """Return whether an entry of the folder has a name that only kebab gives, drafts included."""
    return _OWN.fullmatch(name) is not None


def list_manifests(table: Path) -> list[Path]:
    """Return the manifests of a table, the latest first.

    Raises:
        IoError: The file system refused.
    """
    try:
        found = [path for path in (table / "_versions").iterdir() if _is_manifest(path)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as fault:
        raise build_io_error(fault, "read", table) from fault
    return sorted(found, key=_parse_version, reverse=True)


def _is_manifest(path: Path) -> bool:
    return path.suffix == ".manifest" and path.stem.isdecimal()


def _parse_version(path: Path) -> int:
    """Return a table version; names of 20 digits count down, so that a listing starts newest."""
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
            continue  # dropped by the writer since the listing; an older one will not match
        except OSError as fault:
            raise build_io_error(fault, "read", manifest) from fault
    return None


HEADER_BYTES = 64

_MAGIC = b"kebabvec"
_LAYOUT = 1
_FIELDS = struct.Struct("<8sIIQ16s")
_CHECKSUM = struct.Struct("<I")


class Header(NamedTuple):
    """How many rows stand in the file, and which state of the table they equal."""

    dimension: int
    rows: int
    table_digest: bytes

    def pack(self) -> bytes:
        """Return the header's bytes."""
        fields = _FIELDS.pack(_MAGIC, _LAYOUT, self.dimension, self.rows, self.table_digest)
        return (fields + _CHECKSUM.pack(zlib.crc32(fields))).ljust(HEADER_BYTES, b"\0")

    @staticmethod
    def unpack(raw: bytes) -> "Header | None":
        """Return the header that bytes hold, or None when they hold none."""
        if len(raw) != HEADER_BYTES:
            return None
        (checksum,) = _CHECKSUM.unpack_from(raw, _FIELDS.size)
        magic, layout, dimension, rows, digest = _FIELDS.unpack_from(raw)
        known = (magic, layout) == (_MAGIC, _LAYOUT)
        intact = checksum == zlib.crc32(raw[: _FIELDS.size])
        return Header(dimension, rows, digest) if known and intact else None

    def write(self, file: "BinaryIO") -> None:
        """Write the header into a file, whose rows are there by now."""
        os.pwrite(file.fileno(), self.pack(), 0)


def release_pages(array: Any) -> None:
    """Take what a mapped array has touched out of the memory of this process.

    The file stays in the memory of the system, from where it is mapped again when it is touched.
    An array that is no mapped one, or a system that cannot, changes nothing.
    """
    owner = array
    while owner is not None and not isinstance(owner, mmap.mmap):
        owner = getattr(owner, "base", None)
    if owner is not None and hasattr(mmap, "MADV_DONTNEED"):
        owner.madvise(mmap.MADV_DONTNEED)
