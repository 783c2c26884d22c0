"""Answers questions, and lists, shows and deletes the sessions of questions."""

import os
import unicodedata
import uuid
from collections.abc import Callable
from contextlib import ExitStack
from typing import Literal, TypeAlias, cast

from msgspec import UNSET, Struct
from msgspec.structs import replace

from kebab.app.bases import LOCAL, MergedNotes, choose_bases
from kebab.app.context import AppContext
from kebab.app.coverage import QUICK_S, THOROUGH_S, explain_degraded, find_indexing, refresh_index
from kebab.app.filters import build_filters, require_utf8
from kebab.app.library import build_not_found
from kebab.app.search import to_search_hit
from kebab.core.answers import AskOutcome, AskQuery, Refusal, StoredSession, SupportingQuote, Turn
from kebab.core.documents import check_freshness
from kebab.core.queries import Mode, Page
from kebab.errors.catalog import Cancelled, InvalidInput, IoError, Locked, StopName
from kebab.rag import PROMPT_VERSION
from kebab.rag.answer_check import DoubtKind
from kebab.rag.engine import AnswerWriter, AskEngine, get_refusal_sentence
from kebab.search.citations import build_file_path, cite_chunk
from kebab.text.language import detect_question_language
from kebab.text.normalize import escape_undecodable
from kebab.wire.ask import (
    Answer,
    AnswerCitation,
    AnswerEvent,
    AnswerRetrieval,
    AnswerWarning,
    AskRequest,
    SessionList,
    SessionListRequest,
    SessionRemoved,
    SessionRmRequest,
    SessionShowRequest,
    SessionSummary,
    SessionTranscript,
    SessionTurn,
)
from kebab.wire.coverage import Coverage, Statement, describe_absent_words, describe_gaps
from kebab.wire.record import NotFound, fill_record, format_timestamp

_MAX_NAME_CHARS = 100
_FORBIDDEN_CATEGORIES = ("Cc", "Zl", "Zp")
"""The Unicode categories of control characters and of separators of lines and paragraphs."""


def parse_session_name(text: str, field: str = "$.session") -> str:
    """Return a session name in NFC without surrounding whitespace; case is significant.

    Raises:
        InvalidInput: It is not valid UTF-8, empty, longer than 100 code points, or holds a control
            character or a line break.
    """
    if escape_undecodable(text) != text:
        raise InvalidInput(field=field, cause="not valid UTF-8")
    name = unicodedata.normalize("NFC", text).strip()
    if not name:
        raise InvalidInput(field=field, cause="empty")
    if len(name) > _MAX_NAME_CHARS:
        raise InvalidInput(
            field=field, cause=f"longer than {_MAX_NAME_CHARS} characters: {len(name)}"
        )
    if any(unicodedata.category(character) in _FORBIDDEN_CATEGORIES for character in name):
        raise InvalidInput(field=field, cause="holds a control character or a line break")
    return name


def list_sessions(context: AppContext, _request: SessionListRequest) -> SessionList:
    """Return every session, the most recently used first, even if history is off.

    Raises:
        NotIndexed: There is no index.
    """
    sessions = list(map(_to_session_summary, context.session_store.list_sessions()))
    return SessionList(sessions=sessions, history=context.settings.ask.history)


def show_session(context: AppContext, request: SessionShowRequest) -> SessionTranscript | NotFound:
    """Return a session with its turns.

    Raises:
        InvalidInput: The name is invalid.
        NotIndexed: There is no index.
    """
    session = parse_session_name(request.name, "$.name")
    turns = context.session_store.list_turns(session)
    if not turns:
        return build_not_found(session, "session")
    row = StoredSession(
        name=session,
        turns=len(turns),
        answered=sum(turn.refusal is None for turn in turns),
        stopped=sum(turn.stop_reason != "completed" for turn in turns),
        folder=turns[-1].folder,
        first_question=turns[0].question,
        created=turns[0].created,
        updated=turns[-1].created,
    )
    return SessionTranscript(
        session=_to_session_summary(row), turns=list(map(_to_session_turn, turns))
    )


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


def _to_session_summary(session: StoredSession) -> SessionSummary:
    created, updated = format_timestamp(session.created), format_timestamp(session.updated)
    return fill_record(SessionSummary, session, created_at=created, updated_at=updated)


def _to_session_turn(turn: Turn) -> SessionTurn:
    return fill_record(
        SessionTurn,
        turn,
        turn_index=turn.index,
        query=turn.standalone,
        refusal_reason=turn.refusal.value if turn.refusal else None,
        created_at=format_timestamp(turn.created),
    )


