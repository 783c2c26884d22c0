import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.text.tokens import estimate_tokens, fit_sentences, split_in_half

TEXT = (
    "The pump was installed in 2019. It draws its heat from the lake. "
    "The flow temperature is 55 degrees. Nobody has complained about noise."
)
KOREAN = "열펌프는 2019년에 설치되었다. 호수에서 열을 얻는다. 유량 온도는 55도이다."


def cut_text(text, tokens, at=0):
    start, end = fit_sentences(text, tokens, at)
    return text[start:end]


def test_whole_sentences_from_the_given_position_are_returned():
    place = TEXT.index("flow")

    assert cut_text(TEXT, 12, place) == "The flow temperature is 55 degrees."
    assert cut_text(TEXT, 22, place).startswith("The flow temperature is 55 degrees. Nobody")
    assert cut_text(TEXT, 1_000, place) == TEXT


def test_the_rest_of_the_budget_goes_to_earlier_sentences():
    assert cut_text(TEXT, 30, len(TEXT) - 3).startswith("It draws")


def test_a_sentence_that_is_too_long_is_cut_between_words():
    assert cut_text("alpha beta gamma delta epsilon", 4) == "alpha beta gamma"


def test_text_without_words_is_cut_too():
    assert cut_text("-" * 100, 10) == "-" * len(cut_text("-" * 100, 10)) != ""


def test_a_grapheme_is_not_split():
    assert not cut_text("e\u0301" * 300, 20).endswith("e")


@given(text=st.text(max_size=400), tokens=st.integers(1, 60), at=st.integers(0, 400))
def test_the_cut_text_is_verbatim_and_within_the_budget(text, tokens, at):
    start, end = fit_sentences(text, tokens, min(at, len(text)))

    assert 0 <= start <= end <= len(text)
    assert estimate_tokens(text[start:end]) <= max(tokens, 5)


@pytest.mark.parametrize(
    ("text", "left", "right"),
    [
        (TEXT, "from the lake.", "The flow"),
        (KOREAN, "설치되었다.", "호수에서"),
        ("word " * 30, "word", "word"),
        ("- a first item of the list\n- and a second item of it", "list", "and"),
    ],
)
def test_halves_are_split_between_sentences_or_words(text, left, right):
    first, second = split_in_half(text) or pytest.fail("not parted")

    assert text[slice(*first)].endswith(left)
    assert text[slice(*second)].startswith(right)


@pytest.mark.parametrize("text", ["", "short", " " * 100, "A few words, not more."])
def test_a_short_text_is_not_split(text):
    assert split_in_half(text) is None


def test_a_run_without_blanks_is_split_in_its_middle():
    assert split_in_half("漢" * 100) == ((0, 50), (50, 100))


@given(text=st.text(max_size=300))
def test_halves_are_smaller_and_do_not_overlap(text):
    parts = split_in_half(text)

    if parts is not None:
        (low, middle), (other, high) = parts
        assert 0 <= low < middle <= other < high <= len(text)
