"""Writes the file of a tiny model of random weights that can embed and not chat."""

import struct
from pathlib import Path
from typing import Any

import numpy as np

_WIDTH, _INNER, _POSITIONS = 32, 64, 128
_WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqrstuvwxyz")
_UINT32, _FLOAT32, _BOOL, _STRING, _ARRAY, _INT32 = 4, 6, 7, 8, 9, 5
_ALIGNMENT = 32


def write_embedding_model(path: Path) -> Path:
    """Write a BERT model of one layer in the format GGUF, and return its path."""
    random = np.random.default_rng(7)
    tensors = {
        name: random.normal(0, 0.05, shape).astype("<f4") for name, shape in _list_shapes().items()
    }
    facts = _list_facts()
    head = struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(facts))
    head += b"".join(_pack_text(name) + value for name, value in facts.items())
    offset = 0
    for name, tensor in tensors.items():
        shape = tensor.shape[::-1]
        head += _pack_text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, offset)
        offset += tensor.nbytes + -tensor.nbytes % _ALIGNMENT
    head += b"\0" * (-len(head) % _ALIGNMENT)
    data = (tensor.tobytes() + b"\0" * (-tensor.nbytes % _ALIGNMENT) for tensor in tensors.values())
    path.write_bytes(head + b"".join(data))
    return path


def _list_shapes() -> dict[str, tuple[int, ...]]:
    square, vector = (_WIDTH, _WIDTH), (_WIDTH,)
    layer: dict[str, tuple[int, ...]] = {
        **{f"attn_{name}.weight": square for name in ("q", "k", "v", "output")},
        **{f"attn_{name}.bias": vector for name in ("q", "k", "v", "output")},
        "ffn_up.weight": (_INNER, _WIDTH),
        "ffn_up.bias": (_INNER,),
        "ffn_down.weight": (_WIDTH, _INNER),
        "ffn_down.bias": vector,
    }
    for norm in ("attn_output_norm", "layer_output_norm"):
        layer |= {f"{norm}.weight": vector, f"{norm}.bias": vector}
    return {
        "token_embd.weight": (len(_WORDS), _WIDTH),
        "position_embd.weight": (_POSITIONS, _WIDTH),
        "token_types.weight": (2, _WIDTH),
        "token_embd_norm.weight": vector,
        "token_embd_norm.bias": vector,
        **{f"blk.0.{name}": shape for name, shape in layer.items()},
    }


def _list_facts() -> dict[str, bytes]:
    numbers = {
        "bert.context_length": _POSITIONS,
        "bert.embedding_length": _WIDTH,
        "bert.feed_forward_length": _INNER,
        "bert.block_count": 1,
        "bert.attention.head_count": 2,
        "bert.pooling_type": 1,
        "tokenizer.ggml.token_type_count": 2,
        "tokenizer.ggml.padding_token_id": 0,
        "tokenizer.ggml.unknown_token_id": 1,
        "tokenizer.ggml.bos_token_id": 2,
        "tokenizer.ggml.seperator_token_id": 3,
        "tokenizer.ggml.mask_token_id": 4,
    }
    types = [3] * 5 + [1] * (len(_WORDS) - 5)
    return {
        "general.architecture": _pack_value(_STRING, "bert"),
        "tokenizer.ggml.model": _pack_value(_STRING, "bert"),
        "tokenizer.ggml.tokens": _pack_array(_STRING, list(_WORDS)),
        "tokenizer.ggml.token_type": _pack_array(_INT32, types),
        "bert.attention.layer_norm_epsilon": _pack_value(_FLOAT32, 1e-12),
        "bert.attention.causal": _pack_value(_BOOL, value=False),
        **{name: _pack_value(_UINT32, number) for name, number in numbers.items()},
    }


def _pack_text(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def _pack_array(kind: int, values: list[Any]) -> bytes:
    items = b"".join(_pack_plain(kind, value) for value in values)
    return struct.pack("<IIQ", _ARRAY, kind, len(values)) + items


def _pack_value(kind: int, value: Any) -> bytes:
    return struct.pack("<I", kind) + _pack_plain(kind, value)


def _pack_plain(kind: int, value: Any) -> bytes:
    if kind == _STRING:
        return _pack_text(value)
    return struct.pack({_UINT32: "<I", _INT32: "<i", _FLOAT32: "<f", _BOOL: "<?"}[kind], value)
