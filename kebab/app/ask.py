"""Answers questions: a request becomes an inquiry, the outcome becomes `answer.v1`."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from kebab.app.context import AppContext
from kebab.app.conversions import build_file_path, check_freshness, cite_lines, to_search_hit
from kebab.app.search import build_engine, build_filters, load_query_embedder, require_utf8
from kebab.app.sessions import parse_session_name
from kebab.app.timestamps import format_timestamp
from kebab.core.answers import AskOutcome, AskQuery, Refusal, SupportingQuote, Turn
from kebab.core.queries import Mode, Page
from kebab.errors.catalog import (
    EmbeddingMismatch,
    EmbeddingUnavailable,
    InvalidInput,
    IoError,
    Locked,
)
from kebab.rag import PROMPT_VERSION
from kebab.rag.engine import AskEngine
from kebab.wire.ask import (
    Answer,
    AnswerCitation,
    AnswerEvent,
    AnswerRetrieval,
    AnswerWarning,
    AskRequest,
)

if TYPE_CHECKING:
    from kebab.core.ports import Embedder
    from kebab.rag.engine import AnswerWriter
    from kebab.store.sqlite.reader import SqliteReader

SUGGESTIONS = 3
"""How many of the nearest passages a refusal names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerContext:
    """What an answer does not know of itself; `created` in seconds since the epoch."""

    inquiry: AskQuery
    session: str | None
    turn: int | None
    created: float
    prompted: bool = False


def to_answer(outcome: AskOutcome, context: AnswerContext) -> Answer:
    """Return the answer as it goes out."""
    hits = outcome.retrieved.page.hits
    return Answer(
        question=context.inquiry.question,
        answer=outcome.text,
        grounded=outcome.grounded,
        refusal_reason=outcome.refusal.value if outcome.refusal else None,
        citations=[_citation(one) for one in outcome.citations],
        suggestions=[] if outcome.grounded else [to_search_hit(hit) for hit in hits[:SUGGESTIONS]],
        mode=outcome.mode.value,
        model=outcome.model,
        embedding=_embedding(outcome.retrieved.page),
        prompt_template_version=PROMPT_VERSION if context.prompted else None,
        retrieval=_retrieval(outcome, context),
        usage=outcome.usage,
        warnings=list(outcome.warnings),
        session_id=context.session,
        turn_index=context.turn,
        created_at=format_timestamp(context.created),
    )


def _embedding(page: Page) -> str | None:
    """Return what embedded the passages; None when vectors had no part in finding them."""
    near = (hit.chunk for hit in page.hits if hit.retrieval.vector_score is not None)
    return next((chunk.embedding_version for chunk in near), None)


def _citation(support: SupportingQuote) -> AnswerCitation:
    chunk = support.quote.chunk
    return AnswerCitation(
        marker=support.marker,
        citation=cite_lines(chunk.path, *support.quote.lines),
        doc_id=chunk.doc_id,
        doc_path=chunk.path,
        file=build_file_path(chunk),
        title=chunk.title,
        heading_path=list(chunk.heading_path),
        chunk_id=chunk.chunk_id,
        quote=support.quote.text,
        spans=list(support.spans),
        freshness=check_freshness(chunk),
    )


def _retrieval(outcome: AskOutcome, context: AnswerContext) -> AnswerRetrieval:
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


Tell: TypeAlias = Callable[[AnswerEvent], None]

_RECENT = 3
"""How many turns a follow-up question is understood in."""


def ask(context: AppContext, request: AskRequest, tell: Tell) -> Answer:
    """Return an answer or a refusal.

    Raises:
        InvalidInput: The question or a name is empty, a text is not valid UTF-8, a date cannot be
            read, or a model is named where none words the answer.
        NotIndexed: There is no index.
        ReadOnly: A turn would have to be remembered, and writing is switched off.
    """
    require_utf8(request)
    _require_use(request.model, without=_without_model(context, request))
    inquiry = _inquiry(request, context.clock.now())
    session = _session(context, inquiry)
    recent = context.session_store.list_turns(session, _RECENT) if session else []
    with context.open_reader() as reader:
        writer = _writer(context, reader, request)
        outcome = AskEngine(build_engine(context, reader).search, writer).answer(
            inquiry, recent, _Teller(tell)
        )
    created = context.clock.now()
    kept = _kept(context, _turn(inquiry, outcome, created) if session else None)
    around = AnswerContext(
        inquiry=inquiry,
        session=session,
        turn=kept.index,
        created=created,
        prompted=writer.model is not None,
    )
    return to_answer(replace(outcome, warnings=(*outcome.warnings, *kept.warnings)), around)


