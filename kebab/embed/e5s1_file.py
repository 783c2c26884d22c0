"""Reads the file format E5S1: a BERT encoder with 4-bit weights, and its unigram vocabulary.

All numbers are little-endian: a header, the pieces with their scores, the replacements of the
normalisation, a directory of tensors, then the tensors. Every length is checked before it is used.
"""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from kebab.embed.four_bit import BLOCK_VALUES, FourBitTable, parse_four_bit_table
from kebab.embed.unigram_tokenizer import UnigramVocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kebab.embed.onnx_bert import Weight

_MAGIC, _VERSION = b"E5S1", 1
_FLOATS, _FOUR_BIT = 0, 1
_LARGEST_SIZE = 1 << 20
"""More than any count of the header can be; it keeps a damaged count from taking all memory."""


@dataclass(frozen=True, slots=True)
class E5S1Model:
    """The contents of a file; the weights have the names that sentence-transformers gives them."""

    heads: int
    epsilon: float
    vocabulary: UnigramVocabulary
    weights: "Mapping[str, Weight]"


def parse_e5s1(data: bytes) -> E5S1Model:
    """Return the model in these bytes.

    Raises:
        ValueError: The bytes are not such a file, or are damaged.
    """
    reader = _Reader(memoryview(data))
    if reader.read("4s") != (_MAGIC,) or reader.read("I") != (_VERSION,):
        raise ValueError("the model file is not in the format E5S1, version 1")
    size = _read_size(reader)
    epsilon, block = reader.read("fi")
    if not 0 < epsilon < 1 or block != BLOCK_VALUES:
        raise ValueError("the header of the model file is damaged")
    vocabulary = _read_vocabulary(reader, size.vocabulary)
    directory = _read_directory(reader)
    return E5S1Model(size.heads, epsilon, vocabulary, _read_weights(size, directory))


class _Reader:
    """Reads values one after the other; none may lie behind the end of the file."""

    def __init__(self, data: memoryview) -> None:
        self._data = data
        self._position = 0

    @property
    def has_more(self) -> bool:
        """Whether bytes are left."""
        return self._position < len(self._data)

    def read(self, layout: str) -> tuple[Any, ...]:
        """Return the next values of a `struct` layout."""
        layout = f"<{layout}"
        return struct.unpack(layout, self.read_bytes(struct.calcsize(layout)))

    def read_bytes(self, count: int) -> memoryview:
        """Return the next bytes."""
        part = self.slice(self._position, count)
        self._position += count
        return part

    def slice(self, start: int, count: int) -> memoryview:
        """Return the bytes at a position of the file."""
        if count < 0 or start + count > len(self._data):
            raise ValueError("the model file is incomplete")
        return self._data[start : start + count]

    def read_array(self, dtype: str, count: int) -> "NDArray[Any]":
        """Return the next numbers of one type."""
        return np.frombuffer(self.read_bytes(np.dtype(dtype).itemsize * count), dtype)


