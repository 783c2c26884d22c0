"""How long a chunk may be, and the one place that every chunk must pass."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kebab.chunk.ids import DEFAULT_LIMIT
from kebab.chunk.pack import Range, halve
from kebab.chunk.token_count import estimate
from kebab.core.chunks import embed_text

_CHARACTERS_PER_TOKEN = 10
_CONTEXT_SHARE = 4
_HEADING_SHARE = 8
_LEAST_ROOM = 8
_CLIPS = (80, 40, 20)


@dataclass(frozen=True, slots=True)
class Budget:
    """The most tokens of a chunk as it is embedded, context included, and who counts them."""

    limit: int = DEFAULT_LIMIT
    count: Callable[[Sequence[str]], list[int]] = estimate

    def sizes(self, texts: Sequence[str]) -> list[int]:
        """Return the size of each text in tokens.

        A word that a tokenizer does not know may be one token whatever its length, so long
        stretches count for their characters too.
        """
        counts = self.count(texts) if texts else []
        return [
            max(tokens, -(-len(text) // _CHARACTERS_PER_TOKEN))
            for tokens, text in zip(counts, texts, strict=True)
        ]


class Slice(NamedTuple):
    """A chunk in the making: a range of the document's text and its heading path."""

    start: int
    end: int
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Context:
    """The heading path as it is embedded, and the tokens that it and the title leave for text."""

    path: tuple[str, ...]
    room: int


def contexts(
    title: str, paths: Sequence[tuple[str, ...]], budget: Budget
) -> dict[tuple[str, ...], Context]:
    """Return the context of each path, shortened where it would take over a quarter of a chunk.

    Outer headings go first, then the end of the inner one; the title always stays, and the
    headings may have an eighth beside it while a quarter is left for the text.
    """
    unique = list(dict.fromkeys([(), *paths]))
    sizes = dict(zip(unique, _context_sizes(title, unique, budget), strict=True))
    quarter = budget.limit // _CONTEXT_SHARE
    beside_title = sizes[()] + budget.limit // _HEADING_SHARE
    most = max(quarter, min(beside_title, budget.limit - quarter))
    found = {}
    for path in unique:
        short, size = path, sizes[path]
        if size > most:
            short, size = _shorten(title, path, most, budget)
        found[path] = Context(short, max(budget.limit - size, _LEAST_ROOM))
    return found


def fit(text: str, title: str, slices: Sequence[Slice], budget: Budget) -> list[Slice]:
    """Return the slices, cut again wherever what is embedded would exceed the limit.

    Counts of parts do not always add up to the count of the whole, so what comes out of the
    packing is counted as it will be embedded.
    """
    done: dict[Slice, list[Slice]] = {}
    todo = list(slices)
    while todo:
        whole = [embed_text(title, piece.path, text[piece.start : piece.end]) for piece in todo]
        again = []
        for piece, size in zip(todo, budget.sizes(whole), strict=True):
            parts = halve(text, Range(piece.start, piece.end)) if size > budget.limit else []
            done[piece] = [piece._replace(start=part.start, end=part.end) for part in parts]
            again += done[piece]
        todo = again
    return [leaf for piece in slices for leaf in _leaves(piece, done)]


def _leaves(piece: Slice, parts: dict[Slice, list[Slice]]) -> list[Slice]:
    """Return what a slice was cut into in the end, in order."""
    if not parts[piece]:
        return [piece]
    return [leaf for part in parts[piece] for leaf in _leaves(part, parts)]


def _context_sizes(title: str, paths: Sequence[tuple[str, ...]], budget: Budget) -> list[int]:
    """Return the tokens of each context, one more for a joint that does not add up."""
    sizes = budget.sizes([embed_text(title, path, "") for path in paths])
    return [size + 1 if size else 0 for size in sizes]


def _shorten(
    title: str, path: tuple[str, ...], most: int, budget: Budget
) -> tuple[tuple[str, ...], int]:
    """Return the longest form of the path that takes no more than `most` tokens."""
    forms = [path[depth:] for depth in range(1, len(path))]
    forms += [(path[-1][:length].rstrip() + "\u2026",) for length in _CLIPS]
    forms.append(())
    sizes = _context_sizes(title, forms, budget)
    return next(
        (form, size) for form, size in zip(forms, sizes, strict=True) if size <= most or not form
    )
