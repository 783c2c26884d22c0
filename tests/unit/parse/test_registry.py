from kebab.parse.markdown import MarkdownParser
from kebab.parse.plain_text import TextParser
from kebab.parse.registry import PARSERS, list_parser_versions


def test_media_types_have_parsers():
    assert PARSERS["text/markdown"].version == MarkdownParser.version
    assert PARSERS["text/plain"].version == TextParser.version


def test_an_unknown_media_type_has_none():
    assert "application/x-nothing" not in PARSERS


def test_active_lists_the_labels_each_once_in_order():
    versions = list_parser_versions()

    assert versions == sorted({parser.version for parser in PARSERS.values()})
    assert {MarkdownParser.version, TextParser.version, "pdf-v1"} <= set(versions)
