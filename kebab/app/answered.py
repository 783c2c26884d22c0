"""From an answer to `answer.v1`."""

import uuid
from dataclasses import dataclass

from kebab.app.moment import stamp
from kebab.app.place import file_of, freshness, line_citation
from kebab.app.project import search_hit
from kebab.core.answer import AskOutcome, Inquiry, Support
from kebab.core.hit import Page
from kebab.rag.version import VERSION
from kebab.wire.ask import Answer, AnswerCitation, AnswerRetrieval

SUGGESTIONS = 3
"""How many of the nearest passages a refusal names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What an answer does not know of itself; `created` in seconds since the epoch."""

    inquiry: Inquiry
    session: str | None
    turn: int | None
    created: float
    prompted: bool = False


def reply(outcome: AskOutcome, context: Context) -> Answer:
    """Return the answer as it goes out."""
    hits = outcome.retrieved.page.hits
    return Answer(
        question=context.inquiry.question,
        answer=outcome.text,
        grounded=outcome.grounded,
        refusal_reason=outcome.refusal.value if outcome.refusal else None,
        citations=[_citation(one) for one in outcome.citations],
        suggestions=[] if outcome.grounded else [search_hit(hit) for hit in hits[:SUGGESTIONS]],
        mode=outcome.mode.value,
        model=outcome.model,
        embedding=_embedding(outcome.retrieved.page),
        prompt_template_version=VERSION if context.prompted else None,
        retrieval=_retrieval(outcome, context),
        usage=outcome.usage,
        warnings=list(outcome.warnings),
        session_id=context.session,
        turn_index=context.turn,
        created_at=stamp(context.created),
    )


def _embedding(page: Page) -> str | None:
    """Return what embedded the passages; None when vectors had no part in finding them."""
    near = (hit.chunk for hit in page.hits if hit.retrieval.vector_score is not None)
    return next((chunk.embedding_version for chunk in near), None)


def _citation(support: Support) -> AnswerCitation:
    chunk = support.quote.chunk
    return AnswerCitation(
        marker=support.marker,
        citation=line_citation(chunk.path, *support.quote.lines),
        doc_id=chunk.doc_id,
        doc_path=chunk.path,
        file=file_of(chunk.source, chunk.root, chunk.path),
        title=chunk.title,
        heading_path=list(chunk.heading_path),
        chunk_id=chunk.chunk_id,
        quote=support.quote.text,
        spans=list(support.spans),
        freshness=freshness(chunk.root, chunk.path, chunk.size, chunk.mtime_ns),
    )


def _retrieval(outcome: AskOutcome, context: Context) -> AnswerRetrieval:
    retrieved = outcome.retrieved
    return AnswerRetrieval(
        trace_id=uuid.uuid4().hex,
        query=retrieved.question,
        mode=context.inquiry.mode.value,
        limit=context.inquiry.limit,
        chunks_returned=len(retrieved.page.hits),
        chunks_used=retrieved.used,
        top_score=retrieved.top_score,
        score_gate=retrieved.gate,
        degraded=list(retrieved.page.degraded),
        corpus_revision=retrieved.page.revision,
    )
