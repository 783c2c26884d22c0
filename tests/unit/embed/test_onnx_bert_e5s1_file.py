import random
from dataclasses import replace

import numpy as np
import pytest

from kebab.embed.onnx_bert import FourBitTable, parse_e5s1
from tests.fakes.e5s1 import EPSILON, HEADS, HIDDEN, PIECES, REPLACEMENTS, E5S1Contents

WHOLE = E5S1Contents()


def change_tensor(name, kind=None, count=None, data=None):
    old = WHOLE.tensors[name]
    changed = (
        old[0] if kind is None else kind,
        old[1] if count is None else count,
        old[2] if data is None else data,
    )
    return replace(WHOLE, tensors={**WHOLE.tensors, name: changed})


def test_header_vocabulary_and_weights_are_read():
    model = parse_e5s1(WHOLE.to_bytes())

    assert model.heads == HEADS
    assert model.epsilon == pytest.approx(EPSILON)
    assert [piece for piece, _ in model.vocabulary.pieces] == list(PIECES)
    assert [score for _, score in model.vocabulary.pieces] == list(PIECES.values())
    assert (model.vocabulary.start, model.vocabulary.end) == ("<s>", "</s>")
    assert model.vocabulary.unknown == "<unk>"
    assert model.vocabulary.replacements == REPLACEMENTS


def test_weights_have_the_names_and_shapes_of_the_encoder():
    from tests.fakes import tiny_model

    weights = parse_e5s1(WHOLE.to_bytes()).weights
    expected = tiny_model.build_weights()

    assert weights.keys() == expected.keys()
    words = weights["embeddings.word_embeddings.weight"]
    assert isinstance(words, FourBitTable)
    assert words.shape == (len(PIECES) + 2, HIDDEN)
    others = [name for name in expected if name.startswith("encoder")]
    assert {name: weights[name].shape for name in others} == {
        name: expected[name].shape for name in others
    }


def test_floats_keep_their_values():
    weights = parse_e5s1(WHOLE.to_bytes()).weights
    stored = np.frombuffer(WHOLE.tensors["l0.fi.b"][2], "<f4")

    bias = weights["encoder.layer.0.intermediate.dense.bias"]

    assert not isinstance(bias, FourBitTable)
    assert np.array_equal(bias, stored)


NAN = np.full(HIDDEN, np.nan, "<f4").tobytes()

DAMAGED = {
    "magic": (replace(WHOLE, magic=b"E5S2"), "not in the format"),
    "version": (replace(WHOLE, version=2), "not in the format"),
    "block": (replace(WHOLE, block=64), "header"),
    "epsilon": (replace(WHOLE, epsilon=0.0), "header"),
    "heads": (replace(WHOLE, counts=(384, 1, 7, *WHOLE.counts[3:])), "header"),
    "negative": (replace(WHOLE, counts=(-384, *WHOLE.counts[1:])), "header"),
    "huge": (replace(WHOLE, counts=(384, 2**30, *WHOLE.counts[2:])), "header"),
    "more pieces than rows": (replace(WHOLE, counts=(*WHOLE.counts[:4], 3, 512, 1)), "vocabulary"),
    "id": (replace(WHOLE, ids=(0, 2, 1, 999)), "vocabulary"),
    "negative id": (replace(WHOLE, ids=(0, 2, -1, 3)), "vocabulary"),
    "score": (replace(WHOLE, pieces={**PIECES, "▁the": float("nan")}), "vocabulary"),
    "another layer": (replace(WHOLE, counts=(384, 2, *WHOLE.counts[2:])), "tensors of its header"),
    "unknown tensor": (
        replace(WHOLE, tensors={**WHOLE.tensors, "x": (0, 1, b"0000")}),
        "tensors of its header",
    ),
    "tensor type": (change_tensor("emb.ln.w", kind=7), r"damaged: emb\.ln\.w"),
    "tensor count": (change_tensor("emb.ln.w", count=1), r"damaged: emb\.ln\.w"),
    "tensor of no numbers": (change_tensor("emb.ln.w", data=NAN), r"damaged: emb\.ln\.w"),
    "vector of nibbles": (change_tensor("emb.ln.w", kind=1), r"damaged: emb\.ln\.w"),
    "short table": (change_tensor("l0.q.w", data=b"0" * 18), "wrong size"),
    "scale": (
        change_tensor("l0.fo.w", data=b"\xff" * len(WHOLE.tensors["l0.fo.w"][2])),
        "scale",
    ),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_refused_with_a_plain_reason(name):
    contents, reason = DAMAGED[name]

    with pytest.raises(ValueError, match=reason):
        parse_e5s1(contents.to_bytes())


def test_equal_pieces_are_refused():
    data = WHOLE.to_bytes().replace("▁food".encode(), "▁that".encode(), 1)
    other = data.replace("▁piece".encode(), "▁query".encode(), 1)
    parse_e5s1(data)

    with pytest.raises(ValueError, match="vocabulary"):
        parse_e5s1(other)


@pytest.mark.parametrize("part", [b"\xff\xff\x11\x00", b"\x07\x00\x00\x00"])
def test_a_damaged_normalisation_is_refused(part):
    table = "\t".encode("utf-32-le") + b"\x01"
    data = WHOLE.to_bytes()
    assert data.count(table) == 1

    with pytest.raises(ValueError, match="normalisation"):
        parse_e5s1(data.replace(table, part + b"\x09"))


def test_a_file_cut_anywhere_is_refused():
    data = WHOLE.to_bytes()
    chance = random.Random(1)
    for end in [0, 3, 4, 8, 40, 60, *(chance.randrange(len(data)) for _ in range(300)), -1]:
        with pytest.raises(ValueError, match=r"model file|4-bit"):
            parse_e5s1(data[:end])


def test_a_file_with_any_bit_turned_is_read_or_refused():
    data = WHOLE.to_bytes()
    head = len(data) - sum(len(tensor) for _, _, tensor in WHOLE.tensors.values())
    chance = random.Random(2)
    refused = 0
    for _ in range(600):
        position = chance.randrange(head)
        turned = data[position] ^ (1 << chance.randrange(8))
        try:
            parse_e5s1(data[:position] + bytes([turned]) + data[position + 1 :])
        except ValueError:
            refused += 1

    assert refused > 100
