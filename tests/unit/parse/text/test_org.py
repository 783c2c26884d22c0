import pytest

from kebab.core.documents import BlockKind
from kebab.parse.text.org import OrgParser, to_plain_label
from tests.shape.tree import ROOT

JOURNAL = (ROOT / "samples" / "formats" / "journal.org").read_text(encoding="utf-8")


def parse(source):
    return OrgParser().parse(source.encode(), "notes/a.org")


def list_blocks(source):
    document = parse(source)
    return [(block.kind, document.text[block.start : block.end]) for block in document.blocks]


def test_keywords_and_tags_are_metadata():
    document = parse(JOURNAL)

    assert document.title == "The boat journal"
    assert document.metadata.authors == ("Mina Park",)
    assert document.metadata.date == "2024-06-01"
    assert document.metadata.tags == ("boat", "sailing", "engine", "parts")
    assert document.metadata.aliases == ("Log of the Heron", "heron")
    assert document.links == ("manuals/engine.org",)


@pytest.mark.parametrize(
    ("source", "title"), [("* Tasks\n** Boat\noil", "Tasks"), ("* Tasks\noil\n* Ideas\n", "a")]
)
def test_a_headline_is_the_title_when_none_stands_beside_it(source, title):
    assert parse(source).title == title


def test_headlines_have_plain_labels():
    found = [(one.level, one.label) for one in parse(JOURNAL).blocks if one.level]

    assert found == [(1, "Engine"), (2, "Replace the impeller"), (2, "기관 점검")]


def test_drawers_comments_and_keywords_are_left_out():
    found = "\n".join(text for _, text in list_blocks(JOURNAL))

    for word in ("secret", "hidden", "LOGBOOK", "5b1c", "TITLE", "TBLFM", "-----\n\n"):
        assert word not in found
    for word in ("SCHEDULED", "ORDERED", "lost two blades", "The gasket is thin"):
        assert word in found


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (BlockKind.LIST, "- one\n  - two\n- three\n\n  more"),
        (BlockKind.LIST, "1. one\n2) two"),
        (BlockKind.LIST, "  * one\n  * two"),
        (BlockKind.TABLE, "| a | b |\n|---+---|\n| 1 | 2 |"),
        (BlockKind.CODE, "#+begin_src c\n* x;\n#+end_src"),
        (BlockKind.CODE, ": fixed\n: width"),
        (BlockKind.QUOTE, "#+BEGIN_QUOTE\nWords.\n\nMore.\n#+END_QUOTE"),
        (BlockKind.PARAGRAPH, "Two lines\nof text"),
        (BlockKind.PARAGRAPH, "#hashtag and text"),
    ],
)
def test_a_construct_is_one_block(kind, text):
    found = list_blocks(f"Before\n\n{text}\n\n\nAfter\n")[1:-1]

    assert found == [(kind, text)]


def test_a_block_or_drawer_that_is_never_closed_hides_nothing():
    assert list_blocks("#+begin_src c\ncode\n\n:LOGBOOK:\n\n* Headline\n:END:\n") == [
        (BlockKind.PARAGRAPH, "#+begin_src c\ncode"),
        (BlockKind.PARAGRAPH, ":LOGBOOK:"),
        (BlockKind.HEADING, "* Headline"),
        (BlockKind.PARAGRAPH, ":END:"),
    ]


@pytest.mark.parametrize("gap", ["\n", "\n\n"])
def test_a_headline_ends_a_list(gap):
    kinds = [kind for kind, _ in list_blocks(f"- one\n- two{gap}* Headline\n")]

    assert kinds == [BlockKind.LIST, BlockKind.HEADING]


def test_two_blank_lines_end_a_list():
    assert list_blocks("- one\n\n\n- two\n") == [
        (BlockKind.LIST, "- one"),
        (BlockKind.LIST, "- two"),
    ]


@pytest.mark.parametrize(
    ("source", "label"),
    [
        ("Plain", "Plain"),
        ("See [[file:a.org][the plan]]", "See the plan"),
        ("[[https://x.org]]", "https://x.org"),
        ("a/b and c_d", "a/b and c_d"),
    ],
)
def test_a_label_is_what_a_reader_sees(source, label):
    assert to_plain_label(source) == label


@pytest.mark.processor_s(10)
def test_time_is_linear():
    for hostile in ("- x\n" * 50_000, "[[" * 100_000, ":X:\n" * 30_000, "#+begin_src\n" * 30_000):
        parse(hostile)
