import pytest

from kebab.search.query_parser import strip_stop_words


@pytest.mark.parametrize(
    ("query", "left"),
    [
        ("How do I restore a backup?", "restore backup?"),
        ("¿Dónde está el mercado?", "está mercado?"),
        ("Когда была основана Москва?", "основана Москва?"),
        ("the who", "the who"),
        ("to be or not to be", "to be or not to be"),
        ("What?", "What?"),
        ("IT department", "IT department"),
        ("foo-bar c++ 서울", "foo-bar c++ 서울"),
        ("what - *", "what - *"),
        ("", ""),
    ],
)
def test_stop_words_are_stripped_unless_nothing_else_is_left(query, left):
    assert strip_stop_words(query) == left
