"""The answer engine: a question in, an answer or a refusal out."""

import time
from collections.abc import Callable, Sequence

from msgspec import structs

from kebab.core.answer import AskOutcome, Inquiry, Refusal, Retrieved, Turn
from kebab.core.hit import Page
from kebab.core.query import Query
from kebab.errors.catalog import InvalidInput
from kebab.rag import gate
from kebab.rag.prompting.followup import standalone
from kebab.rag.refusals import refusal_sentence
from kebab.rag.worded import Listener, Worded, Writer
from kebab.text.language import detect_question_language


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
        writer: Writer,
        *,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._search = search
        self._writer = writer
        self._clock = clock

    def answer(self, inquiry: Inquiry, history: Sequence[Turn], listener: Listener) -> AskOutcome:
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
        question = standalone(inquiry.question, history, self._writer.model)
        page = self._search(_query(inquiry, question))
        listener.retrieved(page)
        verdict = gate.judge(page)
        worded = self._worded(question, page, history, listener, passed=verdict.passed)
        model = self._writer.model
        return AskOutcome(
            text=worded.text or _refused(inquiry.question, worded.refusal),
            mode=self._writer.mode,
            model=model.name if model else None,
            refusal=worded.refusal,
            citations=worded.citations,
            retrieved=Retrieved(
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
        listener: Listener,
        *,
        passed: bool,
    ) -> Worded:
        if not page.hits:
            return Worded(refusal=Refusal.NO_CHUNKS)
        if not passed:
            return Worded(refusal=Refusal.SCORE_GATE)
        return self._writer.write(question, page, history, listener)


def _query(inquiry: Inquiry, question: str) -> Query:
    return Query(
        text=question,
        prose=True,
        mode=inquiry.mode,
        limit=inquiry.limit,
        filters=inquiry.filters,
    )


def _refused(question: str, refusal: Refusal | None) -> str:
    return refusal_sentence(refusal, detect_question_language(question).code) if refusal else ""
