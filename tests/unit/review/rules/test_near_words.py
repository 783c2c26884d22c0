"""A slip is told from a form, a compound, a foreign word and a word of programming."""

import pytest

from kebab.review.rules.near_words import find_meant, load_dictionary, read_words


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("corrutped", "corrupted"),  # swapped
        ("termianal", "terminal"),  # one too many
        ("foudation", "foundation"),  # one missing
        ("prpvided", "provided"),  # a neighbour on the keyboard
        ("scalbaility", "scalability"),  # rare elsewhere, frequent in documentation
        ("publlished", "published"),
        ("upserts", ""),
        ("structs", ""),
        ("unhovered", ""),
        ("gzipping", ""),
        ("deserialised", ""),
        ("playload", ""),  # a compound
        ("empresas", ""),  # Spanish
        ("uuser", ""),  # too short
        ("ddescribe", ""),  # a name with a letter in front
        ("xqzwvk", ""),
    ],
)
def test_only_a_slip_means_another_word(word: str, meant: str) -> None:
    assert find_meant(word, "en") == meant


def test_words_of_a_language_with_many_endings_are_compared_when_they_are_long() -> None:
    assert find_meant("experência", "pt") == "experiência"
    assert find_meant("acotado", "es") == ""


def test_the_added_words_are_known() -> None:
    frequent, right = read_words()
    english = load_dictionary("en")

    assert english is not None
    assert {*frequent, *right} <= set(english.words)
    assert {b"codebase", b"wildcard"} <= set(frequent)


def test_other_languages_have_no_dictionary() -> None:
    assert load_dictionary("ko") is None
    assert find_meant("anything", "ko") == ""
