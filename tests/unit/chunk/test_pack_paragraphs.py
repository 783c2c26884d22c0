from hypothesis import given
from hypothesis import strategies as st

from kebab.chunk.pack import Piece, Range, pack_pieces

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


def packed(*sizes, glued=()):
    return [end - start for start, end in pack_pieces(cells(*sizes, glued=glued), ROOM)]


def test_paragraphs_are_joined_up_to_the_target():
    assert packed(45, 15, 45, 45) == [60, 45, 45]


def test_a_paragraph_of_usual_length_is_its_own_chunk():
    assert packed(50, 50, 50) == [50, 50, 50]


def test_what_is_tiny_joins_its_neighbour():
    assert packed(70, 20) == [90]
    assert packed(20, 70) == [90]


def test_nothing_grows_beyond_the_room():
    assert packed(90, 20) == [90, 20]


def test_a_heading_stays_with_what_follows():
    assert packed(80, 10, 80, glued={1}) == [80, 90]


def test_a_heading_at_the_end_can_be_its_own_chunk():
    assert packed(95, 10, glued={1}) == [95, 10]


def test_a_long_block_is_cut_into_equal_parts():
    assert packed([30] * 4) == [60, 60]


def test_a_heading_goes_with_the_first_part_of_a_long_block():
    assert packed(10, [45, 45, 45], glued={0}) == [100, 45]


def test_nothing_gives_nothing():
    assert packed() == []


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
