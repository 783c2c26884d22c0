from kebab.parse.markdown import MarkdownParser
from kebab.parse.registry import PARSERS, TextParser, list_parser_versions


def test_media_types_have_parsers():
    assert isinstance(PARSERS["text/markdown"], MarkdownParser)
    assert isinstance(PARSERS["text/plain"], TextParser)


def test_an_unknown_media_type_has_none():
    assert "application/pdf" not in PARSERS


def test_active_lists_the_labels():
    assert list_parser_versions() == ["markdown-v1", "text-v1"]
