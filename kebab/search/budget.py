"""Chooses the texts of the hits of a page, and fits them into a token budget.

With the detail `best` a page shall answer by itself: hits that are unlikely to answer lose their
text, and what room they leave is given to the others, whose passages grow by those before and after
them, as far as their section or symbol reaches.

The budget bounds the text that a reader of the page gets: for each hit its reference, its headings
and its snippet or passage, and once the query and the lines around the hits. The estimate is rather
too high than too low, so that it holds for most language models (`docs/notes/agents.md`).
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import islice, pairwise
from os.path import commonpath
from typing import TYPE_CHECKING

from msgspec import UNSET

from kebab.core.chunks import Extent, Key
from kebab.core.media import is_code
from kebab.core.queries import Hit, Query, Snippet, StoredChunk
from kebab.search.reordering import CONSTANT, is_licence
from kebab.search.snippet import cut_snippet, highlight_text
from kebab.text.model_input import estimate_tokens
from kebab.text.tokenizer import collect_all_tokens

if TYPE_CHECKING:
    from kebab.wire.search import LeftOut

_PAGE_TOKENS = 40
"""The tokens of the lines around the hits, without the query."""

_HIT_TOKENS = 16
"""The tokens of a hit for its confidence, line numbers, signs between its parts and line ends."""

_MIN_CHARS = 40
"""A text is not shortened below this length."""

_STEP = 0.9
"""How much shorter than estimated the next try is."""


def estimate_page_tokens(query: Query, folder: str) -> int:
    """Return the estimated tokens of a page without its hits."""
    texts = (query.text, *query.more, folder)
    return _PAGE_TOKENS + sum(map(estimate_tokens, texts))


def estimate_hit_tokens(hit: Hit) -> int:
    """Return the estimated tokens of the reference, the headings and the text of a hit."""
    chunk, text = hit.chunk, hit.snippet.text
    headings = dict.fromkeys((chunk.title, *chunk.heading_path))
    texts = (chunk.path, *headings, text, chunk.context if text else "")
    return _HIT_TOKENS + sum(map(estimate_tokens, texts))


def fit_budget(
    hits: Sequence[Hit],
    query: Query,
    weigh: Callable[[Key], Mapping[str, float]],
    required: int = 1,
) -> "tuple[list[Hit], LeftOut | None]":
    """Return the first hits that fit into the budget together, and what was left out.

    Hits are whole. The required ones are always kept; when they exceed the budget together, they
    share it, and the longer ones are cut to the sentences around their best match. A page ends
    before the first hit that does not fit, so that the next page begins with it; with `detail`
    `best` a weak one is kept without its text where that fits. `weigh` returns the weights of the
    tokens that match in a chunk.
    """
    if not hits:
        return [], None
    room = (query.max_tokens or 0) - estimate_page_tokens(query, hits[0].chunk.source)
    hits, costs = list(hits), [estimate_hit_tokens(hit) for hit in hits]
    kept, spent = required, sum(costs[:required])
    while kept < len(hits):
        hit = hits[kept]
        may_be_bare = query.detail == "best" and hit.confidence == "weak"
        if spent + costs[kept] > room and may_be_bare:
            hits[kept] = hit._replace(snippet=Snippet(""))
            costs[kept] = estimate_hit_tokens(hits[kept])
        if spent + costs[kept] > room:
            break
        spent += costs[kept]
        kept += 1
    fitting = hits[:kept]
    if spent > room:
        # The hits share the room evenly; what a short one leaves goes to the longer ones.
        for number, place in enumerate(sorted(range(kept), key=costs.__getitem__)):
            weights = weigh(hits[place].chunk.key)
            fitting[place] = _shorten_hit(hits[place], room // (kept - number), weights)
            room -= estimate_hit_tokens(fitting[place])
    missing = len(hits) - len(fitting)
    tokens = sum(costs) - sum(map(estimate_hit_tokens, fitting))
    if not missing and not tokens:
        return fitting, None
    from kebab.wire.search import LeftOut

    cut = [hit for place, hit in enumerate(hits) if hit not in fitting[place : place + 1]]
    queries = sorted({index for hit in cut for index in hit.queries})
    return fitting, LeftOut(hits=missing, tokens=tokens, queries=queries if query.more else UNSET)


def _shorten_hit(hit: Hit, room: int, weights: Mapping[str, float]) -> Hit:
    """Return a hit whose text is cut, between sentences if possible, until it fits."""
    whole = hit.snippet.text
    chars, excess = len(whole), estimate_hit_tokens(hit) - room
    while excess > 0 and chars > _MIN_CHARS:
        tokens = estimate_tokens(hit.snippet.text)
        share = max(0.0, tokens - excess) / (tokens or 1)
        chars = max(_MIN_CHARS, int(min(chars, len(hit.snippet.text)) * share * _STEP))
        cut: Snippet = cut_snippet(whole, weights, chars)
        hit = hit._replace(snippet=cut)
        excess = estimate_hit_tokens(hit) - room
    return hit


_FEW, _MORE_TEXTS = 2, 2
"""Where so few hits are better than weak, the answer, or a part of it, is often in a weak one, and
so many of these have their text."""

_GROWN_TOKENS, _GROWN_PAGE_TOKENS = 400, 1000
"""The most estimated tokens of a text that grows, and of its page where the request sets none."""

_BLANK_LINES = 2
"""Two passages follow each other when at most this many line numbers, so one blank line, are
between them."""

ReadChunks = Callable[[Sequence[Key]], list[StoredChunk]]
FindNames = Callable[[Sequence[str]], list[StoredChunk]]
"""Returns passages that hold one of some names."""


def drop_weak_texts(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits of a page without the texts of those that are unlikely to answer.

    Texts have the hits above weak, the first one of each query, where few are above weak the first
    weak ones, and all of code where the first hit is not strong. The licence above code answers
    nothing but a question about it.
    """
    better = [hit for hit in hits if hit.confidence != "weak" and not is_licence(hit.chunk)]
    firsts = {index: hit for hit in reversed(hits) for index in hit.queries}
    kept = {hit.chunk.key for hit in (*better, *firsts.values())}
    weak = [hit.chunk for hit in hits if hit.chunk.key not in kept and not is_licence(hit.chunk)]
    if hits and hits[0].confidence != "strong":
        kept.update(chunk.key for chunk in weak if is_code(chunk.media))
    if len(better) <= _FEW:
        kept.update(chunk.key for chunk in weak[:_MORE_TEXTS])
    return [hit if hit.chunk.key in kept else hit._replace(snippet=Snippet("")) for hit in hits]


