import pytest

from kebab.search.function_words import is_function_word


@pytest.mark.parametrize(
    "word",
    ["the", "Between", "over", "welche", "nicht", "avec", "있습니다", "것", "について", "可以"],
)
def test_function_words_of_several_languages_are_recognized(word):
    assert is_function_word(word)


@pytest.mark.parametrize("word", ["snapshot", "Backup", "연결", "バックアップ", "快照", "v1.2"])
def test_other_words_are_none(word):
    assert not is_function_word(word)