def build_turn(
    query: AskQuery, outcome: AskOutcome, created: float, folder: str | None = None
) -> Turn:
    """Return the turn of a question and its answer; its index is not known yet."""
    stop_reason = find_stop_reason(outcome)
    return Turn(
        session=query.session or "",
        index=0,
        question=query.question,
        standalone=outcome.retrieved.question,
        answer=outcome.text,
        refusal=outcome.refusal,
        mode=outcome.mode,
        model=outcome.model,
        created=created,
        stop_reason=stop_reason,
        cancel_observed=stop_reason == Cancelled.code,
        folder=folder,
    )


def find_stop_reason(outcome: AskOutcome) -> StopName:
    """Return why writing an answer ended; only an interruption leaves one that broke off."""
    if outcome.refusal is Refusal.LLM_STREAM_ABORTED:
        return cast("StopName", Cancelled.code)
    return "max_tokens" if outcome.usage.finish_reason == "length" else "completed"


AnswerCallback: TypeAlias = Callable[[AnswerEvent], None]
"""Receives the events of an answer."""

SUGGESTIONS = 3
"""The number of passages that a refusal suggests."""

_RECENT_TURNS = 3
"""The number of earlier turns that a follow-up question may refer to."""


def build_answer(outcome: AskOutcome, query: AskQuery, created: float) -> Answer:
    """Return the answer of an outcome, as far as that tells; `created` is in seconds."""
    retrieved = outcome.retrieved
    hits = retrieved.page.hits
    near = (one.chunk for one in hits if one.retrieval.vector_score is not None)
    return fill_record(
        Answer,
        outcome,
        question=query.question,
        answer=outcome.text,
        refusal_reason=outcome.refusal.value if outcome.refusal else None,
        answers_question=_rate_answer(outcome),
        citations=[_to_citation(support) for support in outcome.citations],
        suggestions=[] if outcome.grounded else [*map(to_search_hit, hits[:SUGGESTIONS])],
        # None when vectors found none of the hits.
        embedding=next((chunk.embedding_version for chunk in near), None),
        prompt_template_version=None,
        retrieval=fill_record(
            AnswerRetrieval,
            retrieved,
            query,
            retrieved.page,
            trace_id=uuid.uuid4().hex,
            query=retrieved.question,
            chunks_returned=len(hits),
            chunks_used=retrieved.used,
            score_gate=retrieved.gate,
            corpus_revision=retrieved.page.revision,
        ),
        session_id=None,
        turn_index=None,
        created_at=format_timestamp(created),
        stop_reason=(stop_reason := find_stop_reason(outcome)),
        cancel_observed=stop_reason == Cancelled.code,
    )


def _rate_answer(outcome: AskOutcome) -> Literal["likely", "uncertain", "no"]:
    if not outcome.grounded:
        return "no"
    return "uncertain" if outcome.uncertain else "likely"


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


def ask(context: AppContext, request: AskRequest, report: AnswerCallback) -> Answer:
    """Return an answer or a refusal.

    Raises:
        InvalidInput: A field is invalid, or a model is named for an extractive answer.
        NotIndexed: There is no index.
        ReadOnly: The turn would be stored, and writing is switched off.
    """
    require_utf8(request)
    extractive = _is_extractive(context, request)
    if request.model is not None and (extractive or not request.model.strip()):
        cause = (
            "an extractive answer is worded by no model" if request.model.strip() else "it is empty"
        )
        raise InvalidInput(field="$.model", cause=cause)
    query = _build_query(request, context.clock.now())
    if query.session is None or not context.settings.ask.history:
        session = None
    else:
        context.refuse_when_read_only("ask --session")
        session = query.session
    recent = context.session_store.list_turns(session, _RECENT_TURNS) if session else []
    choice = choose_bases(context, request)
    is_own = any(base.name == LOCAL for base in choice.bases)
    refresh = refresh_index(context, request) if request.refresh and is_own else None
    with ExitStack() as stack:
        notes = MergedNotes(choice, query.filters, stack)
        listener = _EventListener(report)
        writer = _build_writer(context, notes, request, listener)
        engine = AskEngine(notes.search, writer, count_occurrences=notes.count_occurrences)
        outcome = engine.answer(query, recent, listener)
        hits = outcome.retrieved.page.hits
        unmatched = [] if hits else notes.explain_filters(request)
        found = outcome.refusal is None and not outcome.absent_terms
        indexing = find_indexing(context) if is_own else None
        coverage = notes.measure_coverage(
            hits, seconds=QUICK_S if found else THOROUGH_S, indexing=indexing
        )
        outcome = explain_coverage(outcome, query, coverage)
    created = context.clock.now()
    index, warnings = None, outcome.warnings
    if session:
        try:
            folder = os.getcwd() if context.is_owner else None  # noqa: PTH109 - text
            index = context.session_store.add_turn(build_turn(query, outcome, created, folder))
        except (IoError, Locked) as signal:
            message = f"this turn is not remembered: {signal.format_message()}"
            warnings = (
                *warnings,
                AnswerWarning(code="turn_not_kept", message=message, marker=None, span=None),
            )
    answer = build_answer(replace(outcome, warnings=warnings), query, created)
    retrieval = replace(
        answer.retrieval,
        degraded=explain_degraded(answer.retrieval.degraded, indexing),
        unmatched_filters=unmatched,
        refresh=refresh,
    )
    return replace(
        answer,
        prompt_template_version=PROMPT_VERSION if writer.model else None,
        retrieval=retrieval,
        session_id=session,
        turn_index=index,
        coverage=coverage,
    )