@dataclass(frozen=True, slots=True)
class _Size:
    """The counts of the header, in their order there."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    token_types: int


def _read_size(reader: _Reader) -> _Size:
    counts = reader.read("7i")
    size = _Size(*counts)
    if not all(0 < count <= _LARGEST_SIZE for count in counts) or size.hidden % size.heads:
        raise ValueError("the header of the model file is damaged")
    return size


def _read_vocabulary(reader: _Reader, rows: int) -> UnigramVocabulary:
    """Read pieces, scores, special ids and replacements; each piece has a row of embeddings."""
    count, *ids = reader.read("5i")
    (size,) = reader.read("Q")
    if not 0 < count <= rows or not all(0 <= each < count for each in ids):
        raise ValueError("the vocabulary of the model file is damaged")
    offsets = reader.read_array("<u4", count + 1)
    scores = reader.read_array("<f4", count)
    pieces = _cut_pieces(bytes(reader.read_bytes(size)), offsets.tolist())
    if not np.isfinite(scores).all() or len(set(pieces)) != count:
        raise ValueError("the vocabulary of the model file is damaged")
    start, end, _padding, unknown = (pieces[each] for each in ids)
    return UnigramVocabulary(
        pieces=list(zip(pieces, scores.tolist(), strict=True)),
        start=start,
        end=end,
        unknown=unknown,
        replacements=_read_replacements(reader),
    )


def _cut_pieces(blob: bytes, offsets: list[int]) -> list[str]:
    """Return the pieces between neighbouring offsets.

    Raises:
        ValueError: The offsets do not ascend from 0 to the end, or a piece is not UTF-8.
    """
    if offsets[0] != 0 or offsets[-1] != len(blob) or sorted(offsets) != offsets:
        raise ValueError("the vocabulary of the model file is damaged")
    return [blob[start:end].decode("utf-8") for start, end in pairwise(offsets)]


def _read_replacements(reader: _Reader) -> dict[str, str]:
    """Read what each character is replaced by; an empty text drops it."""
    count, size = reader.read("iI")
    part = _Reader(reader.read_bytes(size))
    try:
        found = dict(_read_replacement(part) for _ in range(count))
    except (ValueError, OverflowError) as error:
        raise ValueError("the normalisation of the model file is damaged") from error
    if len(found) != count or part.has_more:
        raise ValueError("the normalisation of the model file is damaged")
    return found


def _read_replacement(part: _Reader) -> tuple[str, str]:
    code, count = part.read("IB")
    return chr(code), "".join(map(chr, part.read(f"{count}I")))


def _read_directory(reader: _Reader) -> dict[str, tuple[int, int, memoryview]]:
    """Return the type, the count and the bytes of each tensor by its name in the file."""
    (count,) = reader.read("i")
    found = {}
    for _ in range(count):
        (length,) = reader.read("H")
        name = bytes(reader.read_bytes(length)).decode("utf-8")
        kind, values, start, size = reader.read("BIQQ")
        found[name] = (kind, values, reader.slice(start, size))
    return found


def _list_tensors(size: _Size) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """Yield the name in the file, the full name and the shape of each tensor."""
    hidden, wide = size.hidden, size.feed_forward
    yield "emb.word", "embeddings.word_embeddings.weight", (size.vocabulary, hidden)
    yield "emb.pos", "embeddings.position_embeddings.weight", (size.positions, hidden)
    yield "emb.type", "embeddings.token_type_embeddings.weight", (size.token_types, hidden)
    yield from _list_norm("emb.ln", "embeddings.LayerNorm", hidden)
    linear = {
        "q": ("attention.self.query", hidden, hidden),
        "k": ("attention.self.key", hidden, hidden),
        "v": ("attention.self.value", hidden, hidden),
        "ao": ("attention.output.dense", hidden, hidden),
        "fi": ("intermediate.dense", wide, hidden),
        "fo": ("output.dense", hidden, wide),
    }
    for index in range(size.layers):
        short, full = f"l{index}", f"encoder.layer.{index}"
        for name, (part, rows, columns) in linear.items():
            yield f"{short}.{name}.w", f"{full}.{part}.weight", (rows, columns)
            yield f"{short}.{name}.b", f"{full}.{part}.bias", (rows,)
        yield from _list_norm(f"{short}.aln", f"{full}.attention.output.LayerNorm", hidden)
        yield from _list_norm(f"{short}.oln", f"{full}.output.LayerNorm", hidden)


def _list_norm(name: str, full: str, hidden: int) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    yield f"{name}.w", f"{full}.weight", (hidden,)
    yield f"{name}.b", f"{full}.bias", (hidden,)


def _read_weights(
    size: _Size, directory: "Mapping[str, tuple[int, int, memoryview]]"
) -> "dict[str, Weight]":
    """Return every tensor of the encoder under its full name.

    Raises:
        ValueError: A tensor is missing, unknown, or not of its shape.
    """
    names = list(_list_tensors(size))
    if {name for name, _, _ in names} != directory.keys():
        raise ValueError("the model file does not have the tensors of its header")
    return {full: _parse_tensor(name, directory[name], shape) for name, full, shape in names}


def _parse_tensor(
    name: str, entry: tuple[int, int, memoryview], shape: tuple[int, ...]
) -> "NDArray[np.float32] | FourBitTable":
    kind, count, data = entry
    match kind, shape:
        case int(kind), (rows, columns) if kind == _FOUR_BIT and count == rows * columns:
            return parse_four_bit_table(data, rows, columns)
        case int(kind), _ if kind == _FLOATS and len(data) == 4 * count:
            values = np.frombuffer(data, "<f4")
            if count == prod(shape) and np.isfinite(values).all():
                return values.reshape(shape)
    raise ValueError(f"a tensor of the model file is damaged: {name}")
