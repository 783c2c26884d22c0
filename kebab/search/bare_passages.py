"""Moves passages without text of their own behind those of their document that have some.

A bare passage is nothing but properties, headings, definitions of links, or links to elsewhere.
Where another passage of the document holds the same words of the query, a reader is better served
by that one.
"""

import re

from msgspec.structs import replace

from kebab.core.chunks import is_front_matter
from kebab.core.queries import StoredChunk
from kebab.search.retrieval import RankedCandidates
from kebab.search.snippet import PassageCache

NAME = "bare"
"""The name of the boost."""

_LIMIT, _READ, _OTHERS = 300, 50, 8
"""How many candidates are compared, how many of the first are read, and how many others of the
document of a bare one."""

_is_heading = re.compile(r"[ \t]*(?:#{1,6}[ \t]|\[[^\]\n]+\]:)").match
"""A heading, or a definition of a link."""

_is_rule = re.compile(r"[=~^-]{3,}[ \t]*").fullmatch
"""The line below a heading."""

_LINK = re.compile(r"\[\[[^\[\]]*\]\]|!?\[[^\[\]]*\]\([^()]*\)")
_has_letter = re.compile(r"[^\W\d_]").search


def is_bare(chunk: StoredChunk) -> bool:
    """Return whether a passage has no text of its own."""
    if is_front_matter(chunk.ordinal, chunk.text):
        return True
    lines = chunk.text.split("\n")
    return not any(
        _has_letter(_LINK.sub("", line)) and not _is_heading(line) and not _is_rule(below)
        for line, below in zip(lines, (*lines[1:], ""), strict=True)
    )


def order_bare(candidates: RankedCandidates, passages: PassageCache) -> RankedCandidates:
    """Return the candidates, where bare ones have changed places.

    A bare one gets the place and the score of the best later passage of its document that holds the
    same terms of the query.
    """
    best = list(candidates.ranked[:_LIMIT])
    bare = [one for one in passages.load_chunks([key for key, _ in best[:_READ]]) if is_bare(one)]
    if not bare:
        return candidates
    places = {key: place for place, (key, _) in enumerate(best)}
    owners = passages.find_doc_numbers([*places])
    terms = {term.text for term in candidates.parsed.terms}
    for chunk in bare:
        place = places[chunk.key]
        later = [key for key, _ in best[place + 1 :] if owners.get(key) == owners.get(chunk.key)]
        held = passages.tokenize_passage(chunk) & terms
        for other in passages.load_chunks(later[:_OTHERS]):
            if not is_bare(other) and held <= passages.tokenize_passage(other):
                second = places[other.key]
                scores = best[place][1], best[second][1]
                best[place], best[second] = (other.key, scores[0]), (chunk.key, scores[1])
                places[chunk.key], places[other.key] = second, place
                break
    before = dict(candidates.ranked)
    moved = {key: score - before[key] for key, score in best if score != before[key]}
    boosts = {**candidates.boosts, **({NAME: moved} if moved else {})}
    return replace(candidates, ranked=[*best, *candidates.ranked[_LIMIT:]], boosts=boosts)
