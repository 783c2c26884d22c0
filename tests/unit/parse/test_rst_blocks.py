import pytest

from kebab.core.documents import BlockKind
from kebab.parse.rst import RstScanner


def scan(source):
    scanner = RstScanner(source)
    scanner.scan()
    lines = source.split("\n")
    return [
        (span.kind, "\n".join(lines[span.first : span.last]).strip("\n"))
        for span in scanner.spans
        if span.kind is not None
    ]


@pytest.mark.parametrize(
    ("kind", "source"),
    [
        (BlockKind.PARAGRAPH, "One line\nand another"),
        (BlockKind.LIST, "- one\n\n  more\n- two"),
        (BlockKind.LIST, "1. one\n#. two"),
        (BlockKind.LIST, "(a) one\n(b) two"),
        (BlockKind.LIST, "-v, --verbose  Say more.\n--help         Help."),
        (BlockKind.LIST, "| A verse\n| of two lines"),
        (BlockKind.LIST, "term\n   Its meaning.\n\n   More of it.\nother\n   Another."),
        (BlockKind.LIST, ":param x: A number.\n:returns: A word."),
        (BlockKind.QUOTE, "   Indented text.\n\n   -- Someone"),
        (BlockKind.CODE, ">>> 1 + 1\n2"),
        (BlockKind.TABLE, "+---+---+\n| a | b |\n+---+---+"),
        (BlockKind.TABLE, "===  ===\na    b\n===  ===\n1    2\n\n3    4\n===  ==="),
        (BlockKind.PARAGRAPH, "A. Einstein was a\nphysicist"),
        (BlockKind.PARAGRAPH, ":ref:`a` begins a sentence"),
        (BlockKind.PARAGRAPH, "Long title\n---"),
    ],
)
def test_a_construct_is_one_block(kind, source):
    before = "Before\n\n" if kind is BlockKind.LIST else ""
    found = scan(f"{before}{source}\n")

    assert found[-1] == (kind, source)
    assert len(found) == 1 + bool(before)


@pytest.mark.parametrize(
    "literal", ["   indented\n\n   more", "> quoted\n> lines", "   Title\n   ====="]
)
def test_literal_text_behind_two_colons_is_code(literal):
    assert scan(f"For example::\n\n{literal}\n") == [
        (BlockKind.PARAGRAPH, "For example::"),
        (BlockKind.CODE, literal),
    ]


def test_two_colons_without_literal_text_are_a_paragraph():
    assert scan("For example::\n\nNot indented.\n") == [
        (BlockKind.PARAGRAPH, "For example::"),
        (BlockKind.PARAGRAPH, "Not indented."),
    ]


@pytest.mark.parametrize("source", ["----------", "__ https://example.org", "..", "=====\n"])
def test_rules_and_anonymous_targets_are_left_out(source):
    assert scan(f"{source}\n\nText\n") == [(BlockKind.PARAGRAPH, "Text")]


def test_an_empty_comment_does_not_swallow_what_follows():
    assert scan("..\n\n   A quotation.\n") == [(BlockKind.QUOTE, "   A quotation.")]


def test_tabs_indent_by_eight_columns():
    assert scan("Code::\n\n\tx = 1\n") == [
        (BlockKind.PARAGRAPH, "Code::"),
        (BlockKind.CODE, "\tx = 1"),
    ]


def test_levels_follow_the_order_of_the_styles():
    source = "===\nTop\n===\n\nA\n===\n\nB\n---\n\nC\n===\n"
    scanner = RstScanner(source)
    scanner.scan()

    assert [(one.level, one.label) for one in scanner.spans] == [
        (1, "Top"),
        (2, "A"),
        (3, "B"),
        (2, "C"),
    ]
