import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.rag.checking.terms import (
    QuantityIndex,
    are_compatible_units,
    compute_bigram_share,
    extract_key_terms,
    extract_key_words,
    find_currency_before,
    find_quantities,
    find_unit_after,
    is_content_word,
    is_number_word,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The pump is in the cellar.", ("pump", "cellar")),
        ("According to the passage, it was painted.", ("paint",)),
        ("It is not so.", ()),
        ("12 pumps and twelve fans", ("pump", "fan")),
        ("", ()),
    ],
)
def test_key_terms_are_the_content_words(text, expected):
    assert extract_key_terms(text) == expected


def test_grammar_of_dense_scripts_is_no_term():
    assert extract_key_terms("ポンプは設置された。") == ("ポン", "ンプ", "設置")
    assert extract_key_terms("펌프는 설치되었습니다") == ("펌프", "설치")


def test_words_have_their_terms():
    assert extract_key_words("the **pump**, 펌프가") == {"pump": ("pump",), "펌프": ("펌프",)}


@pytest.mark.parametrize(("word", "expected"), [("the", False), ("Not,", False), ("pump", True)])
def test_stop_words_are_no_content_words(word, expected):
    assert is_content_word(word) is expected


def test_the_share_of_bigrams_is_computed():
    assert compute_bigram_share(("pump", "설치")) == 0.5
    assert compute_bigram_share(()) == 0.0


def find_sure(text):
    return [one for one in find_quantities(text) if one.sure]


def contains_all(claim, passage):
    index = QuantityIndex(passage)
    return all(index.contains(one) for one in find_sure(claim))


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("1,000 files", "1000 files"),
        ("1000 files", "1 000 files"),
        ("1000 files", "1.000 Dateien"),
        ("1.5 km", "1,5 km"),
        ("1.50", "1.5"),
        ("3 million", "3,000,000"),
        ("3 million", "$3m or 3 million"),
        ("US$3 million", "3 million dollars"),
        ("5k", "5,000"),
        ("70%", "70 percent"),
        ("60%", "between 60 and 70%"),
        ("45 minutes", "a 45-minute walk"),
        ("twelve days", "12 days"),
        ("12 days", "twelve days"),
        ("forty-five", "45"),
        ("two hundred", "200"),
        ("2nd", "the second"),
        ("1970s", "1970s"),
        ("3명", "三名"),
        ("3만", "30000"),
        ("5천만", "50,000,000"),
        ("2019年", "二〇一九年"),
        ("十二人", "12 people"),
        ("sections 1,2", "1 and 2"),
        ("v1.2.3", "1.2.3"),
        ("one of them", "none"),
        ("", "nothing"),
    ],
)
def test_a_number_is_found_however_it_is_written(claim, passage):
    assert contains_all(claim, passage)


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("1,000 files", "1,001 files"),
        ("45 minutes", "45 seconds"),
        ("3 million", "3 thousand"),
        ("3 dollars", "3 million dollars"),
        ("$3", "3 euros"),
        ("70%", "71%"),
        ("1.5", "15"),
        ("1.2.3", "1.2.4"),
        ("十二人", "十三人"),
        ("two days", "three days"),
        ("5", "B5 and x5"),
    ],
)
def test_another_number_or_unit_is_not_found(claim, passage):
    assert not contains_all(claim, passage)


def test_the_span_of_a_number_includes_its_unit_and_currency():
    text = "It took 45 minutes and $3."

    assert [text[one.start : one.end] for one in find_quantities(text)] == ["45 minutes", "$3"]


def test_years_of_dates_can_be_added():
    index = QuantityIndex("")
    index.add("1973")

    assert index.contains_number("1973")
    assert not index.contains_number("1974")


@pytest.mark.parametrize(
    ("word", "expected"), [("seven", True), ("million", True), ("pump", False)]
)
def test_number_words_are_recognised(word, expected):
    assert is_number_word(word) is expected


@given(st.text(alphabet="0123456789., '一十万만$%kone twenty-", max_size=60))
def test_a_text_contains_its_own_numbers(text):
    assert contains_all(text, text)


@pytest.mark.parametrize("unit", ["1", "1,", "100 ", "1.", "十", "twenty-", "1만"])
def test_hostile_rows_of_digits_are_parsed_completely(unit):
    assert contains_all(unit * 5_000, unit * 5_000)


def test_a_number_with_misplaced_separators_and_a_scale_has_no_value():
    (found,) = find_quantities("12,5,7 million")

    assert found.values == ()


@pytest.mark.parametrize("text", ["三人", "三人が来た", "会社に三人の技術者"])
def test_a_han_numeral_before_a_counter_is_sure_whatever_follows(text):
    (found,) = find_quantities(text)

    assert found.sure
    assert "3" in found.values


@pytest.mark.parametrize(
    ("text", "unit", "end"),
    [
        (" minutes ago", "min", 8),
        ("-minute walk", "min", 7),
        ("GB", "GB", 2),
        ("%", "%", 1),
        (" per cent", "%", 9),
        (" \u00b0C", "\u00b0C", 3),
        (" km/h", "km/h", 5),
        ("시간이", "h", 2),
        ("時間かかる", "h", 2),
        ("퍼센트", "%", 3),
        (" people", None, 0),
        (". Minutes", None, 0),
        ("", None, 0),
    ],
)
def test_a_unit_is_found_after_a_number(text, unit, end):
    assert find_unit_after(text, 0) == (unit, end)


@pytest.mark.parametrize(("text", "unit"), [("$", "$"), ("US$", "$"), ("x", None), ("", None)])
def test_a_currency_is_found_before_a_number(text, unit):
    assert find_currency_before(text, len(text)) == unit


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("min", "min", True),
        ("min", "s", False),
        (None, "s", True),
        ("\u00b0", "\u00b0C", True),
        ("\u00b0F", "\u00b0", True),
        ("\u00b0F", "\u00b0C", False),
    ],
)
def test_units_are_compatible_when_one_may_be_the_other(one, other, expected):
    assert are_compatible_units(one, other) is expected
