import pytest

from kebab.text.normalize import blank_spans, fold_text, normalize_punctuation


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


def test_the_normal_form_keeps_case():
    assert normalize_punctuation("**Ａnna**") == "Anna"


def test_blanking_preserves_positions():
    assert blank_spans("abcdef", [(1, 3), (5, 6)]) == "a  de "
