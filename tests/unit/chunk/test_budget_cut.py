import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.chunk.budget import (
    Budget,
    ChunkDraft,
    Piece,
    Range,
    enforce_limit,
    get_cutters,
    halve,
    pack_pieces,
)
from kebab.core.chunks import build_embed_text
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


def test_a_list_is_cut_before_its_outermost_items():
    text = "  - a\n    - b\n  - c\n- d"
    assert parts(text, BlockKind.LIST) == ["  - a\n    - b\n", "  - c\n", "- d"]


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


def words(texts):
    return [len(text.split()) for text in texts]


def test_what_does_not_fit_is_cut_again():
    text = "a b c d e f. g h i j k l m n"
    whole = ChunkDraft(0, len(text), ("P",))
    pieces = enforce_limit(text, Budget(10, words), "T", [whole])
    assert "".join(text[piece.start : piece.end] for piece in pieces) == text
    assert len(pieces) > 1
    for piece in pieces:
        size = words([build_embed_text("T", ("P",), text[piece.start : piece.end])])[0]
        assert size <= 10


def test_a_count_that_never_fits_ends_at_single_characters():
    budget = Budget(1, lambda texts: [9 for _ in texts])
    pieces = enforce_limit("abcd", budget, "", [ChunkDraft(0, 4, ())])
    assert [(piece.start, piece.end) for piece in pieces] == [(0, 1), (1, 2), (2, 3), (3, 4)]


ROOM = 100


def cells(*sizes, glued=()):
    found, at = [], 0
    for number, size in enumerate(sizes):
        cell = []
        for part in size if isinstance(size, list) else [size]:
            cell.append(Piece(Range(at, at + part), part, glued=number in glued))
            at += part
        found.append(cell)
    return found


SIZES = st.lists(st.integers(1, ROOM) | st.lists(st.integers(1, ROOM), min_size=1), max_size=12)


@given(sizes=SIZES, glued=st.sets(st.integers(0, 12)))
def test_packing_loses_nothing_and_fits_the_room(sizes, glued):
    given_cells = cells(*sizes, glued=glued)
    pieces = [piece for cell in given_cells for piece in cell]
    ranges = list(pack_pieces(given_cells, ROOM))
    at = 0
    for start, end in ranges:
        assert start == at
        assert end - start <= ROOM
        at = end
    assert at == sum(piece.size for piece in pieces)


def test_blocks_that_much_other_text_separates_are_not_joined():
    apart = [[Piece(Range(0, 10), 10)], [Piece(Range(1000, 1010), 10)]]
    near = [[Piece(Range(0, 10), 10)], [Piece(Range(12, 22), 10)]]

    assert list(pack_pieces(apart, ROOM)) == [Range(0, 10), Range(1000, 1010)]
    assert list(pack_pieces(near, ROOM)) == [Range(0, 22)]


def test_a_heading_that_much_other_text_separates_is_its_own_chunk():
    given_cells = [[Piece(Range(0, 10), 10, glued=True)], [Piece(Range(1000, 1010), 10)]]

    assert list(pack_pieces(given_cells, ROOM)) == [Range(0, 10), Range(1000, 1010)]
