import numpy as np
import onnx
import onnxruntime
import pytest

from kebab.embed.convert import SCALES, WORDS, build_graph
from tests.fakes import tiny_model

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


def test_the_graph_is_valid():
    onnx.checker.check_model(build_graph(tiny_model.build_weights()), full_check=True)


def encode(weights, ids, **facts):
    graph = build_graph(weights, **facts).SerializeToString()
    return run(onnxruntime.InferenceSession(graph), [ids], [[1] * len(ids)])[0]


def test_a_table_of_4_bit_numbers_gives_the_same_as_its_numbers():
    weights, chance = tiny_model.build_weights(), np.random.default_rng(1)
    rows, columns = weights[WORDS].shape
    numbers = chance.integers(-8, 8, (rows, columns), np.int8)
    scales = chance.random((rows, columns // 32), np.float32)
    nibbles = numbers.view(np.uint8) & 15
    packed = {WORDS: nibbles[:, ::2] | nibbles[:, 1::2] << 4, SCALES: scales}

    found = encode(weights | packed, [2, 5, 9, 3])
    expected = encode(weights | {WORDS: numbers * np.repeat(scales, 32, axis=1)}, [2, 5, 9, 3])

    assert np.allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("facts", [{"heads": 6}, {"epsilon": 0.1}])
def test_heads_and_epsilon_are_those_of_the_model(facts):
    weights = tiny_model.build_weights()

    assert not np.allclose(encode(weights, [2, 5, 3]), encode(weights, [2, 5, 3], **facts))
