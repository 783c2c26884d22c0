import pytest

from kebab.core.documents import BlockKind
from kebab.parse.text.rst import RstScanner


def scan(source):
    scanner = RstScanner(source)
    scanner.scan()
    return scanner


def list_blocks(source):
    lines = source.split("\n")
    return [
        (span.kind, "\n".join(lines[span.first : span.last]).strip("\n"))
        for span in scan(source).spans
        if span.kind is not None
    ]


def list_labels(source):
    return [span.label for span in scan(source).spans if span.kind is BlockKind.HEADING]


@pytest.mark.parametrize(
    ("kind", "source"),
    [
        (BlockKind.CODE, ".. code-block:: python\n   :linenos:\n\n   x = 1\n\n   y = 2"),
        (BlockKind.CODE, ".. literalinclude:: a.py"),
        (BlockKind.TABLE, ".. list-table::\n\n   * - a\n     - b"),
        (BlockKind.PARAGRAPH, ".. warning:: Hot.\n   Very hot."),
        (BlockKind.PARAGRAPH, ".. note::\n\n   One paragraph."),
        (BlockKind.PARAGRAPH, ".. autofunction:: kitchen.bake"),
        (BlockKind.PARAGRAPH, ".. [1] A footnote.\n   Its second line."),
    ],
)
def test_a_directive_is_one_block(kind, source):
    assert list_blocks(f"{source}\n") == [(kind, source)]


@pytest.mark.parametrize(
    "source",
    [
        ".. raw:: html\n\n   <b>x</b>",
        ".. toctree::\n\n   a",
        ".. _target: https://example.org",
        ".. comment\n   goes on",
        ".. index:: single: bread",
        ".. include:: other.rst",
    ],
)
def test_what_is_no_text_of_the_document_is_left_out(source):
    assert list_blocks(f"{source}\n\nText\n") == [(BlockKind.PARAGRAPH, "Text")]


def test_a_container_is_transparent():
    assert list_blocks(".. only:: html\n\n   Text\n") == [(BlockKind.PARAGRAPH, "   Text")]


def test_objects_are_headings_below_their_section():
    source = "T\n=\n\n.. class:: Oven(size)\n\n   Bakes.\n\n   .. method:: heat()\n\n      Heats.\n"

    assert [(one.level, one.label) for one in scan(source).spans if one.level] == [
        (1, "T"),
        (2, "Oven"),
        (3, "heat"),
    ]


def test_text_behind_an_object_does_not_stand_below_its_name():
    assert list_labels(".. data:: x\n\n   A number.\n\nText for all.\n") == [""]


def test_a_class_in_lower_case_is_a_style():
    assert list_blocks(".. class:: wide\n\nText\n") == [(BlockKind.PARAGRAPH, "Text")]


def test_the_entries_of_a_table_of_contents_are_links():
    source = ".. toctree::\n   :glob:\n\n   intro\n   Guide <guide/a>\n   self\n   https://x.org\n"

    assert scan(source).links == ["intro", "guide/a"]
