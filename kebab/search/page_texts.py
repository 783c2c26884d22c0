"""Chooses the text of the hits of a page that shall answer by itself: the detail `best`.

Hits that are unlikely to answer lose their text. What room they leave is given to the others, whose
passages grow by those before and after them, as far as their section or symbol reaches.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from kebab.core.chunks import Extent
from kebab.core.ids import Key
from kebab.core.media import CitationKind, get_media_type
from kebab.core.ports import LibraryReader
from kebab.core.queries import Confidence, Hit, Query, Snippet, StoredChunk
from kebab.search.budget import estimate_hit_tokens, estimate_page_tokens
from kebab.search.snippet import highlight_text
from kebab.text.model_input import estimate_tokens

_FEW = 2
"""Where so few hits are better than weak, the answer, or a part of it, is often in a weak one."""

_MORE_TEXTS = 2
"""The number of weak hits that have their text then."""

_GROWN_TOKENS = 700
"""The most estimated tokens of a text that grows."""

_PAGE_TOKENS = 1200
"""The most estimated tokens of a page whose texts grow, where the request sets no other limit."""

_BLANK_LINES = 2
"""Two passages follow each other when at most this many line numbers, so one blank line, are
between them."""

ReadChunks = Callable[[Sequence[Key]], list[StoredChunk]]


def drop_weak_texts(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits of a page without the texts of those that are unlikely to answer.

    Texts have the hits above weak, the first one of each query, and where few hits are above weak
    the first weak ones.
    """
    better = [hit for hit in hits if hit.confidence is not Confidence.WEAK]
    firsts = {index: hit for hit in reversed(hits) for index in hit.queries}
    kept = {hit.chunk.key for hit in (*better, *firsts.values())}
    weak = [hit.chunk.key for hit in hits if hit.chunk.key not in kept]
    kept.update(weak[:_MORE_TEXTS] if len(better) <= _FEW else [])
    return [hit if hit.chunk.key in kept else hit._replace(snippet=Snippet("")) for hit in hits]


def grow_texts(
    hits: Sequence[Hit],
    query: Query,
    library: LibraryReader,
    read: ReadChunks,
    weigh: Callable[[Key], Mapping[str, float]],
) -> list[Hit]:
    """Return hits whose passages reach further in their section, while the page has room.

    Those above weak grow, the first ones first; of code into the symbols beside their own too. A
    passage takes in the texts of later hits beside it, whatever the room is. It is cited by all its
    lines. Hits of code get the lines of their symbol.
    """
    found = list(hits)
    later = {hit.chunk.key: place for place, hit in enumerate(hits) if hit.snippet.text}
    taken: set[Key] = set()
    room = (query.max_tokens or _PAGE_TOKENS) - sum(map(estimate_hit_tokens, hits))
    room -= estimate_page_tokens(query, hits[0].chunk.source) if hits else 0
    for place, hit in enumerate(hits):
        chunk = hit.chunk
        if later.pop(chunk.key, None) is None or chunk.place is not None:
            continue
        taken.add(chunk.key)
        own = _GROWN_TOKENS - estimate_tokens(chunk.text)
        free = 0 if hit.confidence is Confidence.WEAK else max(0, min(room, own))
        extents = library.list_extents(chunk.key)
        chunk = _grow_passage(chunk, extents, read, _Limits(taken, later.keys(), free))
        absorbed = [later.pop(key) for key in taken & later.keys()]
        for other in absorbed:
            found[other] = found[other]._replace(snippet=Snippet(""))
        if chunk is not hit.chunk:
            snippet = highlight_text(chunk.text, weigh(chunk.key))
            queries = {*hit.queries, *(index for one in absorbed for index in hits[one].queries)}
            found[place] = hit._replace(
                chunk=chunk, snippet=snippet, queries=tuple(sorted(queries))
            )
            room -= estimate_hit_tokens(found[place]) - estimate_hit_tokens(hit)
        if _is_code(chunk) and chunk.heading_path:
            found[place] = found[place]._replace(symbol=_find_symbol(chunk, extents))
    return found


class _Limits(NamedTuple):
    """What a passage may take in.

    `taken` are the passages that the page shows already, to which it adds its own; `later` those
    of later hits, which cost nothing; `room` the tokens for others.
    """

    taken: set[Key]
    later: Collection[Key]
    room: float


def _grow_passage(
    chunk: StoredChunk, extents: Sequence[Extent], read: ReadChunks, limits: _Limits
) -> StoredChunk:
    """Return a passage with those after and before it in turns, first those of its section."""
    last = first = next(n for n, one in enumerate(extents) if one.key == chunk.key)
    taken, later, room = limits
    for crosses in (False, True) if _is_code(chunk) else (False,):
        sides = [1, -1]
        while sides:
            side = sides.pop(0)
            edge, near = (last, last + 1) if side > 0 else (first, first - 1)
            if not 0 <= near < len(extents) or (key := extents[near].key) in taken:
                continue
            pair = extents[min(edge, near)], extents[max(edge, near)]
            if not _continues(*pair, crosses=crosses) or (crosses and key in later):
                continue
            (other,) = read([key])
            cost = 0.0 if key in later else estimate_tokens(other.text)
            if cost > room:
                continue
            room -= cost
            taken.add(key)
            chunk = _join(chunk, other)
            first, last = min(first, near), max(last, near)
            sides.append(side)
    return chunk


def _continues(above: Extent, below: Extent, *, crosses: bool) -> bool:
    """Return whether a passage follows another one, in its section unless it `crosses` its end.

    Two that share a line stay apart: joined, they would show it as two lines.
    """
    same = crosses or above.heading_path == below.heading_path
    return same and 0 < below.start_line - above.end_line <= _BLANK_LINES


def _join(one: StoredChunk, other: StoredChunk) -> StoredChunk:
    """Return the first of two passages that follow each other with the lines of both."""
    early, late = sorted((one, other), key=lambda chunk: chunk.start_line)
    return one._replace(
        text=early.text + "\n" * (late.start_line - early.end_line) + late.text,
        start_line=early.start_line,
        end_line=late.end_line,
        context=early.context,
    )


def _is_code(chunk: StoredChunk) -> bool:
    return get_media_type(chunk.media).cites is CitationKind.CODE


def _find_symbol(chunk: StoredChunk, extents: Sequence[Extent]) -> tuple[int, int]:
    """Return the first and the last line of the symbol around a passage of code."""
    path = chunk.heading_path
    first = last = next(n for n, one in enumerate(extents) if one.key == chunk.key)
    while first and extents[first - 1].heading_path[: len(path)] == path:
        first -= 1
    while last + 1 < len(extents) and extents[last + 1].heading_path[: len(path)] == path:
        last += 1
    return extents[first].start_line, extents[last].end_line
