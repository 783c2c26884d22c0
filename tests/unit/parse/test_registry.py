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


def test_active_lists_the_labels():
    assert list_parser_versions() == [
        "asciidoc-v1",
        "code-v1",
        "data-v1",
        "docx-v1",
        "email-v1",
        "enex-v1",
        "epub-v1",
        "html-v1",
        "latex-v1",
        "markdown-v2",
        "mbox-v1",
        "mhtml-v1",
        "notebook-v1",
        "odp-v1",
        "odt-v1",
        "org-v1",
        "pdf-v1",
        "pptx-v1",
        "rst-v1",
        "rtf-v1",
        "sheet-v1",
        "source-v1",
        "subtitles-v1",
        "text-v1",
    ]
