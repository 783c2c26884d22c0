import pytest

from kebab.text.sentences import is_abbreviation


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr| Smith", True),
        ("Fig| 3", True),
        ("Fig| The", False),
        ("J| Smith", True),
        ("vitamin C| The", False),
        ("Apple Inc| CEO", True),
        ("Apple Inc| The", False),
        ("am 3| Oktober", True),
        ("in 1998| October", False),
        ("the end| New", False),
        ("heat it to 240 \u00b0C| Bake", False),
        ("그것은 책| 다음", False),
        ("|", False),
    ],
)
def test_a_full_stop_belongs_to_an_abbreviation(text, expected):
    stop = text.index("|")
    assert is_abbreviation(text.replace("|", "."), stop, stop + 1) is expected