_NOT_FOUND = frozenset(
    {Refusal.NO_CHUNKS, Refusal.SCORE_GATE, Refusal.ABSENT_TERMS, Refusal.LLM_SELF_JUDGE}
)
"""The refusals that say that the notes do not answer a question."""


def explain_coverage(outcome: AskOutcome, query: AskQuery, coverage: Coverage | None) -> AskOutcome:
    """Return an outcome that states no absence that the index does not cover."""
    statement: Statement = "absent" if outcome.refusal is Refusal.ABSENT_TERMS else "convincing"
    gaps = describe_gaps(coverage, statement, by_words=query.mode is Mode.LEXICAL)
    if outcome.refusal not in _NOT_FOUND or not gaps:
        return replace(outcome, warnings=tuple(_reword(one, coverage) for one in outcome.warnings))
    text = get_refusal_sentence(None, detect_question_language(query.question).code)
    message = f"not everything is searched: {gaps}"
    warning = AnswerWarning(code="incomplete_coverage", message=message, marker=None, span=None)
    return replace(outcome, text=text, warnings=(*outcome.warnings, warning))


def _reword(warning: AnswerWarning, coverage: Coverage | None) -> AnswerWarning:
    """Return a warning that calls no term absent that a file may hold that is not searched."""
    if warning.code != DoubtKind.ABSENT_TERM:
        return warning
    term = warning.message.partition(": ")[2]
    return replace(warning, message=describe_absent_words(term, coverage, "the notes"))


class _EventListener(Struct, frozen=True):
    """Converts the progress of an answer to events."""

    report: AnswerCallback

    def on_retrieved(self, page: Page) -> None:
        hits = [*map(to_search_hit, page.hits)]
        self.report(AnswerEvent(type="retrieval_done", hits=hits))

    def on_token(self, text: str) -> None:
        self.report(AnswerEvent(type="token", delta=text))

    def on_restart(self, reason: str) -> None:
        self.report(AnswerEvent(type="restart", reason=reason))

    def on_wait(self, reason: str) -> None:
        self.report(AnswerEvent(type="waiting", reason=reason))


def _is_extractive(context: AppContext, request: AskRequest) -> bool:
    """Return whether the answer consists of sentences of the notes."""
    return request.extractive or context.settings.models.llm.provider == "extractive"


def _build_query(request: AskRequest, now: float) -> AskQuery:
    return AskQuery(
        question=request.question,
        mode=Mode(request.mode),
        limit=request.limit,
        rerank=request.rerank,
        filters=build_filters(request, now),
        session=None if request.session is None else parse_session_name(request.session),
    )


def _build_writer(
    context: AppContext, notes: MergedNotes, request: AskRequest, listener: _EventListener
) -> AnswerWriter:
    """Return the extractive writer, or the writer of the language model."""
    settings = context.settings
    if _is_extractive(context, request):
        from kebab.rag.extractive_answer import ExtractiveWriter

        return ExtractiveWriter(
            embedder=lambda: None if Mode(request.mode) is Mode.LEXICAL else notes.load_embedder(),
            sentences=settings.ask.sentences,
        )
    from kebab.app.model_adapters import build_language_model
    from kebab.rag.generative_answer import ModelWriter

    return ModelWriter(
        model=build_language_model(settings, request.model, on_wait=listener.on_wait),
        answer_tokens=settings.models.llm.answer_tokens,
        policy=settings.ask.unsupported,
        windows=context.model_windows,
    )
