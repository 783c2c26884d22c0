import json
from pathlib import Path

import pytest

from kebab.chunk import budget as module
from kebab.chunk.budget import estimate_tokens

# The counts are those of the tokenizer of all-MiniLM-L6-v2, special tokens left out.
CASES = json.loads((Path(__file__).parents[2] / "cases" / "tokens.json").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_estimate_is_an_upper_bound_that_is_not_absurd(case):
    (bound,) = estimate_tokens([case["text"]])
    assert case["tokens"] <= bound <= 2 * case["tokens"]


def test_two_letters_of_a_wide_script_count_as_one_token():
    assert estimate_tokens(["한글로 쓴 문서다", "日本語の文書", "中文文件"]) == [4, 3, 2]
    assert estimate_tokens(["документ"]) == [8]


def test_an_endless_word_counts_for_its_length():
    assert estimate_tokens(["x" * 3_000])[0] >= 1_000


def test_estimates_come_in_order():
    assert estimate_tokens(["a", "a b", "a b c"]) == [1, 2, 3]


def test_words_cost_the_same_wherever_they_stand():
    """What is remembered of a word is added up, so neither blanks nor order may count."""
    words = [
        "The",
        "notes",
        "of",
        "Ωmega",
        "(e.g.",
        "snake_case,",
        "1,024",
        "한글",
        "x" * 300,
        "a-b",
    ]
    for size in range(1, len(words) + 1):
        text = " ".join(words[:size])
        again = "\n\t ".join(reversed(words[:size]))
        assert (
            estimate_tokens([text]) == estimate_tokens([again]) == estimate_tokens([f"  {text}\n"])
        )


def test_all_words_decide_whether_a_text_is_english():
    assert estimate_tokens(["the distances of the ships"]) < estimate_tokens(
        ["las distances les los ships"]
    )


def test_more_words_than_are_remembered_change_nothing(monkeypatch):
    texts = [f"word{number} the Word{number}," for number in range(20)]
    expected = estimate_tokens(texts)
    monkeypatch.setattr(module, "_MAX_WORDS", 3)
    monkeypatch.setattr(module, "_FIGURES", module._FigureCache())

    assert estimate_tokens(texts) == expected
    assert len(module._FIGURES) <= 3
