import pytest

from kebab.core.spelling import count_edits, find_likely_name


@pytest.mark.parametrize(
    ("word", "other", "edits"),
    [
        ("limit", "limit", 0),
        ("limt", "limit", 1),
        ("limmit", "limit", 1),
        ("lamit", "limit", 1),
        ("limti", "limit", 1),
        ("ilmti", "limit", 2),
        ("", "ab", 2),
        ("ab", "", 2),
        ("", "", 0),
        ("kitten", "sitting", 3),
        ("abcdef", "uvwxyz", 3),
        ("short", "much longer", 3),
        ("검색", "검섹", 1),
    ],
)
def test_the_edits_between_two_words_are_counted_up_to_a_limit(word, other, edits):
    assert count_edits(word, other) == count_edits(other, word) == edits


def test_the_nearest_name_is_found_if_it_is_near():
    names = ["search", "schema", "session"]

    assert find_likely_name("serach", names) == "search"
    assert find_likely_name("sesion", names) == "session"
    assert find_likely_name("restore", names) is None
    assert find_likely_name("x", []) is None
