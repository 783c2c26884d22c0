"""Answers questions, and lists, shows and deletes the sessions of questions."""

import os
import uuid
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from msgspec import UNSET
from msgspec.structs import replace

from kebab.app.context import AppContext
from kebab.app.filters import build_filters, require_utf8
from kebab.app.references import build_not_found
from kebab.app.search import MergedNotes, to_search_hit
from kebab.core.documents import check_freshness
from kebab.core.queries import Mode, Page, Query
from kebab.errors.catalog import Cancelled, InvalidInput, StopName
from kebab.rag import PROMPT_VERSION
from kebab.rag.engine import (
    MIN_ANSWERABILITY,
    AnswerWriter,
    AskOutcome,
    DraftAnswer,
    answer_question,
    explain_coverage,
)
from kebab.rag.prompt import SupportingQuote
from kebab.rag.sessions import keep_turn, parse_session_name
from kebab.search.citations import build_file_path, cite_chunk, list_sources
from kebab.wire.ask import (
    Answer,
    AnswerCitation,
    AnswerEvent,
    AnswerRetrieval,
    AskRequest,
    SessionList,
    SessionListRequest,
    SessionRemoved,
    SessionRmRequest,
    SessionShowRequest,
    SessionTranscript,
    SessionTurn,
)
from kebab.wire.record import NotFound, fill_record, format_timestamp

if TYPE_CHECKING:
    from kebab.core.answers import LanguageModel


def list_sessions(context: AppContext, _request: SessionListRequest) -> SessionList:
    """Return every session, the most recently used first, even if history is off.

    Raises:
        NotIndexed: There is no index.
    """
    sessions = context.session_store.list_sessions()
    return SessionList(sessions=sessions, history=context.settings.ask.history)


def show_session(context: AppContext, request: SessionShowRequest) -> SessionTranscript | NotFound:
    """Return a session with its turns.

    Raises:
        InvalidInput: The name is invalid.
        NotIndexed: There is no index.
    """
    name = parse_session_name(request.name, "$.name")
    kept = context.session_store.list_sessions()
    session = next((one for one in kept if one.name == name), None)
    if session is None:
        return build_not_found(name, "session")
    turns = [
        fill_record(
            SessionTurn,
            turn,
            turn_index=turn.index,
            query=turn.standalone,
            refusal_reason=turn.refusal,
            created_at=format_timestamp(turn.created),
        )
        for turn in context.session_store.list_turns(name)
    ]
    return SessionTranscript(session=session, turns=turns)


def remove_sessions(context: AppContext, request: SessionRmRequest) -> SessionRemoved | NotFound:
    """Delete sessions; when one does not exist, none is deleted.

    Raises:
        InvalidInput: A name is invalid.
        NotIndexed: There is no index.
        ReadOnly: Writing is switched off.
    """
    context.refuse_when_read_only("session rm")
    names = list(dict.fromkeys(parse_session_name(name, "$.names") for name in request.names))
    known = {session.name for session in context.session_store.list_sessions()}
    if missing := next((name for name in names if name not in known), None):
        return build_not_found(missing, "session")
    turns = sum(map(context.session_store.delete_session, names))
    return SessionRemoved(names=names, turns=turns, found=True)


AnswerCallback: TypeAlias = Callable[[AnswerEvent], None]
"""Receives the events of an answer."""

SUGGESTIONS = 3
"""The number of passages that a refusal suggests."""

_RECENT_TURNS = 3
"""The number of earlier turns that a follow-up question may refer to."""


