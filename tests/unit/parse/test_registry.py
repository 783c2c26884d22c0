from kebab.parse.markdown import MarkdownParser
from kebab.parse.registry import active, parser_for
from kebab.parse.text import TextParser


def test_media_types_have_parsers():
    assert isinstance(parser_for("text/markdown"), MarkdownParser)
    assert isinstance(parser_for("text/plain"), TextParser)


def test_an_unknown_media_type_has_none():
    assert parser_for("application/pdf") is None


def test_active_lists_the_labels():
    assert active() == ["markdown-v1", "text-v1"]
