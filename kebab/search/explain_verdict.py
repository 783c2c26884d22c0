"""Describes in one verdict where a search found or lost a document."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from kebab.core.queries import Confidence, Mode, Query
from kebab.search.answerability import classify_confidence
from kebab.search.explain import DocumentExplanation, PassageExplanation
from kebab.search.explain_matches import BrokenCondition, list_active_filters
from kebab.search.retrieval import CANDIDATE_LIMIT
from kebab.wire.why import VerdictName, Withheld

Remedy: TypeAlias = Literal[
    "limit",
    "per_doc",
    "confidence",
    "copies",
    "loosen",
    "hybrid",
    "ingest",
    "mend",
    "within",
    "inspect",
]
"""What brings a lost document back: more hits, no limit per document, less confidence, a look at
the copies, fewer conditions, both channels, an embedding, a repair, a search within it, or a look
at its record.
"""

_FLAGS = {"path_glob": "path", "doc_id": "doc-id", "folder": "in"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Where a search found or lost a document, and what would bring it back."""

    kind: VerdictName
    text: str
    remedy: Remedy | None = None


def build_verdict(explained: DocumentExplanation, query: Query) -> Verdict:
    """Return the verdict on a document, by its best passage."""
    best = explained.best
    if best is None:
        return Verdict("no_text", "lost: no text of it is indexed", "inspect")
    if explained.removed:
        return _describe_removed(explained, best, query)
    if best.hit_rank is not None:
        return _describe_rank(best.hit_rank, best, query)
    if best.withheld is not None:
        return _describe_withheld(best.withheld, query)
    return _describe_loss(best, query)


def _describe_withheld(reason: Withheld, query: Query) -> Verdict:
    if reason == "per_doc":
        text = f"lost: {query.per_doc} better passages of its document are shown, and no more"
        return Verdict("per_doc", text, "per_doc")
    if reason == "confidence":
        text = f"lost: its confidence is below {query.min_confidence.value}"
        return Verdict("confidence", text, "confidence")
    return Verdict("copy", "lost: the very same text is shown from other documents", "copies")


def _describe_rank(rank: int, best: PassageExplanation, query: Query) -> Verdict:
    if rank <= query.limit:
        weak = classify_confidence(best.score or 0.0) is Confidence.WEAK
        return Verdict("found", f"found at rank {rank}" + (", as a weak hit" if weak else ""))
    text = f"it stands at rank {rank:,}, and the page holds {query.limit:,}"
    return Verdict("next_page", text, "limit")


def _describe_removed(
    explained: DocumentExplanation, best: PassageExplanation, query: Query
) -> Verdict:
    filters = list_active_filters(explained.parsed.filters)
    reasons = " and ".join(_describe_condition(one, filters) for one in explained.removed)
    if best.hit_rank is None:
        after = "it would not be among the candidates without that either"
    else:
        after = f"without that it stands at rank {best.hit_rank:,}"
        if best.hit_rank > query.limit:
            after += f", and the page holds {query.limit:,}"
    return Verdict("kept_out", f"lost: {reasons}; {after}", "loosen")


def _describe_condition(condition: BrokenCondition, filters: Mapping[str, Any]) -> str:
    phrase = condition.phrase
    if phrase is None:
        return f"the filter {_describe_filter(str(condition.filter), filters)} keeps it out"
    where = f" in its {phrase.column}" if phrase.column else ""
    if condition.kind == "exclusion":
        return f"it holds the excluded \u201c{phrase.text}\u201d{where}"
    return f"it does not hold \u201c{phrase.text}\u201d{where}"


def _describe_filter(name: str, filters: Mapping[str, Any]) -> str:
    """Return a filter as a flag with its values, but without times."""
    value = filters[name]
    values = " or ".join(value) if isinstance(value, tuple) else value
    flag = f"--{_FLAGS.get(name, name)}"
    return f"{flag} {values}" if isinstance(values, str) else flag


def _describe_loss(best: PassageExplanation, query: Query) -> Verdict:
    """Return why a passage that breaks no condition is no candidate."""
    lexical = _describe_lexical_loss(best, query.mode)
    semantic, remedy = _describe_vector_loss(best, query.mode)
    kind: VerdictName = (
        "no_match" if best.lexical.rank is None and best.semantic.rank is None else "too_far"
    )
    return Verdict(kind, "lost: " + " and ".join(filter(None, (lexical, semantic))), remedy)


def _describe_lexical_loss(best: PassageExplanation, mode: Mode) -> str:
    if mode is Mode.VECTOR:
        return ""
    if best.lexical.rank is None:
        return "no term that was asked for occurs in it"
    return _describe_far("words", best.lexical.rank)


def _describe_vector_loss(best: PassageExplanation, mode: Mode) -> tuple[str, Remedy]:
    if mode is Mode.LEXICAL:
        return "", "hybrid"
    if best.semantic.rank is not None:
        return _describe_far("meaning", best.semantic.rank), "within"
    if best.chunk.vector_state == "pending":
        return "it still waits for its vector", "ingest"
    if best.chunk.vector_state == "unsupported":
        remedy: Remedy = "inspect" if best.lexical.rank is None else "within"
        return "the model does not know its script", remedy
    return "its vector could not be compared", "mend"


def _describe_far(channel: str, rank: int) -> str:
    return f"by its {channel} it is only at rank {rank:,} ({CANDIDATE_LIMIT:,} are looked at)"
