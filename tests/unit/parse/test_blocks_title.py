import pytest

from kebab.core.documents import Block, BlockKind, Metadata
from kebab.parse.blocks import MAX_TITLE_CHARS, choose_title

HEADINGS = [
    Block(BlockKind.PARAGRAPH, 0, 1),
    Block(BlockKind.HEADING, 2, 3, 1, ""),
    Block(BlockKind.HEADING, 4, 5, 2, "Heading"),
]


def test_front_matter_comes_first():
    assert choose_title(Metadata(title="Front"), HEADINGS, "a/stem.md") == "Front"


def test_the_first_heading_with_text_comes_second():
    assert choose_title(Metadata(), HEADINGS, "a/stem.md") == "Heading"


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("a/stem.md", "stem"),
        ("a.b.c.md", "a.b.c"),
        (".hidden", ".hidden"),
        ("e\u0301.md", "\u00e9"),
        ("new\nline\x1b.md", "new line"),
        ("-", "-"),
        ("", "untitled"),
    ],
)
def test_the_stem_comes_last(path, title):
    assert choose_title(Metadata(), [], path) == title


def test_a_long_title_is_cut():
    title = choose_title(Metadata(title="word " * 100), [], "a.md")
    assert len(title) <= MAX_TITLE_CHARS
    assert title.endswith("word…")
