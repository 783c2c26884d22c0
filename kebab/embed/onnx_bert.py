"""Builds the ONNX graph of a BERT encoder from its weights, and reads weights of the format E5S1.

The graph is written out here because exporting it any other way needs torch.
Source of the architecture: Devlin et al., 2018, https://arxiv.org/abs/1810.04805.

A file of the format E5S1 has 4-bit weights and a unigram vocabulary. All numbers are little-endian:
a header, the pieces with their scores, the replacements of the normalisation, a directory of
tensors, then the tensors. Every length is checked before it is used.
"""

import struct
import unicodedata
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from msgspec import Struct

from kebab.embed.onnx_file import FLOAT, INT64, Described, Node, OnnxModel, build_model, build_node

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK_VALUES = 32
PACKED_BYTES = BLOCK_VALUES // 2
BLOCK_BYTES = 2 + PACKED_BYTES
CENTRE = 8
"""What is subtracted from a nibble, so that its value lies between -8 and 7."""


class FourBitTable(Struct, frozen=True):
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


Weight: TypeAlias = "NDArray[np.generic] | FourBitTable"
"""A tensor of the encoder: plain numbers, or a matrix of 4-bit numbers."""

_MASKED = -10_000.0  # added to the score of a padded position; far below any real score


class _Encoder:
    """The nodes and constants of an encoder, added one layer after the other."""

    def __init__(self, weights: "Mapping[str, Weight]", heads: int, epsilon: float) -> None:
        self._weights = weights
        self._heads = heads
        self._epsilon = epsilon
        self.hidden = int(weights["embeddings.word_embeddings.weight"].shape[1])
        self.nodes: list[Node] = []
        self.constants: dict[str, NDArray[Any]] = {}

    def add(self, operator: str, name: str, *inputs: str, **attributes: Any) -> str:
        """Add a node and return the name of its output."""
        self.nodes.append(build_node(operator, inputs, [name], **attributes))
        return name

    def add_constant(self, name: str, value: "NDArray[Any]") -> str:
        self.constants[name] = value
        return name

    def _add_weight(self, name: str, *, transposed: bool = False) -> str:
        weight = self._weights[name]
        whole = weight.to_float() if isinstance(weight, FourBitTable) else weight
        matrix = whole.astype(np.float32)
        return self.add_constant(name, matrix.T if transposed else matrix)

    def _add_lookup(self, name: str, ids: str) -> str:
        """Look up rows; a table of 4-bit numbers is stored as it is, and only rows are decoded."""
        table = self._weights[f"{name}.weight"]
        if isinstance(table, FourBitTable):
            add, constant = self.add, self.add_constant
            packed = add("Gather", f"{name}.packed", constant(f"{name}.nibbles", table.packed), ids)
            pairs = add("Cast", f"{name}.pairs", packed, to=FLOAT)
            base = constant("nibble_base", np.array(16, np.float32))
            high = add("Floor", f"{name}.high", add("Div", f"{name}.shifted", pairs, base))
            low = add("Sub", f"{name}.low", pairs, add("Mul", f"{name}.cleared", high, base))
            nibbles = add("Concat", f"{name}.values", low, high, axis=-1)
            centre = constant("nibble_centre", np.array(CENTRE, np.float32))
            centred = add("Sub", f"{name}.centred", nibbles, centre)
            last = constant("last_axis", np.array([-1], np.int64))
            scales = add("Gather", f"{name}.halves", constant(f"{name}.scales", table.scales), ids)
            scale = add("Cast", f"{name}.scale", scales, to=FLOAT)
            wide = add("Unsqueeze", f"{name}.wide", scale, last)
            flat = constant("flat", np.array([0, 0, self.hidden], np.int64))
            return add("Reshape", f"{name}.rows", add("Mul", f"{name}.scaled", centred, wide), flat)
        return self.add("Gather", f"{name}.rows", self._add_weight(f"{name}.weight"), ids)

    def _add_linear(self, name: str, value: str) -> str:
        """Multiply by a weight matrix, stored as (out, in), and add its bias."""
        weight = self._add_weight(f"{name}.weight", transposed=True)
        product = self.add("MatMul", f"{name}.product", value, weight)
        return self.add("Add", f"{name}.sum", product, self._add_weight(f"{name}.bias"))

    def _add_norm(self, name: str, value: str) -> str:
        scale, bias = self._add_weight(f"{name}.weight"), self._add_weight(f"{name}.bias")
        kind, output, epsilon = "LayerNormalization", f"{name}.norm", self._epsilon
        return self.add(kind, output, value, scale, bias, axis=-1, epsilon=epsilon)

    def _add_split(self, name: str, value: str, order: list[int]) -> str:
        """Split the hidden axis into heads and order the axes."""
        shape = np.array([0, 0, self._heads, self.hidden // self._heads], np.int64)
        sizes = self.add_constant("heads", shape)
        split = self.add("Reshape", f"{name}.split", value, sizes)
        return self.add("Transpose", f"{name}.heads", split, perm=order)

    def add_embeddings(self) -> str:
        """Sum the embeddings of word, position and segment."""
        add = self.add
        words = self._add_lookup("embeddings.word_embeddings", "input_ids")
        segments = self._add_lookup("embeddings.token_type_embeddings", "token_type_ids")
        both = add("Add", "embeddings.word_segment", words, segments)
        table = self._add_weight("embeddings.position_embeddings.weight")
        first = self.add_constant("first", np.array([0], np.int64))
        length = self.add("Shape", "length", "input_ids", start=1, end=2)
        positions = add("Slice", "embeddings.positions", table, first, length, first)
        summed = add("Add", "embeddings.sum", both, positions)
        return self._add_norm("embeddings.LayerNorm", summed)

    def add_mask(self) -> str:
        """Turn the attention mask into what is added to scores: zero, or far below."""
        add = self.add
        axes = self.add_constant("mask_axes", np.array([1, 2], np.int64))
        wide = add("Unsqueeze", "mask.wide", "attention_mask", axes)
        real = add("Cast", "mask.real", wide, to=FLOAT)
        one = self.add_constant("mask_one", np.array(1.0, np.float32))
        far = self.add_constant("mask_far", np.array(_MASKED, np.float32))
        return add("Mul", "mask.added", add("Sub", "mask.padded", one, real), far)

    def add_layer(self, index: int, value: str, mask: str) -> str:
        """Add one layer: attention, then the feed-forward part."""
        prefix = f"encoder.layer.{index}"
        add, name = self.add, f"{prefix}.attention"
        query = self._add_linear(f"{name}.self.query", value)
        key = self._add_linear(f"{name}.self.key", value)
        content = self._add_linear(f"{name}.self.value", value)
        query = self._add_split(f"{name}.self.query", query, [0, 2, 1, 3])
        key = self._add_split(f"{name}.self.key", key, [0, 2, 3, 1])
        content = self._add_split(f"{name}.self.value", content, [0, 2, 1, 3])
        root = np.sqrt(self.hidden / self._heads)
        scale = self.add_constant("scale", np.array(root, np.float32))
        scores = add("Div", f"{name}.scaled", add("MatMul", f"{name}.scores", query, key), scale)
        shares = add(
            "Softmax", f"{name}.shares", add("Add", f"{name}.masked", scores, mask), axis=-1
        )
        mixed = add("MatMul", f"{name}.mixed", shares, content)
        joined = add("Transpose", f"{name}.joined", mixed, perm=[0, 2, 1, 3])
        sizes = self.add_constant("flat", np.array([0, 0, self.hidden], np.int64))
        dense = self._add_linear(
            f"{name}.output.dense", add("Reshape", f"{name}.flat", joined, sizes)
        )
        attended = self._add_norm(
            f"{name}.output.LayerNorm", add("Add", f"{name}.residual", dense, value)
        )
        wide = self._add_linear(f"{prefix}.intermediate.dense", attended)
        active = self.add("Gelu", f"{prefix}.gelu", wide)
        narrow = self._add_linear(f"{prefix}.output.dense", active)
        summed = self.add("Add", f"{prefix}.residual", narrow, attended)
        return self._add_norm(f"{prefix}.output.LayerNorm", summed)


def build_graph(
    weights: "Mapping[str, Weight]", *, heads: int = 12, epsilon: float = 1e-12
) -> OnnxModel:
    """Return the ONNX model of the encoder.

    `heads` and the `epsilon` of layer normalisation are those of BERT's base size by default.
    Inputs `input_ids`, `attention_mask` and `token_type_ids` are int64 of shape (batch, length);
    the output `last_hidden_state` is float32 of shape (batch, length, hidden).

    Raises:
        KeyError: A weight is missing.
    """
    encoder = _Encoder(weights, heads, epsilon)
    mask, value = encoder.add_mask(), encoder.add_embeddings()
    layers = sum(name.endswith(".intermediate.dense.weight") for name in weights)
    for index in range(layers):
        value = encoder.add_layer(index, value, mask)
    encoder.add("Identity", "last_hidden_state", value)
    hidden: Described = (FLOAT, ["batch", "length", encoder.hidden])
    names = ("input_ids", "attention_mask", "token_type_ids")
    return build_model(
        encoder.nodes,
        encoder.constants,
        inputs={name: (INT64, ["batch", "length"]) for name in names},
        outputs={"last_hidden_state": hidden},
        # The runtime cannot tell the length of a slice; with it, it fuses more operators.
        values={"embeddings.sum": hidden},
    )


class UnigramVocabulary(Struct, frozen=True, kw_only=True):
    """Pieces with their log probabilities, the special pieces, and the normalisation.

    `replacements` says what the normalisation makes of a character; an empty text drops it.
    """

    pieces: Sequence[tuple[str, float]]
    start: str
    end: str
    unknown: str
    replacements: Mapping[str, str]


def build_tokenizer(vocabulary: UnigramVocabulary) -> Any:
    """Return a `tokenizers.Tokenizer` that frames a text in the start and end pieces.

    Raises:
        ValueError: The normalisation does more than NFKC, dropping characters, and spaces.
    """
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

    ids = {piece: number for number, (piece, _) in enumerate(vocabulary.pieces)}
    unknown = ids[vocabulary.unknown]
    tokenizer = Tokenizer(models.Unigram(list(vocabulary.pieces), unknown))
    special: dict[str, list[str]] = {"": [], " ": []}
    for character, text in vocabulary.replacements.items():
        if text != unicodedata.normalize("NFKC", character):
            if text not in special:
                raise ValueError("the normalisation of the model file is not NFKC")
            special[text].append(f"\\x{{{ord(character):x}}}")
    steps = [
        normalizers.Replace(Regex(f"[{''.join(sorted(characters))}]"), text)
        for text, characters in special.items()
        if characters
    ]
    spaces = normalizers.Replace(Regex(" {2,}"), " ")
    tokenizer.normalizer = normalizers.Sequence(
        [*steps, normalizers.NFKC(), spaces, normalizers.Strip()]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{vocabulary.start} $A {vocabulary.end}",
        special_tokens=[(piece, ids[piece]) for piece in (vocabulary.start, vocabulary.end)],
    )
    return tokenizer


_MAGIC, _VERSION = b"E5S1", 1
_FLOATS, _FOUR_BIT = 0, 1
_LARGEST_SIZE = 1 << 20
"""More than any count of the header can be; it keeps a damaged count from taking all memory."""


class E5S1Model(Struct, frozen=True):
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
    counts = reader.read("7i")
    hidden, layers, heads, feed_forward, rows, positions, segments = counts
    epsilon, block = reader.read("fi")
    is_sound = all(0 < count <= _LARGEST_SIZE for count in counts) and hidden % heads == 0
    if not is_sound or not 0 < epsilon < 1 or block != BLOCK_VALUES:
        raise ValueError("the header of the model file is damaged")
    vocabulary = _read_vocabulary(reader, rows)

    tensors: dict[str, tuple[int, int, memoryview]] = {}
    (count,) = reader.read("i")
    for _ in range(count):
        (length,) = reader.read("H")
        name = bytes(reader.read_bytes(length)).decode("utf-8")
        kind, values, start, size = reader.read("BIQQ")
        tensors[name] = (kind, values, reader.slice(start, size))
    expected = {
        "emb.word": ("embeddings.word_embeddings.weight", (rows, hidden)),
        "emb.pos": ("embeddings.position_embeddings.weight", (positions, hidden)),
        "emb.type": ("embeddings.token_type_embeddings.weight", (segments, hidden)),
        "emb.ln.w": ("embeddings.LayerNorm.weight", (hidden,)),
        "emb.ln.b": ("embeddings.LayerNorm.bias", (hidden,)),
    }
    for index in range(layers):
        expected |= _list_layer_tensors(index, hidden, feed_forward)
    if expected.keys() != tensors.keys():
        raise ValueError("the model file does not have the tensors of its header")
    weights = {
        full: _parse_tensor(name, tensors[name], shape) for name, (full, shape) in expected.items()
    }
    return E5S1Model(heads, epsilon, vocabulary, weights)


class _Reader:
    """Reads values one after the other; none may lie behind the end of the file."""

    def __init__(self, data: memoryview) -> None:
        self._data = data
        self._position = 0

    @property
    def has_more(self) -> bool:
        return self._position < len(self._data)

    def read(self, layout: str) -> tuple[Any, ...]:
        """Return the next values of a `struct` layout."""
        layout = f"<{layout}"
        return struct.unpack(layout, self.read_bytes(struct.calcsize(layout)))

    def read_bytes(self, count: int) -> memoryview:
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


def _read_vocabulary(reader: _Reader, rows: int) -> UnigramVocabulary:
    """Read pieces, scores, special ids and replacements; each piece has a row of embeddings."""
    count, *ids = reader.read("5i")
    (size,) = reader.read("Q")
    if not 0 < count <= rows or not all(0 <= each < count for each in ids):
        raise ValueError("the vocabulary of the model file is damaged")
    offsets = reader.read_array("<u4", count + 1).tolist()
    scores = reader.read_array("<f4", count)
    blob = bytes(reader.read_bytes(size))
    if offsets[0] != 0 or offsets[-1] != len(blob) or sorted(offsets) != offsets:
        raise ValueError("the vocabulary of the model file is damaged")
    pieces = [blob[start:end].decode("utf-8") for start, end in pairwise(offsets)]
    if not np.isfinite(scores).all() or len(set(pieces)) != count:
        raise ValueError("the vocabulary of the model file is damaged")

    count, size = reader.read("iI")
    part = _Reader(reader.read_bytes(size))
    replacements = {}
    try:
        for _ in range(count):
            code, length = part.read("IB")
            replacements[chr(code)] = "".join(map(chr, part.read(f"{length}I")))
    except (ValueError, OverflowError) as error:
        raise ValueError("the normalisation of the model file is damaged") from error
    if len(replacements) != count or part.has_more:
        raise ValueError("the normalisation of the model file is damaged")
    start, end, _padding, unknown = (pieces[each] for each in ids)
    return UnigramVocabulary(
        pieces=list(zip(pieces, scores.tolist(), strict=True)),
        start=start,
        end=end,
        unknown=unknown,
        replacements=replacements,
    )


def _list_layer_tensors(
    index: int, hidden: int, feed_forward: int
) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Return the full name and the shape of each tensor of a layer by its name in the file."""
    parts: dict[str, tuple[str, tuple[int, ...]]] = {
        "q": ("attention.self.query", (hidden, hidden)),
        "k": ("attention.self.key", (hidden, hidden)),
        "v": ("attention.self.value", (hidden, hidden)),
        "ao": ("attention.output.dense", (hidden, hidden)),
        "fi": ("intermediate.dense", (feed_forward, hidden)),
        "fo": ("output.dense", (hidden, feed_forward)),
        "aln": ("attention.output.LayerNorm", (hidden,)),
        "oln": ("output.LayerNorm", (hidden,)),
    }
    full = f"encoder.layer.{index}"
    found = {}
    for name, (part, shape) in parts.items():
        found[f"l{index}.{name}.w"] = (f"{full}.{part}.weight", shape)
        found[f"l{index}.{name}.b"] = (f"{full}.{part}.bias", shape[:1])
    return found


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
