"""A tiny model file in the format E5S1, with few pieces and random 4-bit weights."""

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

HIDDEN, LAYERS, HEADS, WIDE, POSITIONS = 384, 1, 12, 32, 512
EPSILON = 1e-12
PIECES = {
    "<s>": 0.0,
    "<pad>": 0.0,
    "</s>": 0.0,
    "<unk>": 0.0,
    "▁": -4.0,
    "▁the": -3.0,
    "▁cat": -5.0,
    "▁sleeps": -6.0,
    "s": -7.0,
    "the": -6.5,
    "▁food": -6.0,
    "한국": -8.0,
    "▁query": -5.0,
    "▁A": -5.0,
    "▁man": -5.0,
    "▁is": -4.5,
    "▁eating": -5.5,
    "▁piece": -6.0,
    "▁of": -4.0,
    "▁bread": -6.0,
    ".": -3.5,
    ":": -3.5,
}
REPLACEMENTS = {"\t": " ", "\x07": "", "\u200b": " ", "\ufb01": "fi", "Ａ": "A"}


def pack_four_bit(values: np.ndarray) -> bytes:
    """Return a matrix in blocks of 32 values: a float16 scale and 16 bytes of nibbles."""
    blocks = values.astype(np.float32).reshape(-1, 32)
    scales = (np.abs(blocks).max(axis=1, keepdims=True) / 7 + 1e-8).astype("<f2")
    nibbles = np.clip(np.round(blocks / scales.astype(np.float32)) + 8, 0, 15).astype(np.uint8)
    packed = nibbles[:, :16] | nibbles[:, 16:] << 4
    return np.concatenate([scales.view(np.uint8), packed], axis=1).tobytes()


def build_tensors(seed: int = 0) -> dict[str, tuple[int, int, bytes]]:
    """Return type, count and bytes of every tensor by its name."""
    chance = np.random.default_rng(seed)
    found: dict[str, tuple[int, int, bytes]] = {}

    def add_matrix(name: str, rows: int, columns: int, scale: float = 0.05) -> None:
        values = chance.standard_normal((rows, columns)) * scale
        found[name] = (1, values.size, pack_four_bit(values))

    def add_floats(name: str, values: np.ndarray) -> None:
        found[name] = (0, values.size, values.astype("<f4").tobytes())

    def add_norm(name: str) -> None:
        add_floats(f"{name}.w", np.ones(HIDDEN))
        add_floats(f"{name}.b", np.zeros(HIDDEN))

    add_matrix("emb.word", len(PIECES) + 2, HIDDEN, scale=1.0)
    add_floats("emb.pos", chance.standard_normal((POSITIONS, HIDDEN)) * 0.05)
    add_floats("emb.type", np.zeros((1, HIDDEN)))
    add_norm("emb.ln")
    sizes = dict.fromkeys(("q", "k", "v", "ao"), (HIDDEN, HIDDEN))
    for name, (rows, columns) in (sizes | {"fi": (WIDE, HIDDEN), "fo": (HIDDEN, WIDE)}).items():
        add_matrix(f"l0.{name}.w", rows, columns)
        add_floats(f"l0.{name}.b", chance.standard_normal(rows) * 0.05)
    add_norm("l0.aln")
    add_norm("l0.oln")
    return found


@dataclass(frozen=True, kw_only=True)
class E5S1Contents:
    """What a file holds; a test replaces a part to damage it."""

    magic: bytes = b"E5S1"
    version: int = 1
    counts: tuple[int, ...] = (HIDDEN, LAYERS, HEADS, WIDE, len(PIECES) + 2, POSITIONS, 1)
    epsilon: float = EPSILON
    block: int = 32
    pieces: Mapping[str, float] = field(default_factory=lambda: PIECES)
    ids: tuple[int, int, int, int] = (0, 2, 1, 3)
    replacements: Mapping[str, str] = field(default_factory=lambda: REPLACEMENTS)
    tensors: Mapping[str, tuple[int, int, bytes]] = field(default_factory=build_tensors)

    def to_bytes(self) -> bytes:
        """Return the file."""
        encoded = [piece.encode() for piece in self.pieces]
        offsets = np.cumsum([0, *map(len, encoded)]).astype("<u4").tobytes()
        scores = np.array(list(self.pieces.values()), "<f4").tobytes()
        blob = b"".join(encoded)
        table = b"".join(
            struct.pack(f"<IB{len(text)}I", ord(character), len(text), *map(ord, text))
            for character, text in self.replacements.items()
        )
        sizes = (*self.counts, self.epsilon, self.block)
        head = b"".join(
            [
                struct.pack("<4sI7ifi", self.magic, self.version, *sizes),
                struct.pack("<5iQ", len(encoded), *self.ids, len(blob)),
                offsets,
                scores,
                blob,
                struct.pack("<iI", len(self.replacements), len(table)),
                table,
            ]
        )
        names = {name: name.encode() for name in self.tensors}
        size = 4 + sum(2 + len(name) + 21 for name in names.values())
        start, directory, body = len(head) + size, struct.pack("<i", len(names)), b""
        for name, (kind, count, data) in self.tensors.items():
            entry = struct.pack("<BIQQ", kind, count, start + len(body), len(data))
            directory += struct.pack("<H", len(names[name])) + names[name] + entry
            body += data
        return head + directory + body
