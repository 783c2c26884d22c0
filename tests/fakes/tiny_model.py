"""A real model of few random weights: the same graph and layout, ready in milliseconds."""

import json
import struct
from pathlib import Path

import numpy as np

from kebab.embed import convert, registry
from kebab.embed.registry import EmbeddingModel

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
_TEXT = """
    a man is eating food piece of bread the cat sleeps on mat dog runs in park blue sky red apple
    search finds notes query passage : .
"""
WORDS = [*SPECIAL, *_TEXT.split()]
DIMENSION = 384
_WIDE = 32
_POSITIONS = 512


def build_weights(
    seed: int = 7, *, hidden: int = DIMENSION, positions: int = _POSITIONS
) -> dict[str, np.ndarray]:
    """Return random weights under the names that sentence-transformers uses."""
    chance = np.random.default_rng(seed)

    def matrix(*shape: int, scale: float = 0.05) -> np.ndarray:
        return (chance.standard_normal(shape) * scale).astype(np.float32)

    found = {
        "embeddings.word_embeddings.weight": matrix(len(WORDS), hidden, scale=1.0),
        "embeddings.position_embeddings.weight": matrix(positions, hidden),
        "embeddings.token_type_embeddings.weight": matrix(2, hidden),
    }
    norms, prefix = ["embeddings.LayerNorm"], "encoder.layer.0"
    linear = {f"attention.self.{name}": (hidden, hidden) for name in ("query", "key", "value")}
    linear |= {"attention.output.dense": (hidden, hidden)}
    linear |= {"intermediate.dense": (_WIDE, hidden), "output.dense": (hidden, _WIDE)}
    for name, shape in linear.items():
        found[f"{prefix}.{name}.weight"] = matrix(*shape)
        found[f"{prefix}.{name}.bias"] = matrix(shape[0])
    norms += [f"{prefix}.attention.output.LayerNorm", f"{prefix}.output.LayerNorm"]
    for name in norms:
        found[f"{name}.weight"] = np.ones(hidden, np.float32)
        found[f"{name}.bias"] = np.zeros(hidden, np.float32)
    return found


def build_safetensors(tensors: dict[str, np.ndarray]) -> bytes:
    """Return the tensors in the safetensors format."""
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    body = b""
    for name, tensor in tensors.items():
        raw = tensor.tobytes()
        offsets = [len(body), len(body) + len(raw)]
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": offsets}
        body += raw
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def build_tokenizer(*, padding: bool = False) -> str:
    """Return a word-level tokenizer in BERT's frame."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    vocabulary = {word: number for number, word in enumerate(WORDS)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    frame = [("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=frame
    )
    tokenizer.add_special_tokens(SPECIAL)
    if padding:
        tokenizer.enable_padding(length=16)
        tokenizer.enable_truncation(16)
    return str(tokenizer.to_str())


def build_onnx(seed: int = 7, *, hidden: int = DIMENSION, positions: int = _POSITIONS) -> bytes:
    """Return the model as an ONNX file."""
    found = build_weights(seed, hidden=hidden, positions=positions)
    data: bytes = convert.build_graph(found).SerializeToString()
    return data


def install_model(model: EmbeddingModel, models_dir: Path, *, seed: int = 7) -> Path:
    """Write a whole model directory in place of the real weights and return it.

    It has the dimension and at least the positions of the model.
    """
    directory = models_dir / model.version
    directory.mkdir(parents=True)
    positions = max(_POSITIONS, model.positions)
    graph = build_onnx(seed, hidden=model.dimension, positions=positions)
    (directory / registry.MODEL_FILE).write_bytes(graph)
    # Fixed padding and cutting in the file, as real ones have it: embedders must not obey them.
    (directory / registry.TOKENIZER_FILE).write_text(build_tokenizer(padding=True))
    config = {"model_max_length": model.positions, "pad_token": "[PAD]"}
    (directory / registry.TOKENIZER_CONFIG_FILE).write_text(json.dumps(config))
    manifest = registry.Manifest(
        embedding_version=model.version,
        source="tests",
        files={name: registry.read_file_facts(directory / name) for name in registry.FILES},
    )
    registry.write_manifest(directory, manifest)
    return directory
