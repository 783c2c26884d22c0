"""Passages drawn from the notes, spread over languages and documents."""

from collections.abc import Iterator
from dataclasses import dataclass

from kebab.app.facade import Kebab
from kebab.evals.lots import shuffled
from kebab.evals.sentences import Sentence, sentences
from kebab.wire.library import (
    DocList,
    DocSummary,
    FetchChunkRequest,
    InspectDocRequest,
    ListRequest,
    NotFound,
)

_ROUNDS = 20
"""The most passages of one document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One passage with its sentences."""

    doc: str
    lang: str | None
    first: int
    last: int
    heading: str
    sentences: list[Sentence]

    @property
    def text(self) -> str:
        """All that it says."""
        return "\n".join(one.text for one in self.sentences)


def passages(kebab: Kebab, documents: DocList, seed: int) -> Iterator[Passage]:
    """Yield passages: of each language in turn, of each of its documents in turn.

    A document whose file has changed is left out, for its lines are others now.
    """
    for rotation in range(_ROUNDS):
        for document in _in_turn(documents, seed):
            chosen = _nth(kebab, document, rotation, seed)
            if chosen is not None:
                yield chosen


def _in_turn(documents: DocList, seed: int) -> list[DocSummary]:
    """Return documents in the order of their lots, no language before the others had one."""
    places: dict[str | None, int] = {}
    ranked = []
    for one in shuffled(documents.documents, seed, lambda one: one.doc_path):
        if one.freshness == "fresh" and one.chunk_count:
            place = places[one.lang] = places.get(one.lang, 0) + 1
            ranked.append((place, one))
    return [one for _, one in sorted(ranked, key=lambda pair: pair[0])]


def _nth(kebab: Kebab, document: DocSummary, rotation: int, seed: int) -> Passage | None:
    """Return the passage of a document whose turn it is, None when it has no more or no prose."""
    if rotation >= document.chunk_count:
        return None
    seen = kebab.inspect_doc(InspectDocRequest(name=document.doc_id))
    if isinstance(seen, NotFound) or rotation >= len(seen.chunks):
        return None
    chunk = shuffled(seen.chunks, seed, lambda one: f"{document.doc_path} {one.ordinal}")[rotation]
    lines = kebab.fetch_chunk(FetchChunkRequest(name=chunk.chunk_id))
    if isinstance(lines, NotFound):
        return None
    found = list(sentences(lines.text, lines.start_line))
    return Passage(
        doc=document.doc_path,
        lang=document.lang,
        first=lines.start_line,
        last=lines.end_line,
        heading=chunk.heading_path[-1] if chunk.heading_path else "",
        sentences=found,
    )


def every_document(kebab: Kebab) -> DocList:
    """Return the whole list of documents."""
    return kebab.list(ListRequest(limit=None))
