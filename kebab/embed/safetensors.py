"""Reads the safetensors format: a length, a JSON header, then raw little-endian tensors.

The format is small enough to read here, so that no further library is needed for one file.
"""

import json
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LENGTH_BYTES = 8
_DTYPES = {"F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4"}


def tensors(data: bytes) -> "dict[str, NDArray[np.generic]]":
    """Return the tensors of a safetensors file by name, as views into its bytes.

    Raises:
        ValueError: The bytes are not a safetensors file, or hold a dtype not known here.
    """
    start = _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], "little")
    if not _LENGTH_BYTES < start <= len(data):
        raise ValueError("the header of the safetensors file is cut off")
    header = json.loads(data[_LENGTH_BYTES:start])
    header.pop("__metadata__", None)
    return {name: _tensor(data, start, entry) for name, entry in header.items()}


def _tensor(data: bytes, start: int, entry: dict[str, object]) -> "NDArray[np.generic]":
    """Return one tensor as a view."""
    match entry:
        case {"dtype": str(dtype), "shape": list(shape), "data_offsets": [int(begin), int(end)]}:
            pass
        case _:
            raise ValueError("a tensor of the safetensors file is not described")
    if dtype not in _DTYPES:
        raise ValueError(f"a tensor of the safetensors file has an unknown dtype: {dtype}")
    kind = np.dtype(_DTYPES[dtype])
    count, rest = divmod(end - begin, kind.itemsize)
    if rest or start + end > len(data):
        raise ValueError("a tensor of the safetensors file is cut off")
    return np.frombuffer(data, dtype=kind, count=count, offset=start + begin).reshape(shape)
