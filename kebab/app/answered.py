"""From an answer to `answer.v1`."""

import uuid
from dataclasses import dataclass

from kebab.app.citations import file_of, freshness, line_citation
from kebab.app.project import degraded, search_hit
from kebab.app.timestamps import format_timestamp
from kebab.core.answer import Answer as Answered
from kebab.core.answer import Inquiry, Support, Usage, Warned
from kebab.core.hit import Page
from kebab.rag.version import VERSION
from kebab.wire.ask import Answer, AnswerCitation, AnswerRetrieval, AnswerUsage, AnswerWarning

SUGGESTIONS = 3
"""How many of the nearest passages a refusal names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerContext:
    """What an answer does not know of itself; `created` in seconds since the epoch."""

    inquiry: Inquiry
    session: str | None
    turn: int | None
    created: float
    prompted: bool = False


def reply(answered: Answered, context: AnswerContext) -> Answer:
    """Return the answer as it goes out."""
    hits = answered.retrieved.page.hits
    return Answer(
        question=context.inquiry.question,
        answer=answered.text,
        grounded=answered.grounded,
        refusal_reason=answered.refusal.value if answered.refusal else None,
        citations=[_citation(one) for one in answered.citations],
        suggestions=[] if answered.grounded else [search_hit(hit) for hit in hits[:SUGGESTIONS]],
        mode=answered.mode.value,
        model=answered.model,
        embedding=_embedding(answered.retrieved.page),
        prompt_template_version=VERSION if context.prompted else None,
        retrieval=_retrieval(answered, context),
        usage=_usage(answered.usage),
        warnings=[_warning(one) for one in answered.warnings],
        session_id=context.session,
        turn_index=context.turn,
        created_at=format_timestamp(context.created),
    )


def _embedding(page: Page) -> str | None:
    """Return what embedded the passages; None when vectors had no part in finding them."""
    near = (hit.chunk for hit in page.hits if hit.evidence.vector_score is not None)
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


def _retrieval(answered: Answered, context: AnswerContext) -> AnswerRetrieval:
    retrieved = answered.retrieved
    return AnswerRetrieval(
        trace_id=uuid.uuid4().hex,
        query=retrieved.question,
        mode=context.inquiry.mode.value,
        limit=context.inquiry.limit,
        chunks_returned=len(retrieved.page.hits),
        chunks_used=retrieved.used,
        top_score=retrieved.top_score,
        score_gate=retrieved.gate,
        degraded=degraded(retrieved.page.degraded),
        corpus_revision=retrieved.page.revision,
    )


def _usage(usage: Usage) -> AnswerUsage:
    return AnswerUsage(
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        latency_ms=usage.latency_ms,
        first_token_ms=usage.first_token_ms,
        finish_reason=usage.finish_reason,
        truncated=usage.truncated,
        downshifts=usage.downshifts,
    )


def _warning(warned: Warned) -> AnswerWarning:
    return AnswerWarning(
        code=warned.code, message=warned.message, marker=warned.marker, span=warned.span
    )
