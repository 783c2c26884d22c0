import math

import pytest

from kebab.embed.install import SPEED_TEXTS, choose_precision, measure_speed
from tests.fakes.embedder import HashingEmbedder


@pytest.mark.parametrize(
    ("rates", "kept"),
    [
        ({"int8": 100.0, "fp32": 40.0}, "int8"),
        ({"int8": 100.0, "fp32": 100.0}, "int8"),
        ({"int8": 100.0, "fp32": 124.9}, "int8"),
        ({"int8": 100.0, "fp32": 125.0}, "fp32"),
        ({"int8": 100.0, "fp32": 300.0}, "fp32"),
        ({"fp32": 300.0}, "int8"),
        ({}, "int8"),
    ],
)
def test_full_precision_must_be_clearly_faster(rates, kept):
    assert choose_precision(rates) == kept


class Listening(HashingEmbedder):
    """Writes down who was asked for what."""

    def __init__(self, name, asked):
        super().__init__()
        self.name = name
        self.asked = asked

    def prepare(self):
        """Do nothing: nothing has to be loaded."""

    def embed_query(self, text):
        self.asked.append((self.name, text))
        return super().embed_query(text)


def test_embedders_take_turns_on_the_same_texts_after_warming_up():
    asked: list[tuple[str, str]] = []

    measure_speed({name: Listening(name, asked) for name in ("int8", "fp32")})

    warm, turns = asked[:2], asked[2:]
    assert warm == [("int8", SPEED_TEXTS[0]), ("fp32", SPEED_TEXTS[0])]
    each = [[(name, text) for text in SPEED_TEXTS] for name in ("int8", "fp32")]
    once = [*each[0], *each[1]]
    assert turns == once * (len(turns) // len(once))
    assert turns


def test_each_gets_a_rate():
    rates = measure_speed({"int8": HashingEmbedder(), "fp32": HashingEmbedder()})

    assert rates.keys() == {"int8", "fp32"}
    assert all(0 < rate < math.inf for rate in rates.values())
