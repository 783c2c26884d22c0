"""Packing: neighbouring blocks of one section become chunks of a good size.

A heading stays with what follows it. Blocks are joined up to a target below the limit, so that a
paragraph of usual length stands alone and its citation is exact; what is tiny joins its neighbour.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kebab.chunk.cut import Range

_TARGET_SHARE = 0.6
_TINY = 40


class Piece(NamedTuple):
    """A range of text with its size in tokens; `glued` says that the next must follow."""

    where: Range
    size: int
    glued: bool = False


def pack(cells: Iterable[list[Piece]], room: int) -> Iterator[Range]:
    """Yield the ranges of chunks; a cell is a block, in one piece or in those it was cut into.

    Every piece fits `room`.
    """
    current: Piece | None = None
    for cell in _stick(cells):
        pieces = _even(cell, room)
        if current is not None and _belong(current, pieces[0], room):
            pieces[0] = _join([current, pieces[0]])
        elif current is not None:
            yield current.where
        yield from (piece.where for piece in pieces[:-1])
        current = pieces[-1]
    if current is not None:
        yield current.where


def _stick(cells: Iterable[list[Piece]]) -> Iterator[list[Piece]]:
    """Yield cells in which headings stand before the block they announce."""
    waiting: list[Piece] = []
    for cell in cells:
        waiting += cell
        if not cell[-1].glued:
            yield waiting
            waiting = []
    if waiting:
        yield waiting


def _even(cell: list[Piece], room: int) -> list[Piece]:
    """Return the pieces of a cell joined into as few parts as fit, of about equal size."""
    total = sum(piece.size for piece in cell)
    aim = total / -(-total // room) if total else 0
    parts: list[list[Piece]] = []
    size = 0
    for piece in cell:
        full = size >= aim and not (parts and parts[-1][-1].glued)
        if not parts or full or size + piece.size > room:
            parts.append([])
            size = 0
        parts[-1].append(piece)
        size += piece.size
    return [_join(part) for part in parts]


def _belong(left: Piece, right: Piece, room: int) -> bool:
    """Return whether two neighbours make a better chunk than either alone."""
    total = left.size + right.size
    tiny = min(left.size, right.size) < _TINY
    return total <= (room if tiny else room * _TARGET_SHARE)


def _join(pieces: list[Piece]) -> Piece:
    """Return neighbouring pieces as one."""
    where = Range(pieces[0].where.start, pieces[-1].where.end)
    return Piece(where, sum(piece.size for piece in pieces))
