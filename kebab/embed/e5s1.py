"""Reads the weights and the vocabulary of multilingual-e5-small in the format E5S1.

All numbers are little-endian: a header, the pieces with their scores, the replacements of the
normalisation, a directory of tensors, then the tensors. The file is compared with its pinned hash
before it is read, so its contents are not checked again.
"""

import struct
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from kebab.embed.bert_graph import BLOCK_VALUES, SCALES, WORDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAGIC, _VERSION = b"E5S1", 1
_FOUR_BIT = 1
_BLOCK_BYTES = 2 + BLOCK_VALUES // 2
_EMBEDDINGS = {
    "emb.word": WORDS,
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}
_LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "aln": "attention.output.LayerNorm",
    "oln": "output.LayerNorm",
}
"""The names of sentence-transformers for the short ones of the file."""


class E5S1Model(Struct, frozen=True):
    """The contents of a file: a `tokenizers.Tokenizer` and the weights."""

    heads: int
    epsilon: float
    tokenizer: Any
    weights: "dict[str, NDArray[Any]]"


def parse_e5s1(data: bytes) -> E5S1Model:
    """Return the model in these bytes.

    Raises:
        ValueError: The bytes are not such a file.
    """
    reader = _Reader(data)
    if reader.read("4sI") != (_MAGIC, _VERSION):
        raise ValueError("the model file is not in the format E5S1, version 1")
    hidden, _, heads, feed_forward, *_ = reader.read("7i")
    epsilon, _ = reader.read("fi")
    tokenizer = _read_tokenizer(reader)
    weights: dict[str, NDArray[Any]] = {}
    (count,) = reader.read("i")
    for _ in range(count):
        name = reader.read_bytes(*reader.read("H")).decode()
        kind, _, start, size = reader.read("BIQQ")
        raw = data[start : start + size]
        if kind == _FOUR_BIT:
            columns = feed_forward if name.endswith(".fo.w") else hidden
            numbers, scales = read_blocks(raw, columns)
            if name == "emb.word":
                nibbles = numbers.view(np.uint8).reshape(len(numbers), -1) & 15
                weights |= {WORDS: nibbles[:, ::2] | nibbles[:, 1::2] << 4, SCALES: scales}
            else:
                matrix = (numbers * scales[..., None]).reshape(len(numbers), columns)
                weights[_expand_name(name)] = matrix
        else:
            shape = (-1, hidden) if name in {"emb.pos", "emb.type"} else (-1,)
            weights[_expand_name(name)] = np.frombuffer(raw, "<f4").reshape(shape)
    return E5S1Model(heads, epsilon, tokenizer, weights)


def _expand_name(name: str) -> str:
    """Return the full name of a tensor, e.g. of `l0.q.w`."""
    if name in _EMBEDDINGS:
        return _EMBEDDINGS[name]
    layer, part, kind = name.split(".")
    return f"encoder.layer.{layer[1:]}.{_LAYER[part]}.{'weight' if kind == 'w' else 'bias'}"


def read_blocks(data: bytes, columns: int) -> "tuple[NDArray[np.int8], NDArray[np.float32]]":
    """Return the numbers of a matrix, shape (rows, blocks, 32), and the scale of each block.

    A block is a float16 scale and 16 bytes: their low bits are the first 16 numbers of the block,
    the high bits the other 16. Each is stored with 8 added.
    """
    blocks = np.frombuffer(data, np.uint8).reshape(-1, columns // BLOCK_VALUES, _BLOCK_BYTES)
    scales = np.ascontiguousarray(blocks[..., :2]).view("<f2")[..., 0].astype(np.float32)
    numbers = np.concatenate([blocks[..., 2:] & 15, blocks[..., 2:] >> 4], axis=-1)
    return numbers.view(np.int8) - np.int8(8), scales


class _Reader:
    """Reads values one after the other."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def read(self, layout: str) -> tuple[Any, ...]:
        """Return the next values of a `struct` layout."""
        return struct.unpack(f"<{layout}", self.read_bytes(struct.calcsize(f"<{layout}")))

    def read_bytes(self, count: int) -> bytes:
        """Return the next bytes."""
        self._position += count
        return self._data[self._position - count : self._position]


def _read_tokenizer(reader: _Reader) -> Any:
    """Return a tokenizer that frames a text in the start and end pieces."""
    count, *ids = reader.read("5i")
    (size,) = reader.read("Q")
    offsets = reader.read(f"{count + 1}I")
    scores = reader.read(f"{count}f")
    blob = reader.read_bytes(size)
    pieces = [blob[start:end].decode() for start, end in pairwise(offsets)]
    _, size = reader.read("iI")
    reader.read_bytes(size)  # the replacements of `Nmt` and NFKC

    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

    start, end, _, unknown = ids
    tokenizer = Tokenizer(models.Unigram(list(zip(pieces, scores, strict=True)), unknown))
    spaces = normalizers.Replace(Regex(" {2,}"), " ")
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Nmt(), normalizers.NFKC(), spaces, normalizers.Strip()]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{pieces[start]} $A {pieces[end]}",
        special_tokens=[(pieces[number], number) for number in (start, end)],
    )
    return tokenizer
