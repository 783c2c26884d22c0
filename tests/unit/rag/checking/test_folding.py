import pytest

from kebab.rag.checking.folding import blanked, folded, normal


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\uff21\uff22\uff11", "ab1"),
        ("The  \n Pump", "the pump"),
        ("\u201cA\u201d \u300cB\u300d \u2013 it\u2019s", '"a" "b" - it\'s'),
        ("**bold** `code`", "bold code"),
    ],
)
def test_folding_leaves_what_is_compared(text, expected):
    assert folded(text) == expected


def test_the_normal_form_keeps_case():
    assert normal("**\uff21nna**") == "Anna"


def test_blanking_keeps_every_place():
    assert blanked("abcdef", [(1, 3), (5, 6)]) == "a  de "
