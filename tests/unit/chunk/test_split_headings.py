import pytest

from kebab.chunk.budget import Budget
from kebab.chunk.split import find_common_prefix, split_document, split_sections
from kebab.core.documents import Block, BlockKind, ParsedDocument
from kebab.parse.markdown import MarkdownParser


def outline_of(note):
    document = MarkdownParser().parse(note.encode(), "a.md")
    return [
        [(document.text[block.start : block.end], "/".join(path)) for block, path in zip(
            section.blocks, section.paths, strict=True)]
        for section in split_sections(document.text, document.blocks)
    ]  # fmt: skip


def test_every_heading_opens_a_section():
    assert outline_of("intro\n\n# A\na\n\n## B\nb\n\n# C\nc\n") == [
        [("intro", "")],
        [("# A", "A"), ("a", "A")],
        [("## B", "A/B"), ("b", "A/B")],
        [("# C", "C"), ("c", "C")],
    ]


def test_a_heading_with_nothing_under_it_opens_what_follows():
    assert outline_of("# A\n## B\n***\n## C\nc\n") == [
        [("# A", "A"), ("## B", "A/B"), ("***", "A/B"), ("## C", "A/C"), ("c", "A/C")]
    ]


def test_an_empty_heading_never_opens_the_block_above_it():
    assert [len(section) for section in outline_of("# A\na\n\n### B\n\n# C\nc\n")] == [2, 1, 2]


def test_a_heading_without_text_leaves_no_gap_in_the_path():
    assert outline_of("# A\na\n\n##\nb\n")[1] == [("##", "A"), ("b", "A")]


@pytest.mark.parametrize(
    ("paths", "common"),
    [
        ([("a", "b")], ("a", "b")),
        ([("a", "b"), ("a", "c")], ("a",)),
        ([("a",), ("a", "c")], ("a",)),
        ([("a",), ("b",)], ()),
    ],
)
def test_paths_share_what_they_begin_with(paths, common):
    assert find_common_prefix(paths) == common


def split_blocks(*parts):
    """Return heading paths and texts of the chunks of blocks, each given with its text."""
    text, blocks = "", []
    for part, block in parts:
        blocks.append(block._replace(start=len(text), end=len(text) + len(part)))
        text += f"{part}\n"
    document = ParsedDocument(text=text, title="t", blocks=tuple(blocks))
    return [(chunk.heading_path, chunk.text) for chunk in split_document(document, Budget())]


def test_a_block_that_ends_sections_belongs_to_the_outer_heading():
    heading, code = Block(BlockKind.HEADING, 0, 0, 1, "a"), Block(BlockKind.CODE, 0, 0)
    assert split_blocks(
        ("class a", heading),
        ("def b", heading._replace(level=2, label="b")),
        ("one", code),
        ("two", code._replace(ends=2)),
        ("three", code._replace(ends=1)),
    ) == [(("a", "b"), "class a\ndef b\none"), (("a",), "two"), ((), "three")]


def test_headings_without_text_share_a_passage_that_the_next_with_text_does_not_join():
    heading, code = Block(BlockKind.HEADING, 0, 0, 1, "a", 1), Block(BlockKind.CODE, 0, 0)
    assert split_blocks(
        ("a", heading),
        ("b", heading._replace(label="b")),
        ("c", heading._replace(label="c", ends=0)),
        ("one", code),
    ) == [((), "a\nb"), (("c",), "c\none")]
