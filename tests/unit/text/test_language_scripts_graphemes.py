import pytest

from kebab.text.language import snap_to_grapheme


@pytest.mark.parametrize(
    "sign",
    [
        "e\u0301",
        "\U0001f44d\U0001f3fd",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "\U0001f1f0\U0001f1f7",
        "\u1112\u1161\u11ab",
        "\u0915\u094d\u0937\u093f",
        "\u2764\ufe0f",
        "\r\n",
    ],
)
def test_a_grapheme_is_not_split(sign):
    text = f"a{sign}b"

    for place in range(1, len(sign) + 1):
        assert snap_to_grapheme(text, place) == 1
    assert snap_to_grapheme(text, len(sign) + 1) == len(sign) + 1


def test_flags_are_split_by_pairs():
    text = "\U0001f1f0\U0001f1f7" * 2

    assert [snap_to_grapheme(text, place) for place in range(5)] == [0, 0, 2, 2, 4]


def test_plain_letters_and_ends_are_borders():
    assert [snap_to_grapheme("ab한국", place) for place in range(5)] == [0, 1, 2, 3, 4]
