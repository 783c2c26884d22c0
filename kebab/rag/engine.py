"""Answers a question: retrieves, gates, generates or extracts, and checks."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from msgspec import structs

from kebab.core.answers import (
    AnswerMode,
    AskOutcome,
    AskQuery,
    LanguageModel,
    Refusal,
    RetrievalSummary,
    SupportingQuote,
    Turn,
)
from kebab.core.queries import Page, Query
from kebab.errors.catalog import InvalidInput
from kebab.rag.followup import build_standalone_question
from kebab.rag.refusals import get_refusal_sentence
from kebab.search.fusion import FAIR
from kebab.text.language import detect_question_language
from kebab.wire.ask import AnswerUsage, AnswerWarning

EMPTY_USAGE = AnswerUsage(
    prompt_tokens=0,
    completion_tokens=0,
    latency_ms=0.0,
    first_token_ms=None,
    finish_reason=None,
    truncated=False,
    downshifts=0,
)
"""What an answer costs before a model is asked."""


class AnswerListener(Protocol):
    """Who hears of an answer while it is made."""

    def on_retrieved(self, page: Page) -> None:
        """Take what was found."""

    def on_token(self, text: str) -> None:
        """Take the next piece of the answer, not yet checked."""

    def on_restart(self, reason: str) -> None:
        """Forget all pieces so far: the question is asked again with less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftAnswer:
    """What a writer made of the passages: words with their support, or why there are none.

    `used` is how many passages it worked from.
    """

    text: str = ""
    refusal: Refusal | None = None
    citations: tuple[SupportingQuote, ...] = ()
    warnings: tuple[AnswerWarning, ...] = ()
    usage: AnswerUsage = EMPTY_USAGE
    used: int = 0


class AnswerWriter(Protocol):
    """Words an answer from what was found."""

    @property
    def mode(self) -> AnswerMode:
        """Whether a model words it."""

    @property
    def model(self) -> LanguageModel | None:
        """The model, if there is one."""

    def write(
        self, question: str, page: Page, history: Sequence[Turn], listener: AnswerListener
    ) -> DraftAnswer:
        """Return the words."""


class AskEngine:
    """Answers questions over one snapshot of the library.

    Args:
        search: Returns a page of hits.
        writer: Words the answer.
        clock: Returns seconds that never run backwards.
    """

    def __init__(
        self,
        search: Callable[[Query], Page],
        writer: AnswerWriter,
        *,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._search = search
        self._writer = writer
        self._clock = clock

    def answer(
        self, inquiry: AskQuery, history: Sequence[Turn], listener: AnswerListener
    ) -> AskOutcome:
        """Return an answer whose claims were checked, or a refusal.

        Raises:
            InvalidInput: The question is empty.
            ModelUnreachable: There is no model server, or it went away.
            ModelNotPulled: The server does not have the model.
            ModelRejected: The model cannot answer.
            ModelBusy: The server takes no more work now.
            ModelProtocol: What answers is no model server, or ended too early.
            ContextOverflow: Even the least does not fit the model's window.
            TimedOut: A deadline passed.
        """
        if not inquiry.question.strip():
            raise InvalidInput(field="$.question", cause="it is empty")
        began = self._clock()
        question = build_standalone_question(inquiry.question, history, self._writer.model)
        page = self._search(_query(inquiry, question))
        listener.on_retrieved(page)
        verdict = judge(page)
        worded = self._worded(question, page, history, listener, passed=verdict.passed)
        model = self._writer.model
        return AskOutcome(
            text=worded.text or _refused(inquiry.question, worded.refusal),
            mode=self._writer.mode,
            model=model.name if model else None,
            refusal=worded.refusal,
            citations=worded.citations,
            retrieved=RetrievalSummary(
                question=question,
                page=page,
                used=worded.used,
                top_score=verdict.evidence,
                gate=verdict.threshold,
            ),
            usage=structs.replace(worded.usage, latency_ms=self._elapsed_ms(began)),
            warnings=worded.warnings,
        )

    def _elapsed_ms(self, began: float) -> float:
        return round((self._clock() - began) * 1000, 3)

    def _worded(
        self,
        question: str,
        page: Page,
        history: Sequence[Turn],
        listener: AnswerListener,
        *,
        passed: bool,
    ) -> DraftAnswer:
        if not page.hits:
            return DraftAnswer(refusal=Refusal.NO_CHUNKS)
        if not passed:
            return DraftAnswer(refusal=Refusal.SCORE_GATE)
        return self._writer.write(question, page, history, listener)


def _query(inquiry: AskQuery, question: str) -> Query:
    return Query(
        text=question,
        prose=True,
        mode=inquiry.mode,
        limit=inquiry.limit,
        filters=inquiry.filters,
    )


def _refused(question: str, refusal: Refusal | None) -> str:
    return get_refusal_sentence(refusal, detect_question_language(question).code) if refusal else ""


THRESHOLD = FAIR
"""The least answerability that is answered from."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the notes may answer: the evidence between 0 and 1, and what it takes."""

    passed: bool
    evidence: float
    threshold: float


def judge(page: Page) -> Verdict:
    """Return whether a page of hits holds enough to answer from."""
    evidence = page.answerability if page.hits else 0.0
    return Verdict(passed=evidence >= THRESHOLD, evidence=evidence, threshold=THRESHOLD)
