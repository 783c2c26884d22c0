from kebab.core.ports import is_isolated
from kebab.parse.registry import LazyParser, TextParser


def test_a_parser_says_itself_whether_it_is_isolated():
    assert is_isolated(LazyParser("x-v1", "x:X", isolated=True))
    assert not is_isolated(LazyParser("x-v1", "x:X"))
    assert not is_isolated(TextParser())
