import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.core.chunks import Key
from kebab.search.snippet import compute_coverage, cut_snippet, find_matches, weigh_keywords

FILLER = "Nothing of note is said in this sentence. " * 20


def _marked(snippet):
    return [snippet.text[start:end] for start, end in snippet.highlights]


def test_the_window_holds_the_densest_match_at_sentence_borders():
    text = f"{FILLER}Oil is mentioned. {FILLER}The oil embargo of 1973 began. {FILLER}"

    snippet = cut_snippet(text, {"oil": 1.0, "embargo": 3.0, "1973": 3.0}, 160)

    assert "The oil embargo of 1973 began." in snippet.text
    assert snippet.text[0].isupper()
    assert snippet.text.endswith(".")
    assert _marked(snippet) == ["oil", "embargo", "1973"]


def test_different_words_beat_one_that_is_repeated():
    text = f"Oil, oil, oil and oil. {FILLER}Oil has a price. {FILLER}"

    snippet = cut_snippet(text, {"oil": 3.0, "price": 1.0}, 60)

    assert _marked(snippet) == ["Oil", "price"]


def test_only_a_sentence_that_is_too_long_is_cut_and_between_words():
    text = "and so on and so forth " * 20 + "the needle lies here " + "and on and on " * 20

    snippet = cut_snippet(text, {"needl": 1.0}, 80)

    assert _marked(snippet) == ["needle"]
    assert f" {snippet.text} " in f" {text} "
    assert len(snippet.text) > 40


_TEXTS = st.text(st.sampled_from("ab oil. 서울역\n。👍e\u0301"), max_size=400)


@given(_TEXTS, st.integers(20, 120))
def test_a_snippet_is_verbatim_within_its_bound_and_marks_what_matches(text, chars):
    snippet = cut_snippet(text, {"oil": 2.0, "서울": 1.0, "b": 0.5}, chars)

    assert len(snippet.text) <= chars
    assert snippet.text in text
    last = 0
    for start, end in snippet.highlights:
        assert last <= start < end <= len(snippet.text)
        last = end


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"oil": 2.0}, {"oil": 2.0}),
        ({"배추": 2.0, "얼마": 2.0, "나요": 2.0}, {"배추": 2.0}),
        ({"大仏": 2.0, "です": 2.0, "たち": 2.0}, {"大仏": 2.0, "たち": 0.6}),
        ({"什么": 2.0}, {"什么": 2.0}),
        ({}, {}),
    ],
)
def test_question_words_have_no_weight_beside_others(asked, expected):
    assert weigh_keywords(asked) == pytest.approx(expected)


def test_coverage_does_not_require_all_bigrams():
    weights = {"배추": 1.0, "추는": 1.0, "오래": 1.0}
    assert compute_coverage(weights, {"배추"}) == pytest.approx(1 / 2.1)
    assert compute_coverage(weights, {"배추", "추는", "오래"}) == 1.0


_ONE, _TWO, _THREE, _GONE = Key(1), Key(2), Key(3), Key(9)


def mark_matches(text, *tokens):
    return [text[one.start : one.end] for one in find_matches(text, dict.fromkeys(tokens, 1.0))]


@pytest.mark.parametrize(
    ("text", "tokens", "marked"),
    [
        ("He connected two connections", ["connect"], ["connected", "connections"]),
        ("the snake_case name", ["snakecas"], ["snake_case"]),
        ("the snake_case name", ["case"], ["case"]),
        ("kube-apiserver runs", ["kube"], ["kube"]),
        ("서울역에서", ["울역"], ["울역"]),
        ("서울역에서", ["역"], ["역"]),
        ("서울 역", ["역"], ["역"]),
        ("ﾃﾞｰﾀを", ["デー"], ["ﾃﾞｰﾀ"]),
        ("un café noir", ["cafe"], ["café"]),
        ("nothing here", ["absent"], []),
        ("c++ code", ["c++"], ["c++"]),
        ("\ufb01le", ["file"], ["\ufb01le"]),
    ],
)
def test_matches_are_spans_of_the_original_text(text, tokens, marked):
    assert mark_matches(text, *tokens) == marked


def test_a_match_carries_the_weight_of_its_token():
    [match] = find_matches("oil", {"oil": 3.5})

    assert (match.token, match.weight) == ("oil", 3.5)
