"""Lifts: what is added to the evidence of the foremost candidates, by what a query is after."""

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from kebab.core.ids import Key
from kebab.search import context, fuse, spread
from kebab.search.aim import Aim
from kebab.search.closeness import closeness
from kebab.search.lexical import Words
from kebab.search.parse import Question
from kebab.search.reading import Reading

Scores: TypeAlias = Mapping[Key, float]

HEAD = 10
"""How many of the first candidates are looked into."""

_CONTEXT = 0.5
"""What the evidence of a document counts for beside that of its passage, for a topic."""

_CLOSE = 0.2
"""What closeness counts for in a question."""

_SPREAD, _SPREAD_OF_NEED = 0.05, 0.15
"""What a passage loses for each better one of its document: of what does not ask, and of a need."""


def lifts(
    question: Question,
    goal: Aim,
    words: Words,
    shares: Scores,
    scores: Scores,
    reading: Reading,
) -> Iterator[tuple[str, Scores]]:
    """Yield what is added to the evidence and why, each after the one before has been added.

    Args:
        question: What is asked.
        goal: What it is after.
        words: What its terms are worth.
        shares: The lexical evidence of the candidates.
        scores: The fused evidence of those that may be lifted.
        reading: What the passages are read through.
    """
    step = _handicap(goal)
    owners = reading.documents(scores.keys()) if step or goal.topic else {}
    if goal.topic:
        lift = _scaled(context.around(shares, owners), _CONTEXT * goal.topic)
        scores = raised(scores, lift)
        yield "context", lift
    if goal.question:
        close = _close(question, words, fuse.front(scores, HEAD), reading)
        lift = _scaled(close, _CLOSE * goal.question)
        scores = raised(scores, lift)
        yield "closeness", lift
    if step:
        yield "spread", spread.handicap(fuse.front(scores), owners, step)


def raised(scores: Scores, lift: Scores) -> dict[Key, float]:
    """Return scores with what is added to some of them."""
    return {**scores, **{key: scores[key] + more for key, more in lift.items()}}


def _close(question: Question, words: Words, keys: list[Key], reading: Reading) -> dict[Key, float]:
    """Return how close the words of a question stand in passages."""
    asked = [term.text for term in question.terms]
    return {
        chunk.key: closeness(reading.body(chunk), asked, words.weights)
        for chunk in reading.chunks(keys)
    }


def _handicap(goal: Aim) -> float:
    """Return what a passage loses for every better one of its document."""
    return max(_SPREAD_OF_NEED * goal.need, 0.0 if goal.asks else _SPREAD)


def _scaled(scores: Scores, factor: float) -> Scores:
    return {key: factor * score for key, score in scores.items()}
