"""Asking: a request becomes an inquiry, an answer becomes the reply, and a turn is remembered."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from kebab.app.answered import Context, reply
from kebab.app.compose import Workshop
from kebab.app.legible import require_legible
from kebab.app.project import search_hit
from kebab.app.search import as_filters, engine, query_embedder
from kebab.app.sessions import named
from kebab.core.answer import AskOutcome, Inquiry, Refusal, Turn
from kebab.core.hit import Page
from kebab.core.query import Mode
from kebab.errors.catalog import (
    EmbeddingMismatch,
    EmbeddingUnavailable,
    InvalidInput,
    IoError,
    Locked,
)
from kebab.rag.engine import AskEngine
from kebab.wire.ask import Answer, AnswerEvent, AnswerWarning, AskRequest

if TYPE_CHECKING:
    from kebab.core.ports import Embedder
    from kebab.rag.worded import Writer
    from kebab.store.sqlite.reader import SqliteReader

Tell: TypeAlias = Callable[[AnswerEvent], None]

_RECENT = 3
"""How many turns a follow-up question is understood in."""


def ask(shop: Workshop, request: AskRequest, tell: Tell) -> Answer:
    """Return an answer or a refusal.

    Raises:
        InvalidInput: The question or a name is empty, a text is not valid UTF-8, a date cannot be
            read, or a model is named where none words the answer.
        NotIndexed: There is no index.
        ReadOnly: A turn would have to be remembered, and writing is switched off.
    """
    require_legible(msgspec.structs.asdict(request))
    _require_use(request.model, without=_without_model(shop, request))
    inquiry = _inquiry(request, shop.clock.now())
    session = _session(shop, inquiry)
    recent = shop.conversations.turns(session, _RECENT) if session else []
    with shop.reader() as reader:
        writer = _writer(shop, reader, request)
        outcome = AskEngine(engine(shop, reader).search, writer).answer(
            inquiry, recent, _Teller(tell)
        )
    created = shop.clock.now()
    kept = _kept(shop, _turn(inquiry, outcome, created) if session else None)
    context = Context(
        inquiry=inquiry,
        session=session,
        turn=kept.index,
        created=created,
        prompted=writer.model is not None,
    )
    return reply(replace(outcome, warnings=(*outcome.warnings, *kept.warnings)), context)


@dataclass(frozen=True, slots=True)
class _Teller:
    """Tells what happens as events."""

    tell: Tell

    def retrieved(self, page: Page) -> None:
        hits = [search_hit(hit) for hit in page.hits]
        self.tell(AnswerEvent(type="retrieval_done", hits=hits))

    def token(self, text: str) -> None:
        self.tell(AnswerEvent(type="token", delta=text))

    def restarted(self, reason: str) -> None:
        self.tell(AnswerEvent(type="restart", reason=reason))


@dataclass(frozen=True, slots=True)
class _Kept:
    """Where a turn is remembered, or why it is not."""

    index: int | None = None
    warnings: tuple[AnswerWarning, ...] = ()


def _without_model(shop: Workshop, request: AskRequest) -> bool:
    """Return whether the notes themselves word the answer."""
    return request.extractive or shop.settings.models.llm.provider == "extractive"


def _require_use(model: str | None, *, without: bool) -> None:
    """Refuse a model that would come to mean another one, or nothing."""
    if model is None:
        return
    if not model.strip():
        raise InvalidInput(field="$.model", cause="it is empty")
    if without:
        raise InvalidInput(field="$.model", cause="an extractive answer is worded by no model")


def _inquiry(request: AskRequest, now: float) -> Inquiry:
    return Inquiry(
        question=request.question,
        mode=Mode(request.mode),
        limit=request.limit,
        filters=as_filters(request, now),
        session=None if request.session is None else named(request.session),
    )


def _session(shop: Workshop, inquiry: Inquiry) -> str | None:
    """Return the session to continue; None when there is none or history is off."""
    if inquiry.session is None or not shop.settings.ask.history:
        return None
    shop.refuse_when_read_only("ask --session")
    return inquiry.session


def _writer(shop: Workshop, reader: "SqliteReader", request: AskRequest) -> "Writer":
    """Return what words the answer: the notes themselves, or a model."""
    settings = shop.settings
    if _without_model(shop, request):
        from kebab.rag.quoting import SentenceWriter

        return SentenceWriter(
            embedder=lambda: _embedder(shop, reader, inquiry_mode=Mode(request.mode)),
            sentences=settings.ask.sentences,
        )
    from kebab.app.compose.language_models import language_model
    from kebab.rag.generate import ModelWriter

    return ModelWriter(
        model=language_model(settings, request.model),
        answer_tokens=settings.models.llm.answer_tokens,
        policy=settings.ask.unsupported,
    )


def _embedder(shop: Workshop, reader: "SqliteReader", inquiry_mode: Mode) -> "Embedder | None":
    """Return the model of the stored vectors, where sentences may be compared by meaning."""
    if inquiry_mode is Mode.LEXICAL:
        return None
    try:
        return query_embedder(shop, reader)
    except (EmbeddingUnavailable, EmbeddingMismatch):
        return None


def _turn(inquiry: Inquiry, outcome: AskOutcome, created: float) -> Turn:
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


def _kept(shop: Workshop, turn: Turn | None) -> _Kept:
    """Remember a turn, unless it was interrupted; an answer is not lost over its memory."""
    if turn is None or turn.refusal is Refusal.LLM_STREAM_ABORTED:
        return _Kept()
    try:
        return _Kept(shop.conversations.add(turn))
    except (IoError, Locked) as signal:
        message = f"this turn is not remembered: {signal.text()}"
        warning = AnswerWarning(code="turn_not_kept", message=message, marker=None, span=None)
        return _Kept(warnings=(warning,))
