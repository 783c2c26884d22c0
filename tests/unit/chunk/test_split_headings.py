import pytest

from kebab.chunk.split import find_common_prefix, split_sections
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
