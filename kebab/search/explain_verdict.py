"""Verdicts: in one sentence, where a search found a document or lost it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from kebab.core.queries import Confidence, Mode, Query
from kebab.search.explain import DocumentExplanation, PassageExplanation
from kebab.search.explain_terms import BrokenCondition, active_filters
from kebab.search.fusion import classify_confidence
from kebab.search.retrieval import CANDIDATE_LIMIT
from kebab.wire.why import VerdictName

Remedy: TypeAlias = Literal[
    "limit", "per_doc", "copies", "loosen", "hybrid", "ingest", "mend", "within", "inspect"
]
"""What to do about it: ask for more hits, drop the bound per document or what keeps it out, look
at the copies, ask both channels, embed it, mend the channel, look within it, or at what is known.
"""

_FLAGS = {"path_glob": "path", "doc_id": "doc-id"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Where a document was found or lost, and what would bring it."""

    kind: VerdictName
    text: str
    remedy: Remedy | None = None


def build_verdict(explained: DocumentExplanation, query: Query) -> Verdict:
    """Return the verdict on a document by its best passage."""
    best = explained.best
    if best is None:
        return Verdict("no_text", "lost: no text of it is indexed", "inspect")
    if explained.lifted:
        return _kept_out(explained, best, query)
    if best.place is not None:
        return _ranked(best.place, best, query)
    if best.withheld == "per_doc":
        text = f"lost: {query.per_doc} better passages of its document are shown, and no more"
        return Verdict("per_doc", text, "per_doc")
    if best.withheld == "copies":
        return Verdict("copy", "lost: the very same text is shown from other documents", "copies")
    return _unreached(best, query)


def _ranked(place: int, best: PassageExplanation, query: Query) -> Verdict:
    if place <= query.limit:
        weak = classify_confidence(best.score or 0.0) is Confidence.WEAK
        return Verdict("found", f"found at rank {place}" + (", as a weak hit" if weak else ""))
    text = f"it stands at rank {place:,}, and the page holds {query.limit:,}"
    return Verdict("next_page", text, "limit")


def _kept_out(explained: DocumentExplanation, best: PassageExplanation, query: Query) -> Verdict:
    filters = active_filters(explained.question.filters)
    reasons = " and ".join(_reason(one, filters) for one in explained.lifted)
    if best.place is None:
        after = "it would not be among the candidates without that either"
    else:
        after = f"without that it stands at rank {best.place:,}"
        if best.place > query.limit:
            after += f", and the page holds {query.limit:,}"
    return Verdict("kept_out", f"lost: {reasons}; {after}", "loosen")


def _reason(barrier: BrokenCondition, filters: Mapping[str, Any]) -> str:
    phrase = barrier.phrase
    if phrase is None:
        return f"the filter {_filter(str(barrier.filter), filters)} keeps it out"
    where = f" in its {phrase.column}" if phrase.column else ""
    if barrier.kind == "exclusion":
        return f"it holds the excluded \u201c{phrase.text}\u201d{where}"
    return f"it does not hold \u201c{phrase.text}\u201d{where}"


def _filter(name: str, filters: Mapping[str, Any]) -> str:
    """Return a filter as a flag with its values; without them where they are times."""
    value = filters[name]
    values = " or ".join(value) if isinstance(value, tuple) else value
    flag = f"--{_FLAGS.get(name, name)}"
    return f"{flag} {values}" if isinstance(values, str) else flag


def _unreached(best: PassageExplanation, query: Query) -> Verdict:
    """Return why a passage that nothing keeps out is no candidate."""
    words = _by_words(best, query.mode)
    meaning, remedy = _by_meaning(best, query.mode)
    kind: VerdictName = (
        "no_match" if best.words.rank is None and best.meaning.rank is None else "too_far"
    )
    return Verdict(kind, "lost: " + " and ".join(filter(None, (words, meaning))), remedy)


def _by_words(best: PassageExplanation, mode: Mode) -> str:
    if mode is Mode.VECTOR:
        return ""
    if best.words.rank is None:
        return "no term that was asked for occurs in it"
    return (
        f"by its words it is only at rank {best.words.rank:,} ({CANDIDATE_LIMIT:,} are looked at)"
    )


def _by_meaning(best: PassageExplanation, mode: Mode) -> tuple[str, Remedy]:
    if mode is Mode.LEXICAL:
        return "", "hybrid"
    if best.meaning.rank is not None:
        rank = f"by its meaning it is only at rank {best.meaning.rank:,} ({CANDIDATE_LIMIT:,} are looked at)"
        return rank, "within"
    if best.chunk.vector_state == "pending":
        return "it still waits for its vector", "ingest"
    if best.chunk.vector_state == "unsupported":
        return (
            "the model does not know its script",
            "inspect" if best.words.rank is None else "within",
        )
    return "its vector could not be compared", "mend"
