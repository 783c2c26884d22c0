import pytest

from kebab.text.language import (
    is_function_word,
    is_listed_stop_word,
    reads_as_another_language,
    strip_stop_words,
)


@pytest.mark.parametrize(
    ("query", "left"),
    [
        ("How do I restore a backup?", "restore backup?"),
        ("¿Dónde está el mercado?", "está mercado?"),
        ("Когда была основана Москва?", "основана Москва?"),
        ("the who", "the who"),
        ("to be or not to be", "to be or not to be"),
        ("What?", "What?"),
        ("IT of KUKA", "IT KUKA"),
        ("foo-bar c++ 서울", "foo-bar c++ 서울"),
        ("what - *", "what - *"),
        ("", ""),
    ],
)
def test_stop_words_are_stripped_unless_nothing_else_is_left(query, left):
    assert strip_stop_words(query) == left


@pytest.mark.parametrize(
    "word",
    [
        "the",
        "Between",
        "over",
        "welche",
        "nicht",
        "avec",
        "있습니다",
        "닫혔나요",
        "것",
        "について",
        "可以",
    ],
)
def test_function_words_of_several_languages_are_recognized(word):
    assert is_function_word(word)


@pytest.mark.parametrize("word", ["snapshot", "Backup", "불필요", "나고야", "バックアップ", "快照"])
def test_other_words_are_none(word):
    assert not is_function_word(word)


@pytest.mark.parametrize("word", ["viele", "Bei", "entonces", "olduklarını", "которая", "mukaan"])
def test_stop_words_of_many_languages_are_listed(word):
    assert is_listed_stop_word(word)


@pytest.mark.parametrize("word", ["information", "system", "traefik", "registriert", "5"])
def test_content_words_of_the_english_list_are_not(word):
    assert not is_listed_stop_word(word)


@pytest.mark.parametrize(
    ("words", "asks", "other"),
    [
        ("the bees in the garden", False, False),
        ("traefik setup", False, False),
        ("las abejas del barrio", False, True),
        ("Belediyede kovanı", True, True),
    ],
    ids=["english", "unknown", "spanish", "turkish"],
)
def test_words_tell_that_they_are_not_english(words, asks, other):
    assert reads_as_another_language(words.split(), "en", asks=asks) is other
