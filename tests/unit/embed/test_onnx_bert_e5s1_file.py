import random
from dataclasses import replace

import pytest

from kebab.embed.onnx_bert import parse_e5s1
from tests.fakes.e5s1 import EPSILON, HEADS, PIECES, REPLACEMENTS, E5S1Contents

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


DAMAGED = {
    "magic": (replace(WHOLE, magic=b"E5S2"), "not in the format"),
    "version": (replace(WHOLE, version=2), "not in the format"),
    "block": (replace(WHOLE, block=64), "header"),
    "huge": (replace(WHOLE, counts=(384, 2**30, *WHOLE.counts[2:])), "header"),
    "more pieces than rows": (replace(WHOLE, counts=(*WHOLE.counts[:4], 3, 512, 1)), "vocabulary"),
    "negative id": (replace(WHOLE, ids=(0, 2, -1, 3)), "vocabulary"),
    "score": (replace(WHOLE, pieces={**PIECES, "▁the": float("nan")}), "vocabulary"),
    "another layer": (replace(WHOLE, counts=(384, 2, *WHOLE.counts[2:])), "tensors of its header"),
    "unknown tensor": (
        replace(WHOLE, tensors={**WHOLE.tensors, "x": (0, 1, b"0000")}),
        "tensors of its header",
    ),
    "tensor type": (change_tensor("emb.ln.w", kind=7), r"damaged: emb\.ln\.w"),
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
