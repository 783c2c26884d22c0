"""Tables of 4-bit numbers in blocks of 32 with one scale each (the layout Q4_0 of ggml)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK_VALUES = 32
PACKED_BYTES = BLOCK_VALUES // 2
BLOCK_BYTES = 2 + PACKED_BYTES
CENTRE = 8
"""What is subtracted from a nibble, so that its value lies between -8 and 7."""


@dataclass(frozen=True, slots=True)
class FourBitTable:
    """A matrix whose value is (nibble - 8) times the scale of its block.

    `packed` is uint8 of shape (rows, blocks, 16): the low nibbles are the first 16 values of a
    block, the high nibbles the other 16. `scales` is float16 of shape (rows, blocks).
    """

    packed: "NDArray[np.uint8]"
    scales: "NDArray[np.float16]"

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the matrix."""
        return self.packed.shape[0], self.packed.shape[1] * BLOCK_VALUES

    def to_float(self) -> "NDArray[np.float32]":
        """Return the matrix in full precision."""
        nibbles = np.concatenate([self.packed & 15, self.packed >> 4], axis=2)
        centred = nibbles.astype(np.float32) - CENTRE
        return (centred * self.scales.astype(np.float32)[..., None]).reshape(self.shape)


def parse_four_bit_table(data: "bytes | memoryview", rows: int, columns: int) -> FourBitTable:
    """Return the matrix of these bytes, row by row: per block a float16 scale and 16 bytes.

    Raises:
        ValueError: The bytes are too few or too many, or a scale is not a number.
    """
    blocks, rest = divmod(columns, BLOCK_VALUES)
    if rest or len(data) != rows * blocks * BLOCK_BYTES:
        raise ValueError("a table of 4-bit numbers has the wrong size")
    raw = np.frombuffer(data, np.uint8).reshape(rows, blocks, BLOCK_BYTES)
    scales = np.ascontiguousarray(raw[..., :2]).view("<f2")[..., 0]
    if not np.isfinite(scales).all():
        raise ValueError("a scale in a table of 4-bit numbers is not a number")
    return FourBitTable(raw[..., 2:], scales)
