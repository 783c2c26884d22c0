import json
from pathlib import Path

import pytest

from kebab.text.model_input import estimate_tokens

CASES = json.loads(
    (Path(__file__).parents[2] / "cases" / "model-tokens.json").read_text(encoding="utf-8")
)
"""Texts, and how many tokens they are to the costlier of two tokenizers of language models."""

DEAR = {"arabic": 2.2, "russian": 1.7, "tamil": 2.3, "thai": 2.8, "vietnamese": 2.3}
"""How far above the estimate may be where tokenizers differ from each other by as much."""


@pytest.mark.parametrize("name", CASES)
def test_the_estimate_is_seldom_below_the_count_of_tokenizers_and_never_far_above(name):
    text, counted = CASES[name]["text"], CASES[name]["tokens"]

    assert counted <= estimate_tokens(text) <= counted * DEAR.get(name, 1.5)


def test_an_empty_text_has_no_tokens():
    assert estimate_tokens("") == 0


@pytest.mark.parametrize(
    "sign", ["a", "7", "-", "가", "の", "漢", "Ж", "ก", "\x00", "😀", "\ud800"]
)
def test_every_kind_of_character_costs_and_ten_times_as_many_cost_ten_times_as_much(sign):
    few, many = estimate_tokens(sign * 1_000), estimate_tokens(sign * 10_000)

    assert few >= 200
    assert many == pytest.approx(10 * few, rel=0.02)


def test_korean_costs_more_than_as_many_characters_of_english():
    assert estimate_tokens("열펌프의 성능계수") > 2 * estimate_tokens("heat pump")


@pytest.mark.parametrize(
    ("letters", "cost"),
    [(1, 1.1), (5, 1.1), (6, 1.35), (9, 2.1), (10, 2.35), (11, 2.8), (12, 3.25)],
)
def test_a_word_costs_more_from_its_sixth_letter_and_again_from_its_eleventh(letters, cost):
    assert estimate_tokens(f"{'a' * letters} " * 1_000) == pytest.approx(1_000 * cost, abs=1)


def test_long_words_cost_more_than_short_ones_of_as_many_letters():
    assert estimate_tokens("Wohnungsbaugenossenschaft") > estimate_tokens(
        "the house by the old lake"
    )