def ask(context: AppContext, request: AskRequest, report: AnswerCallback) -> Answer:
    """Return an answer or a refusal.

    Raises:
        InvalidInput: A field is invalid, or a model is named for an extractive answer.
        NotIndexed: There is no index.
        ReadOnly: The turn would be stored, and writing is switched off.
    """
    require_utf8(request)
    extractive = request.extractive or context.settings.models.llm.provider == "extractive"
    if request.model is not None and (extractive or not request.model.strip()):
        cause = (
            "an extractive answer is worded by no model" if request.model.strip() else "it is empty"
        )
        raise InvalidInput(field="$.model", cause=cause)
    query = Query(
        text=request.question,
        prose=True,
        mode=Mode(request.mode),
        limit=request.limit,
        rerank=request.mode != "lexical" if request.rerank is None else request.rerank,
        filters=build_filters(request, context.clock.now()),
    )
    session = None if request.session is None else parse_session_name(request.session)
    if not context.settings.ask.history:
        session = None
    if session is not None:
        context.refuse_when_read_only("ask --session")
    recent = context.session_store.list_turns(session, _RECENT_TURNS) if session else []
    with ExitStack() as stack:
        notes = MergedNotes(context, request, query.filters, stack)

        def search(query: Query) -> Page:
            page = notes.search(query)
            hits, sources = [*map(to_search_hit, page.hits)], list_sources(page.hits)
            report(AnswerEvent(type="retrieval_done", hits=hits, sources=sources))
            return page

        model: LanguageModel | None = None
        if extractive:
            write = _build_quoter(context, notes, request, report)
        else:
            model, write = _build_writer(context, request, report)
        outcome = answer_question(query, search, write, history=recent, model=model)
        hits = outcome.page.hits
        found = outcome.draft.refusal is None and not outcome.page.absent_terms
        coverage = notes.measure_coverage(hits, is_found=found)
        retrieval = fill_record(
            AnswerRetrieval,
            request,
            trace_id=uuid.uuid4().hex,
            query=outcome.question,
            chunks_returned=len(hits),
            chunks_used=outcome.draft.used,
            top_score=outcome.page.answerability if hits else 0.0,
            score_gate=MIN_ANSWERABILITY,
            corpus_revision=outcome.page.revision,
            degraded=[*outcome.page.degraded],
            unmatched_filters=[] if hits else notes.explain_filters(),
        )
    draft = explain_coverage(outcome.draft, coverage, by_words=query.mode is Mode.LEXICAL)
    created = context.clock.now()
    answer = replace(
        _build_answer(draft, outcome, request, retrieval, model),
        created_at=format_timestamp(created),
        coverage=coverage,
    )
    if session is None:
        return answer
    folder = os.getcwd() if context.is_owner else None  # noqa: PTH109 - text
    return keep_turn(context.session_store, answer, session, created, folder)


def _build_writer(
    context: AppContext, request: AskRequest, report: AnswerCallback
) -> "tuple[LanguageModel, AnswerWriter]":
    """Return the model of the settings or of the request, and what writes with it."""
    from kebab.app.model_adapters import build_language_model
    from kebab.rag.generative_answer import ModelWriter

    settings = context.settings
    model = build_language_model(
        settings,
        request.model,
        on_wait=lambda reason: report(AnswerEvent(type="waiting", reason=reason)),
    )
    writer = ModelWriter(
        model=model,
        answer_tokens=settings.models.llm.answer_tokens,
        report=report,
        policy=settings.ask.unsupported,
        windows=context.model_windows,
    )
    return model, writer.write


def _build_quoter(
    context: AppContext, notes: MergedNotes, request: AskRequest, report: AnswerCallback
) -> AnswerWriter:
    """Return what answers with sentences of the notes, without a model."""
    from kebab.rag.extractive_answer import quote_passages

    return lambda question, page, _history: quote_passages(
        question,
        page,
        embedder=None if request.mode == "lexical" else notes.load_embedder(),
        sentences=context.settings.ask.sentences,
        report=report,
    )


def _build_answer(
    draft: DraftAnswer,
    outcome: AskOutcome,
    request: AskRequest,
    retrieval: AnswerRetrieval,
    model: "LanguageModel | None",
) -> Answer:
    grounded, hits = draft.refusal is None, outcome.page.hits
    near = (one.chunk for one in hits if one.retrieval.vector_score is not None)
    rating: Literal["likely", "uncertain"] = "uncertain" if draft.uncertain else "likely"
    stop_reason: StopName = "completed"
    is_aborted = draft.refusal == "llm_stream_aborted"
    if is_aborted:  # only an interruption leaves an answer that broke off
        stop_reason = cast("StopName", Cancelled.code)
    elif draft.usage.finish_reason == "length":
        stop_reason = "max_tokens"
    return Answer(
        question=request.question,
        answer=draft.text,
        grounded=grounded,
        refusal_reason=draft.refusal,
        answers_question=rating if grounded else "no",
        absent_terms=[*outcome.page.absent_terms],
        citations=[_to_citation(support) for support in draft.citations],
        suggestions=[] if grounded else [*map(to_search_hit, hits[:SUGGESTIONS])],
        sources={} if grounded else list_sources(hits[:SUGGESTIONS]),
        mode="generative" if model else "extractive",
        model=model.name if model else None,
        # None when vectors found none of the hits.
        embedding=next((chunk.embedding_version for chunk in near), None),
        prompt_template_version=PROMPT_VERSION if model else None,
        retrieval=retrieval,
        usage=draft.usage,
        warnings=[*draft.warnings],
        session_id=None,
        turn_index=None,
        created_at="",
        stop_reason=stop_reason,
        cancel_observed=is_aborted,
    )


def _to_citation(support: SupportingQuote) -> AnswerCitation:
    chunk = support.quote.chunk
    return fill_record(
        AnswerCitation,
        support,
        chunk,
        citation=cite_chunk(chunk, *support.quote.lines),
        doc_path=chunk.path,
        base=chunk.base or UNSET,
        file=build_file_path(chunk),
        quote=support.quote.text,
        freshness=check_freshness(chunk),
    )