@dataclass(frozen=True, slots=True)
class _Teller:
    """Tells what happens as events."""

    tell: Tell

    def on_retrieved(self, page: Page) -> None:
        hits = [to_search_hit(hit) for hit in page.hits]
        self.tell(AnswerEvent(type="retrieval_done", hits=hits))

    def on_token(self, text: str) -> None:
        self.tell(AnswerEvent(type="token", delta=text))

    def on_restart(self, reason: str) -> None:
        self.tell(AnswerEvent(type="restart", reason=reason))


@dataclass(frozen=True, slots=True)
class _Kept:
    """Where a turn is remembered, or why it is not."""

    index: int | None = None
    warnings: tuple[AnswerWarning, ...] = ()


def _without_model(context: AppContext, request: AskRequest) -> bool:
    """Return whether the notes themselves word the answer."""
    return request.extractive or context.settings.models.llm.provider == "extractive"


def _require_use(model: str | None, *, without: bool) -> None:
    """Refuse a model that would come to mean another one, or nothing."""
    if model is None:
        return
    if not model.strip():
        raise InvalidInput(field="$.model", cause="it is empty")
    if without:
        raise InvalidInput(field="$.model", cause="an extractive answer is worded by no model")


def _inquiry(request: AskRequest, now: float) -> AskQuery:
    return AskQuery(
        question=request.question,
        mode=Mode(request.mode),
        limit=request.limit,
        filters=build_filters(request, now),
        session=None if request.session is None else parse_session_name(request.session),
    )


def _session(context: AppContext, inquiry: AskQuery) -> str | None:
    """Return the session to continue; None when there is none or history is off."""
    if inquiry.session is None or not context.settings.ask.history:
        return None
    context.refuse_when_read_only("ask --session")
    return inquiry.session


def _writer(context: AppContext, reader: "SqliteReader", request: AskRequest) -> "AnswerWriter":
    """Return what words the answer: the notes themselves, or a model."""
    settings = context.settings
    if _without_model(context, request):
        from kebab.rag.extractive_answer import ExtractiveWriter

        return ExtractiveWriter(
            embedder=lambda: _embedder(context, reader, inquiry_mode=Mode(request.mode)),
            sentences=settings.ask.sentences,
        )
    from kebab.app.language_models import build_language_model
    from kebab.rag.generative_answer import ModelWriter

    return ModelWriter(
        model=build_language_model(settings, request.model),
        answer_tokens=settings.models.llm.answer_tokens,
        policy=settings.ask.unsupported,
    )


def _embedder(context: AppContext, reader: "SqliteReader", inquiry_mode: Mode) -> "Embedder | None":
    """Return the model of the stored vectors, where sentences may be compared by meaning."""
    if inquiry_mode is Mode.LEXICAL:
        return None
    try:
        return load_query_embedder(context, reader)
    except (EmbeddingUnavailable, EmbeddingMismatch):
        return None


def _turn(inquiry: AskQuery, outcome: AskOutcome, created: float) -> Turn:
    return Turn(
        session=inquiry.session or "",
        index=0,
        question=inquiry.question,
        standalone=outcome.retrieved.question,
        answer=outcome.text,
        refusal=outcome.refusal,
        mode=outcome.mode,
        model=outcome.model,
        created=created,
    )


def _kept(context: AppContext, turn: Turn | None) -> _Kept:
    """Remember a turn, unless it was interrupted; an answer is not lost over its memory."""
    if turn is None or turn.refusal is Refusal.LLM_STREAM_ABORTED:
        return _Kept()
    try:
        return _Kept(context.session_store.add_turn(turn))
    except (IoError, Locked) as signal:
        message = f"this turn is not remembered: {signal.format_message()}"
        warning = AnswerWarning(code="turn_not_kept", message=message, marker=None, span=None)
        return _Kept(warnings=(warning,))
