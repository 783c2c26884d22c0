import io

import pytest
from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.parsers.rst import Parser
from docutils.utils import new_document
from hypothesis import given
from hypothesis import strategies as st

from kebab.core.documents import BlockKind
from kebab.parse.text.rst import RstParser, RstScanner, to_plain_label
from tests.shape.tree import ROOT

MANUAL = (ROOT / "samples" / "formats" / "manual.rst").read_bytes()


def parse(source):
    return RstParser().parse(source.encode() if isinstance(source, str) else source, "docs/a.rst")


def list_blocks(document):
    return [(block.kind, document.text[block.start : block.end]) for block in document.blocks]


def list_headings(document):
    return [(one.level, one.label) for one in document.blocks if one.kind is BlockKind.HEADING]


def list_sections_of_docutils(source):
    settings = get_default_settings(Parser)
    settings.report_level = settings.halt_level = 5
    settings.warning_stream = io.StringIO()
    settings.file_insertion_enabled = settings.raw_enabled = False
    document = new_document("a.rst", settings)
    Parser().parse(source, document)
    return list(walk_sections(document, 1))


def walk_sections(node, level):
    for child in node.children:
        if isinstance(child, nodes.section):
            yield level, " ".join(child[0].astext().split())
            yield from walk_sections(child, level + 1)


def test_a_manual_has_its_title_fields_and_links():
    document = parse(MANUAL)

    assert document.title == "The oven's manual"
    assert document.metadata.authors == ("Mina Park", "Jun Sato")
    assert document.metadata.date == "2024-03-09"
    assert document.metadata.tags == ("baking", "ovens")
    assert document.links == (
        "cleaning",
        "repairs/index",
        "examples/first.py",
        "/etc/hostname",
        "pictures/oven.png",
    )
    assert not document.warnings


def test_sections_and_objects_are_headings():
    assert list_headings(parse(MANUAL)) == [
        (1, "The oven's manual"),
        (2, "Heating up"),
        (3, "Using steam"),
        (2, "Settings"),
        (3, "steam.level"),
        (2, "Functions"),
        (3, "bake"),
        (4, "Loaf.cool"),
        (2, "Times"),
        (2, "사용법"),
    ]


def test_comments_raw_text_and_targets_are_left_out():
    found = "\n".join(text for _, text in list_blocks(parse(MANUAL)))

    for word in ("Licence", "secret", "blink", "_manual:", "Ember 3", "----\n\n", "hostname"):
        assert word not in found
    assert "Steam burns" in found


def test_nothing_outside_the_file_is_read():
    document = parse(".. include:: /etc/passwd\n\n.. csv-table:: T\n   :file: /etc/passwd\n")

    assert "root:" not in document.text
    assert document.links == ("/etc/passwd",)


def test_links_of_roles_and_texts_to_other_files_are_found():
    document = parse(
        "See :doc:`the guide <guide/intro>`, :doc:`api`, `local <notes/b.rst>`_, "
        "`web <https://example.org>`_ and `inner <here_>`_.\n"
    )

    assert document.links == ("guide/intro", "api", "notes/b.rst")


def test_the_fields_of_blog_engines_are_metadata():
    document = parse("A page\n######\n\n:tags: one, two\n:date: 2020-01-02 10:00\n\nText.\n")

    assert document.title == "A page"
    assert document.metadata.tags == ("one", "two")
    assert document.metadata.date == "2020-01-02"


def test_the_manual_has_the_sections_that_docutils_finds():
    source = MANUAL.decode()
    expected = [title for _, title in list_sections_of_docutils(source)]
    objects = {"steam.level", "bake", "Loaf.cool"}

    assert [label for _, label in list_headings(parse(source)) if label not in objects] == expected


TITLES = st.sampled_from(["Alpha", "Beta gamma", "가나다 라마", "1. One", "- item", "x", "A ``b``"])
PARTS = st.one_of(
    st.builds(lambda title: f"{title}\n{'=' * 12}\n\n", TITLES),
    st.builds(lambda title: f"{'~' * 14}\n {title}\n{'~' * 14}\n\n", TITLES),
    st.sampled_from(
        [
            "Text.\n\n",
            "Two lines\nof text\n\n",
            "Code::\n\n   Title\n   =====\n\n",
            ".. note::\n\n   Text\n\n",
            ".. comment\n   Title\n   =====\n\n",
            "- item\n\n  Title\n\n",
            "====  ====\na     b\n====  ====\n1     2\n====  ====\n\n",
            "+---+\n| a |\n+---+\n\n",
            "----\n\n",
            ">>> 1\n1\n\n",
            "Term\n   Meaning\n\n",
            "Code::\n\n> quoted\n> lines\n\n",
            ":field: value\n\n",
        ]
    ),
)


@given(parts=st.lists(PARTS, max_size=12))
def test_sections_are_those_of_docutils(parts):
    source = "".join(parts)
    expected = [title for _, title in list_sections_of_docutils(source)]

    assert [label for _, label in list_headings(parse(source))] == expected


@pytest.mark.processor_s(5)
def test_time_is_linear_in_nesting_and_length():
    nested = "\n\n".join(f"{' ' * depth}.. note::" for depth in range(0, 900, 3))
    for hostile in (nested, "- " * 50_000, "::\n\n   " * 20_000, ":a" * 100_000, "`" * 100_000):
        parse(hostile)


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
        (BlockKind.LIST, "| A verse\n| of two lines"),
        (BlockKind.LIST, "term\n   Its meaning.\n\n   More of it.\nother\n   Another."),
        (BlockKind.LIST, ":param x: A number.\n:returns: A word."),
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


def test_two_colons_without_literal_text_are_a_paragraph():
    assert scan("For example::\n\nNot indented.\n") == [
        (BlockKind.PARAGRAPH, "For example::"),
        (BlockKind.PARAGRAPH, "Not indented."),
    ]


def test_an_empty_comment_does_not_swallow_what_follows():
    assert scan("..\n\n   A quotation.\n") == [(BlockKind.PARAGRAPH, "   A quotation.")]


@pytest.mark.parametrize(
    ("source", "label"),
    [
        ("A title", "A title"),
        ("The ``*args`` option", "The *args option"),
        ("*One* and **two**", "One and two"),
        (":func:`~os.path.join` explained", "join explained"),
        (":doc:`The guide <guide/intro>`", "The guide"),
        ("`A link`__", "A link"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("", ""),
    ],
)
def test_a_label_is_what_a_reader_sees(source, label):
    assert to_plain_label(source) == label
