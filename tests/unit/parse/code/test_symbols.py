import pytest

from kebab.core.documents import BlockKind
from kebab.core.media import MEDIA_TYPES, PATTERN_LANGUAGES, detect_media_type, get_media_type
from kebab.parse.code.source import CodeParser
from kebab.parse.code.symbols import SYNTAXES, Syntax, load_grammar
from tests.shape.tree import ROOT

SAMPLES = ROOT / "samples" / "formats" / "code"
SYMBOLS = {
    "Account.java": "Account 7-10, .Account 13, .balance 17-19, .Kind 23, ..isDebit 26, .Entry 31",
    "Badge.tsx": "BadgeProps 3, Badge 10-11, Store 15, .write 18-19, Colours 24, .parse 25",
    "Clock.cs": "Time.Keeping 5-6, .Clock 7-10, ..Hour 13, ..Clock 18-19, ..Tick 23, .Zone 26-27",
    "Recipe.kt": "Recipe 6-7, .scale 10, .empty 15, largest 21",
    "cart.js": "Cart 6-7, .add 10-11, .clear 16, .empty 20, total 23, exports.restore 27, watch 33",
    "deploy.sh": "copy_site 7-8, check 12",
    "garden.rb": "Garden 3-4, .Bed 5, ..plant 8-9, ..empty 13, ..water 17, harvest 24",
    "matrix.hpp": "linear 4, .Matrix 6-8, ..Matrix 9-10, ..operator+= 12-13, .trace 22-23",
    "queue.go": "Queue 12-13, Queue.Push 18-19, Worker 26-28, New 33",
    "retry.py": "STATUS 9, Refused 16, Backoff 20-21, .pause 27-28, .gentle 33-34, call 40",
    "ring.c": "RING_NEXT 6, ring 11, ring_new 19-22, ring_reset 27, ring_status 30",
    "shape.rs": "Circle 6-8, Circle 12, .fmt 13-14, Area 19, .twice 22, tests 27,"
    " .the_area_of_nothing_is_nothing 28-29, square 34",
    "Cache.scala": "Cache 6-7, .put 9, Cache 14, .apply 17, .ordering 20, Impl 28, .get 29,"
    " Color 34, .f 36, foo 38, .compare 39, shout 43",
    "ImageCache.swift": "ImageCache 4-5, .image 15-16, .count 25,"
    " ImageCache 31, .makeIterator 32, Loader 37, Result 42, .get 45, Point 50,"
    " Bank 52, .deposit 53, topLevel 60",
    "UserController.php": "UserController 8-13, .__construct 18-20, .show 24-25, Shape 30,"
    " Loggable 32, .log 33, Suit 38, .label 40, helper 45, $closure 48",
}
"""By sample, its symbols, one dot for each level, and the lines to the end of the signature."""


def find_language(name):
    return get_media_type(detect_media_type(name) or "").language


def parse_code(text, language, path="a"):
    return CodeParser(language).parse(text.encode(), path)


def list_headings(document):
    found = []
    for block in document.blocks:
        if block.kind is BlockKind.HEADING:
            first = document.text.count("\n", 0, block.start) + 1
            last = document.text.count("\n", 0, block.end) + 1
            lines = f"{first}" if first == last else f"{first}-{last}"
            found.append(f"{'.' * (block.level - 1)}{block.label} {lines}")
    return found


@pytest.mark.parametrize("name", SYMBOLS)
def test_symbols_of_real_code_are_headings_with_their_exact_lines(name):
    document = CodeParser(find_language(name)).parse((SAMPLES / name).read_bytes(), name)
    assert list_headings(document) == SYMBOLS[name].replace(", ", ",").split(",")


def test_every_language_has_a_sample():
    sampled = {find_language(name) for name in SYMBOLS}
    assert sampled == set(SYNTAXES) - {"tsx"}


def test_a_pattern_is_no_name():
    document = parse_code("const {\n a,\n b,\n} = f(\n);\n", "javascript")
    assert list_headings(document) == []


def test_a_comment_above_a_statement_belongs_to_the_symbol_that_begins_in_it():
    text = "// Says so.\nlisten(app, function hear() {\n  say();\n});\n"
    assert list_headings(parse_code(text, "javascript")) == ["hear 1-2"]


def test_two_symbols_on_one_line_share_the_first():
    assert list_headings(parse_code("int f(void) {} int g(void) {}\n", "c")) == ["f 1"]


GRAMMAR_LANGUAGES = {media.language for media in MEDIA_TYPES} - {"", *PATTERN_LANGUAGES}
NODES = [
    field
    for field, kind in Syntax.__annotations__.items()
    if "frozenset" in str(kind) and field != "bodies"  # most languages share its types
]


def test_every_language_of_the_media_types_has_a_syntax():
    assert set(SYNTAXES) == GRAMMAR_LANGUAGES | {"tsx"}


@pytest.mark.parametrize("name", SYNTAXES)
def test_every_node_type_exists_in_the_grammar(name):
    syntax = SYNTAXES[name]
    grammar = load_grammar(name)
    types = {grammar.node_kind_for_id(number) for number in range(grammar.node_kind_count)}
    named = set().union(*(getattr(syntax, field) for field in NODES))
    named |= {*syntax.names, *syntax.holders}
    assert named - types == set()
