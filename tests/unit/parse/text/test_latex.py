import pytest

from kebab.core.documents import BlockKind
from kebab.parse.text.latex import LatexParser, read_argument, to_plain_text
from tests.shape.tree import ROOT

PAPER = (ROOT / "samples" / "formats" / "tides.tex").read_text(encoding="utf-8")


def parse(source):
    return LatexParser().parse(source.encode(), "papers/a.tex")


def list_blocks(source):
    document = parse(source)
    return [(block.kind, document.text[block.start : block.end]) for block in document.blocks]


def list_headings(source):
    return [(one.level, one.label) for one in parse(source).blocks if one.level]


def test_the_preamble_is_metadata():
    document = parse(PAPER)

    assert document.title == "The tides of Heron bay"
    assert document.metadata.authors == ("Mina Park", "Jun Sato")
    assert document.metadata.date == "2023-11-05"
    assert document.links == ("chapters/moon",)


def test_sections_are_headings():
    assert list_headings(PAPER) == [
        (1, "Abstract"),
        (1, "Springs & neaps"),
        (2, "Café tide in h"),
        (1, "A long title over two lines"),
    ]


def test_preamble_comments_and_layout_are_left_out():
    found = "\n".join(text for _, text in list_blocks(PAPER))

    for word in (
        "secret",
        "another comment",
        "hidden",
        "usepackage",
        "maketitle",
        "behind the end",
    ):
        assert word not in found
    for word in ("code, no comment", "follows the moon", "4.2", "조석은", "low water"):
        assert word in found


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (BlockKind.CODE, "\\begin{lstlisting}[language=C]\nint x;\n\n\\end{lstlisting}"),
        (BlockKind.QUOTE, "\\begin{quote}\nWords\n\\end{quote}"),
        (BlockKind.PARAGRAPH, "Two lines\nof text"),
    ],
)
def test_a_construct_is_one_block(kind, text):
    source = f"\\section{{A}}\n\n{text}\n"

    assert list_blocks(source)[1:] == [(kind, text)]


def test_an_environment_that_is_never_closed_hides_nothing():
    assert list_blocks("\\begin{quote}\nWords\n\n\\section{A}\n") == [
        (BlockKind.PARAGRAPH, "Words"),
        (BlockKind.HEADING, "\\section{A}"),
    ]


@pytest.mark.processor_s(4)
def test_time_is_linear():
    for hostile in (
        "\\begin{quote}\n" * 12_000,
        "\\section{" * 12_000,
        "\\section{\n" * 12_000,
        "\\label{a}" * 20_000,
        "\\title{" * 20_000,
    ):
        parse(hostile)


@pytest.mark.parametrize(
    ("source", "label"),
    [
        ("Plain words", "Plain words"),
        (r"\textbf{Bold} and \emph{it}", "Bold and it"),
        (r"Caf\'e, na\"{\i}ve, stra\ss e, \AA ngstr\"om", "Café, naïve, straße, Ångström"),
        (r"The \LaTeX{} book~2", "The LaTeX book 2"),
        ("", ""),
    ],
)
def test_a_label_is_what_a_reader_sees(source, label):
    assert to_plain_text(source) == label


@pytest.mark.parametrize(
    ("source", "argument"),
    [
        ("{a{b}c} d", "a{b}c"),
        ("[short]{long}", "long"),
        (r"{a\}b}", r"a\}b"),
        ("{never closed\n\nnext", "never closed"),
        ("none", ""),
        ("", ""),
    ],
)
def test_arguments_are_read_up_to_their_brace(source, argument):
    assert read_argument(source, 0) == argument
