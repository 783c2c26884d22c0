import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.chunk.pack import Range, get_cutters, halve, trim
from kebab.core.documents import BlockKind

TEXT = st.text(st.sampled_from("ab .\n\t-가。,\u0301") | st.characters(), min_size=1)


def parts(text, kind, depth=0, room=40):
    whole = Range(0, len(text))
    return [text[start:end] for start, end in get_cutters(kind)[depth](text, whole, room)]


@given(text=TEXT, kind=st.sampled_from(list(BlockKind)), room=st.integers(1, 40))
def test_every_cut_is_a_partition(text, kind, room):
    for cutter in get_cutters(kind):
        ranges = cutter(text, Range(0, len(text)), room)
        assert "".join(text[start:end] for start, end in ranges) == text
        assert all(start < end for start, end in ranges)


def test_prose_is_cut_at_sentences_first():
    text = 'One two. "Three?" Four\nfive! 하나다. 둘이다。셋이다\n넷'
    assert parts(text, BlockKind.PARAGRAPH) == [
        "One two. ", '"Three?" ', "Four\nfive! ", "하나다. ", "둘이다。", "셋이다\n", "넷",
    ]  # fmt: skip


def test_an_abbreviated_number_is_no_sentence():
    assert parts("version 1.2.3 of it", BlockKind.PARAGRAPH) == ["version 1.2.3 of it"]


def test_lists_are_cut_at_their_outermost_items():
    text = "- a\n  - b\n\n  c\n- d\n"
    assert parts(text, BlockKind.LIST) == ["- a\n  - b\n\n  c\n", "- d\n"]


def test_tables_are_cut_at_rows():
    assert parts("|a|\n|-|\n|1|", BlockKind.TABLE, depth=1) == ["|a|\n", "|-|\n", "|1|"]


def test_code_is_cut_at_blank_lines_before_lines():
    text = "a. b\nc\n\nd\n"
    assert parts(text, BlockKind.CODE) == ["a. b\nc\n\n", "d\n"]
    assert parts(text, BlockKind.CODE, depth=1) == ["a. b\n", "c\n\n", "d\n"]


def test_long_stretches_are_cut_behind_spaces():
    text = "aaaa bbbb " * 4
    assert parts(text, BlockKind.PARAGRAPH, -1, room=28) == ["aaaa ", "bbbb "] * 4


def test_a_letter_keeps_its_marks():
    text = "xxx" + "e\u0301" * 8
    assert all(part[0] != "\u0301" for part in parts(text, BlockKind.PARAGRAPH, -1, room=16))


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("aaaa\n\nbbbb", "aaaa\n\n"),
        ("aaaa. aa bb cc", "aaaa. "),
        ("aaaa bbbb", "aaaa "),
        ("abcd", "ab"),
    ],
)
def test_halves_meet_at_the_best_boundary(text, first):
    start, end = halve(text, Range(0, len(text)))[0]
    assert text[start:end] == first


def test_a_single_character_has_no_halves():
    assert halve("a", Range(0, 1)) == []


@pytest.mark.parametrize(
    ("text", "start", "trimmed"),
    [
        ("\n \n    code\n\n", 0, "    code"),
        ("    code", 0, "    code"),
        ("word   next", 4, "next"),
        ("a\n  b ", 2, "  b"),
        (" \n ", 0, None),
    ],
)
def test_trimming_keeps_the_indent_of_a_whole_line(text, start, trimmed):
    found = trim(text, Range(start, len(text)))
    assert (None if found is None else text[found.start : found.end]) == trimmed