def grow_texts(
    hits: Sequence[Hit],
    query: Query,
    list_extents: Callable[[Key], Sequence[Extent]],
    read: ReadChunks,
    find: FindNames,
    weigh: Callable[[Key], Mapping[str, float]],
) -> list[Hit]:
    """Return hits whose passages reach further in their section, while the page has room.

    Those above weak grow, the first ones first. A passage takes in the texts of later hits beside
    it, whatever the room is. It is cited by all its lines. Those of code get the lines of their
    symbol and the constants that they name.
    """
    found = list(hits)
    later = {hit.chunk.key: place for place, hit in enumerate(hits) if hit.snippet.text}
    taken: set[Key] = set()
    room = (query.max_tokens or _GROWN_PAGE_TOKENS) - sum(map(estimate_hit_tokens, hits))
    room -= estimate_page_tokens(query, hits[0].chunk.source) if hits else 0
    for place, hit in enumerate(hits):
        chunk = hit.chunk
        if later.pop(chunk.key, None) is None or chunk.place is not None:
            continue
        taken.add(chunk.key)
        own = _GROWN_TOKENS - estimate_tokens(chunk.text)
        free = 0 if hit.confidence == "weak" else max(0, min(room, own))
        extents = list_extents(chunk.key)
        chunk = _grow_passage(chunk, extents, read, taken, later.keys(), free)
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
        if is_code(chunk.media):
            found[place] = _explain_code(found[place], extents, find, weigh(chunk.key))
    return found


