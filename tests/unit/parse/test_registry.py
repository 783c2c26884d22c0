import pickle

from kebab.core.documents import BlockKind
from kebab.core.files import IMAGE, OcrSettings
from kebab.core.media import PDF
from kebab.errors.catalog import ParseFailed
from kebab.ingest.build import compute_recipes
from kebab.parse.registry import (
    PARSERS,
    LazyParser,
    TextParser,
    configure_parsers,
    list_parser_versions,
)
from kebab.parse.text.markdown import MarkdownParser


def test_media_types_have_parsers():
    assert PARSERS["text/markdown"].version == MarkdownParser.version
    assert PARSERS["text/plain"].version == TextParser.version


def test_an_unknown_media_type_has_none():
    assert "application/x-nothing" not in PARSERS


def test_active_lists_the_labels_each_once_in_order():
    versions = list_parser_versions()

    assert versions == sorted({parser.version for parser in PARSERS.values()})
    assert {MarkdownParser.version, TextParser.version, PARSERS[PDF].version} <= set(versions)


def test_settings_of_pictures_change_the_recipe_of_what_they_affect():
    english, korean = (configure_parsers(OcrSettings(lang)) for lang in ("eng", "kor"))
    recipes = [
        compute_recipes(parsers, "chunker")
        for parsers in (configure_parsers(None), english, korean)
    ]

    assert {media for media in PARSERS if len({one[media] for one in recipes}) > 1} == {
        PDF,
        IMAGE,
    }
    assert len({one[PDF] for one in recipes}) == 3
    assert english[PDF].version == PARSERS[PDF].version


def test_parsers_of_pictures_take_longer_and_can_be_sent_to_a_worker():
    slow, usual = configure_parsers(OcrSettings("eng", 5.0))[PDF], PARSERS[PDF]
    parser = pickle.loads(pickle.dumps(slow))

    assert isinstance(usual, LazyParser)
    assert (parser.deadline_s, usual.deadline_s) == (100.0, None)


def test_an_empty_file_is_read_or_is_said_to_be_empty():
    for media, parser in PARSERS.items():
        try:
            found = str(len(parser.parse(b"", "empty").blocks))
        except ParseFailed as error:
            found = error.cause
        assert found in {"0", "the file is empty"}, media


def test_paragraphs_stand_between_blank_lines():
    document = TextParser().parse(b"\n\nfirst\nline\n \t\n# second\n---\n", "a.txt")
    assert [document.text[block.start : block.end] for block in document.blocks] == [
        "first\nline",
        "# second\n---",
    ]
    assert {block.kind for block in document.blocks} == {BlockKind.PARAGRAPH}
