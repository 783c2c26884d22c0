"""The header of a sidecar: what its file holds, and whether it is whole."""

import os
import struct
import zlib
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import BinaryIO

HEADER_BYTES = 64

_MAGIC = b"kebabvec"
_LAYOUT = 1
_FIELDS = struct.Struct("<8sIIQ16s")
_CHECKSUM = struct.Struct("<I")


class Header(NamedTuple):
    """How many rows stand in the file, and which state of the table they equal."""

    dimension: int
    rows: int
    stamp: bytes

    def pack(self) -> bytes:
        """Return the header's bytes."""
        fields = _FIELDS.pack(_MAGIC, _LAYOUT, self.dimension, self.rows, self.stamp)
        return (fields + _CHECKSUM.pack(zlib.crc32(fields))).ljust(HEADER_BYTES, b"\0")

    @staticmethod
    def unpack(raw: bytes) -> "Header | None":
        """Return the header that bytes hold, or None when they hold none."""
        if len(raw) != HEADER_BYTES:
            return None
        (checksum,) = _CHECKSUM.unpack_from(raw, _FIELDS.size)
        magic, layout, dimension, rows, stamp = _FIELDS.unpack_from(raw)
        known = (magic, layout) == (_MAGIC, _LAYOUT)
        intact = checksum == zlib.crc32(raw[: _FIELDS.size])
        return Header(dimension, rows, stamp) if known and intact else None

    def write(self, file: "BinaryIO") -> None:
        """Write the header into a file, whose rows are there by now."""
        os.pwrite(file.fileno(), self.pack(), 0)