def _grow_passage(
    chunk: StoredChunk,
    extents: Sequence[Extent],
    read: ReadChunks,
    taken: set[Key],
    later: Collection[Key],
    room: float,
) -> StoredChunk:
    """Return a passage with those after and before it in turns, in its section.

    `taken` are the passages that the page shows already, to which it adds its own; `later` those of
    later hits, which cost nothing; `room` the tokens for others. Two passages that share a line
    stay apart: joined, they would show it as two lines.
    """
    last = first = next(n for n, one in enumerate(extents) if one.key == chunk.key)
    parts, sides = [chunk], [1, -1]
    while sides:
        side = sides.pop(0)
        edge, near = (last, last + 1) if side > 0 else (first, first - 1)
        if not 0 <= near < len(extents) or (key := extents[near].key) in taken:
            continue
        above, below = extents[min(edge, near)], extents[max(edge, near)]
        is_same = above.heading_path == below.heading_path
        if not is_same or not 0 < below.start_line - above.end_line <= _BLANK_LINES:
            continue
        (other,) = read([key])
        cost = 0.0 if key in later else estimate_tokens(other.text)
        if cost > room:
            continue
        room -= cost
        taken.add(key)
        parts.insert(len(parts) if side > 0 else 0, other)
        first, last = min(first, near), max(last, near)
        sides.append(side)
    text = parts[0].text
    for one, other in pairwise(parts):
        text += "\n" * (other.start_line - one.end_line) + other.text
    start, end = parts[0].start_line, parts[-1].end_line
    return chunk._replace(text=text, context=parts[0].context, start_line=start, end_line=end)


_MOST_CONSTANTS, _LONGEST_CONSTANT, _MOST_NAMES = 2, 140, 12
"""How many constants a passage of code has, how long their lines are, and how many of its names
are looked up."""

_find_names = re.compile(r"\b(?!(?:None|True|False)\b|[A-Z][a-z]+[( ])_*[A-Za-z]\w{3,}").findall
"""Names but not those of classes that are called, nor words of a sentence."""


def _explain_code(
    hit: Hit, extents: Sequence[Extent], find: FindNames, weights: Mapping[str, float]
) -> Hit:
    """Return a hit of code with the lines of its symbol, and the constants it names as context.

    These are the lines of all files that give a value to a name of the passage which shares words
    with the query: a limit is often all that is asked for.
    """
    chunk = hit.chunk
    names = {
        name: weight
        for name in dict.fromkeys(_find_names(chunk.text))
        if not name.islower()
        and (weight := sum(weights.get(token, 0.0) for token in collect_all_tokens([name])))
    }
    best = sorted(names, key=names.__getitem__, reverse=True)[:_MOST_NAMES]
    found = _find_constants(best, chunk, find(best)) if best else {}
    constants = (found[name] for name in best if found.get(name))
    context = "\n".join(filter(None, (chunk.context, *islice(constants, _MOST_CONSTANTS))))
    symbol = _find_symbol(chunk, extents) if chunk.heading_path else None
    return hit._replace(chunk=chunk._replace(context=context), symbol=symbol)


def _find_constants(
    names: Collection[str], chunk: StoredChunk, holders: Sequence[StoredChunk]
) -> dict[str, str]:
    """Return the lines that give names of a passage a value, those of other files with their place.

    A name is a constant outside of all symbols, in one around the passage, and where it is declared
    unless it begins small. The nearest file counts; where it is not clear which value a name has,
    it has none.
    """
    found: dict[str, tuple[float, str, str]] = {}
    for holder in (chunk, *holders):
        is_own = holder.doc_id == chunk.doc_id
        around = [chunk.heading_path[:depth] for depth in range(len(chunk.heading_path))]
        is_outer = not holder.heading_path or (is_own and holder.heading_path in around)
        near = float("inf") if is_own else len(commonpath((f"/{chunk.path}", f"/{holder.path}")))
        for one in re.finditer(CONSTANT, holder.text):
            name, line = one["name"], one[0].strip()
            is_constant = name.isupper() or (name[0].isupper() and one["words"])
            if name not in names or not (is_constant or is_outer):
                continue
            number = holder.start_line + holder.text.count("\n", 0, one.start())
            is_hidden = holder is chunk or len(line) > _LONGEST_CONSTANT
            text = "" if is_hidden else f"{number}: {line}"
            nearest, known, _ = found.get(name, (-1, "", ""))
            if near > nearest:
                found[name] = near, line, text if is_own or not text else f"{holder.path}:{text}"
            elif near == nearest and line != known and not is_own:
                found[name] = near, known, ""
    return {name: text for name, (_, _, text) in found.items()}


def _find_symbol(chunk: StoredChunk, extents: Sequence[Extent]) -> tuple[int, int]:
    """Return the first and the last line of the symbol around a passage of code."""
    path = chunk.heading_path
    first = last = next(n for n, one in enumerate(extents) if one.key == chunk.key)
    while first and extents[first - 1].heading_path[: len(path)] == path:
        first -= 1
    while last + 1 < len(extents) and extents[last + 1].heading_path[: len(path)] == path:
        last += 1
    return extents[first].start_line, extents[last].end_line
