"""Answers a question: retrieves evidence, decides whether it suffices, and writes the answer."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
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
from kebab.core.queries import Mode, Page, Query
from kebab.errors.catalog import InvalidInput
from kebab.rag.answer_check import (
    CountOccurrences,
    Doubt,
    check_answer_terms,
    find_absent_terms,
    is_decisive,
)
from kebab.rag.followup import build_standalone_question
from kebab.rag.question_terms import (
    QuestionTerm,
    TermKind,
    extract_question_terms,
    select_asking_sentences,
)
from kebab.rag.refusals import get_refusal_sentence
from kebab.search.answerability import FAIR
from kebab.text.language import detect_question_language
from kebab.wire.ask import AnswerUsage, AnswerWarning

MIN_ANSWERABILITY = FAIR
"""Below this answerability a question is refused."""

EMPTY_USAGE = AnswerUsage(
    prompt_tokens=0,
    completion_tokens=0,
    latency_ms=0.0,
    first_token_ms=None,
    finish_reason=None,
    truncated=False,
    downshifts=0,
)
"""The usage of an answer before any model call."""


class AnswerListener(Protocol):
    """Receives the progress of an answer."""

    def on_retrieved(self, page: Page) -> None:
        """Receive the hits of the search."""

    def on_token(self, text: str) -> None:
        """Receive the next piece of the answer, which is not checked yet."""

    def on_restart(self, reason: str) -> None:
        """Discard all pieces so far: the model is asked again with a shorter prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftAnswer:
    """The result of a writer: a text with its citations, or a refusal.

    `used` is the number of passages that the writer worked from.
    """

    text: str = ""
    refusal: Refusal | None = None
    citations: tuple[SupportingQuote, ...] = ()
    warnings: tuple[AnswerWarning, ...] = ()
    usage: AnswerUsage = EMPTY_USAGE
    used: int = 0
    uncertain: bool = False


def count_as_present(tokens: Collection[str]) -> Mapping[str, int]:
    """Return that each token occurs once: without statistics no term is absent."""
    return dict.fromkeys(tokens, 1)


class AnswerWriter(Protocol):
    """Writes an answer from the hits of a search."""

    @property
    def mode(self) -> AnswerMode:
        """Whether a model writes the answer."""

    @property
    def model(self) -> LanguageModel | None:
        """The language model, if there is one."""

    def write(
        self, question: str, page: Page, history: Sequence[Turn], listener: AnswerListener
    ) -> DraftAnswer:
        """Write the answer."""


class AskEngine:
    """Answers questions over one snapshot of the library.

    Args:
        search: Returns a page of hits.
        writer: Writes the answer.
        count_occurrences: Counts the passages that contain a token.
        clock: Returns monotonic seconds.
    """

    def __init__(
        self,
        search: Callable[[Query], Page],
        writer: AnswerWriter,
        *,
        count_occurrences: CountOccurrences = count_as_present,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._search = search
        self._writer = writer
        self._count_occurrences = count_occurrences
        self._clock = clock

    def answer(
        self, query: AskQuery, history: Sequence[Turn], listener: AnswerListener
    ) -> AskOutcome:
        """Return an answer with checked claims, or a refusal.

        Errors of `LanguageModel.chat` propagate; `ContextOverflow` only when even the shortest
        prompt does not fit.

        Raises:
            InvalidInput: The question is empty.
        """
        if not query.question.strip():
            raise InvalidInput(field="$.question", cause="it is empty")
        started = self._clock()
        model = self._writer.model
        question = build_standalone_question(query.question, history, model)
        page = self._search(_build_search(query, question))
        listener.on_retrieved(page)
        terms = _extract_terms(query.question, page)
        absent = find_absent_terms(terms, page, self._count_occurrences)
        names = tuple(term.text for term in absent)
        asked = _extract_terms(select_asking_sentences(query.question), page)
        refused = is_decisive(asked, absent)
        draft = self._write(question, page, history, listener, refused=refused)
        if draft.refusal is None:
            draft = _add_doubts(draft, query.question, terms, absent, page)
        latency_ms = round((self._clock() - started) * 1000, 3)
        return AskOutcome(
            text=draft.text or _build_refusal_text(query.question, draft.refusal, names),
            mode=self._writer.mode,
            model=model.name if model else None,
            refusal=draft.refusal,
            citations=draft.citations,
            retrieved=RetrievalSummary(
                question=question,
                page=page,
                used=draft.used,
                top_score=page.answerability if page.hits else 0.0,
                gate=MIN_ANSWERABILITY,
            ),
            usage=structs.replace(draft.usage, latency_ms=latency_ms),
            warnings=draft.warnings,
            absent_terms=names,
            uncertain=draft.uncertain,
        )

    def _write(
        self,
        question: str,
        page: Page,
        history: Sequence[Turn],
        listener: AnswerListener,
        *,
        refused: bool,
    ) -> DraftAnswer:
        if not page.hits:
            return DraftAnswer(refusal=Refusal.NO_CHUNKS)
        if page.answerability < MIN_ANSWERABILITY:
            return DraftAnswer(refusal=Refusal.SCORE_GATE)
        if refused:
            return DraftAnswer(refusal=Refusal.ABSENT_TERMS)
        return self._writer.write(question, page, history, listener)


def _build_search(query: AskQuery, question: str) -> Query:
    """Return the search for the passages that answer a question."""
    return Query(
        text=question,
        prose=True,
        mode=query.mode,
        limit=query.limit,
        rerank=query.mode is not Mode.LEXICAL if query.rerank is None else query.rerank,
        filters=query.filters,
    )


def _extract_terms(question: str, page: Page) -> tuple[QuestionTerm, ...]:
    """Return the key terms of a question that can be compared with the hits.

    German capitalises every noun. In notes in other languages, names may be written differently.
    """
    language = detect_question_language(question).code
    terms = extract_question_terms(question, nouns=language == "de")
    if language is None or any(hit.chunk.lang in {None, language} for hit in page.hits):
        return terms
    return tuple(term for term in terms if term.kind in {TermKind.CODE, TermKind.NUMBER})


def _add_doubts(
    draft: DraftAnswer,
    question: str,
    terms: Sequence[QuestionTerm],
    absent: Sequence[QuestionTerm],
    page: Page,
) -> DraftAnswer:
    """Return an answer with a warning for each doubt that it is about the question."""
    quotes = [citation.quote for citation in draft.citations]
    check = check_answer_terms(question, terms, absent, quotes, page)
    return replace(
        draft,
        warnings=(*draft.warnings, *to_warnings(check.doubts)),
        uncertain=draft.uncertain or check.uncertain,
    )


def to_warnings(doubts: Sequence[Doubt]) -> tuple[AnswerWarning, ...]:
    """Return a warning for each doubt."""
    return tuple(
        AnswerWarning(code=doubt.kind.value, message=doubt.message, marker=None, span=None)
        for doubt in doubts
    )


def _build_refusal_text(question: str, refusal: Refusal | None, absent: Sequence[str]) -> str:
    code = detect_question_language(question).code
    return get_refusal_sentence(refusal, code, absent) if refusal else ""
