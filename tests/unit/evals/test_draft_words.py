import unicodedata

import pytest

from kebab.evals.draft import generate_word


@pytest.mark.parametrize(
    ("language", "script"),
    [("en", "LATIN"), (None, "LATIN"), ("ko", "HANGUL"), ("ja", "KATAKANA"), ("zh", "CJK")],
)
def test_a_word_looks_like_one_of_its_language(language, script):
    for number in range(30):
        result = generate_word(language, 1, number)
        assert all(unicodedata.name(one).startswith(script) for one in result)


def test_words_are_many_and_the_same_for_a_seed():
    assert len({generate_word("en", 1, number) for number in range(50)}) > 45
    assert generate_word("ko", 1, 2) == generate_word("ko", 1, 2) != generate_word("ko", 3, 2)
