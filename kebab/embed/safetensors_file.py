"""Reads a safetensors file: a length, a JSON header, then raw little-endian tensors."""

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LENGTH_BYTES = 8
_DTYPES = {"F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4"}


def parse_safetensors(data: bytes) -> "dict[str, NDArray[np.generic]]":
    """Return the tensors of a safetensors file by name, as views into its bytes.

    Raises:
        ValueError: The bytes are not a safetensors file, or have an unknown dtype.
    """
    start = _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], "little")
    if not _LENGTH_BYTES < start <= len(data):
        raise ValueError("the header of the safetensors file is incomplete")
    header = json.loads(data[_LENGTH_BYTES:start])
    header.pop("__metadata__", None)
    return {name: _parse_tensor(data, start, entry) for name, entry in header.items()}


def _parse_tensor(data: bytes, start: int, entry: dict[str, object]) -> "NDArray[np.generic]":
    import numpy as np

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
        raise ValueError("a tensor of the safetensors file is incomplete")
    return np.frombuffer(data, dtype=kind, count=count, offset=start + begin).reshape(shape)
