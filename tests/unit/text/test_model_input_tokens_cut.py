from hypothesis import given
from hypothesis import strategies as st

from kebab.text.model_input import estimate_tokens, fit_sentences

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
