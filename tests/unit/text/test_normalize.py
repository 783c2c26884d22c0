import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.errors.system import escape_undecodable
from kebab.text.normalize import blank_spans, fold_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ＡＢ１", "ab1"),
        ("The  \n Pump", "the pump"),
        ("“A” 「B」 – it’s", '"a" "b" - it\'s'),
        ("**bold** `code`", "bold code"),
    ],
)
def test_folding_removes_case_punctuation_and_spacing(text, expected):
    assert fold_text(text) == expected


def test_blanking_preserves_positions():
    assert blank_spans("abcdef", [(1, 3), (5, 6)]) == "a  de "


def test_a_surrogate_that_encodes_no_byte_is_escaped_too():
    assert escape_undecodable("\ud800") == "\\xed\\xa0\\x80"


@given(st.text(st.characters(exclude_categories=[])))
def test_any_escaped_text_is_valid_utf8(text):
    assert escape_undecodable(text).encode("utf-8").decode("utf-8") == escape_undecodable(text)
