"""Asking the questions of a golden set in one mode, and telling how far it is."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from kebab.app.facade import Kebab
from kebab.errors.catalog import InvalidInput
from kebab.evals.judge import ndcg, rank_of
from kebab.evals.question import Question
from kebab.wire.evals import EvalDegraded, EvalOutcome, EvalProgress
from kebab.wire.search import ModeName, SearchRequest, SearchResponse

Tell: TypeAlias = Callable[[EvalProgress], None]
_INTERVAL_S = 0.5


class Pace:
    """Tells how far a run is, a few times a second at most."""

    def __init__(self, tell: Tell, clock: Callable[[], float] = time.monotonic) -> None:
        self._tell = tell
        self._clock = clock
        self._started = clock()
        self._last = self._started - _INTERVAL_S

    def elapsed_ms(self) -> int:
        """Return how long the run has taken so far."""
        return int((self._clock() - self._started) * 1000)

    def at(self, name: str, done: int, total: int) -> None:
        """Tell what the run is at, unless it told so a moment ago; both ends are always told."""
        now = self._clock()
        if now - self._last >= _INTERVAL_S or done in (0, total):
            self._last = now
            elapsed = self.elapsed_ms()
            self._tell(EvalProgress(name=name, done=done, total=total, elapsed_ms=elapsed))


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What became of all questions in one mode."""

    outcomes: list[EvalOutcome]
    degraded: list[EvalDegraded]
    revisions: list[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Asks one knowledge base, always in the same way."""

    kebab: Kebab
    pace: Pace
    limit: int
    per_doc: int | None = None

    def ask(self, questions: Sequence[Question], mode: ModeName) -> Asked:
        """Return the outcome of each question. The first is asked twice, once to load models."""
        self.pace.at(mode, 0, len(questions))
        self._search(questions[0], mode)
        degraded: Counter[tuple[str, str]] = Counter()
        outcomes: list[EvalOutcome] = []
        revisions: dict[int, None] = {}
        for outcome, reply in self._outcomes(questions, mode):
            outcomes.append(outcome)
            revisions[reply.corpus_revision] = None
            degraded.update((one.channel, one.reason) for one in reply.degraded)
            self.pace.at(mode, len(outcomes), len(questions))
        return Asked(outcomes=outcomes, degraded=_told(degraded), revisions=[*revisions])

    def _outcomes(
        self, questions: Sequence[Question], mode: ModeName
    ) -> Iterator[tuple[EvalOutcome, SearchResponse]]:
        for question in questions:
            before = time.perf_counter()
            reply = self._search(question, mode)
            spent = (time.perf_counter() - before) * 1000
            yield outcome_of(question, reply, spent), reply

    def _search(self, question: Question, mode: ModeName) -> SearchResponse:
        request = SearchRequest(
            query=question.text, mode=mode, limit=self.limit, per_doc=self.per_doc
        )
        try:
            return self.kebab.search(request)
        except InvalidInput as fault:
            cause = f"question {question.id} cannot be asked: {fault.cause}"
            raise InvalidInput(field=fault.field, cause=cause) from fault


def _told(degraded: Counter[tuple[str, str]]) -> list[EvalDegraded]:
    return [
        EvalDegraded(channel=channel, reason=reason, questions=count)
        for (channel, reason), count in degraded.most_common()
    ]


def outcome_of(question: Question, reply: SearchResponse, duration_ms: float) -> EvalOutcome:
    """Return what became of a question."""
    first = reply.hits[0] if reply.hits else None
    return EvalOutcome(
        id=question.id,
        query=question.text,
        answerable=question.answerable,
        rank=rank_of(question, reply.hits),
        ndcg=ndcg(question, reply.hits),
        hits=len(reply.hits),
        score=first.score if first else None,
        confidence=first.confidence if first else None,
        refused=all(hit.confidence == "weak" for hit in reply.hits),
        duration_ms=duration_ms,
    )
