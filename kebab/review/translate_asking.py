"""Asks the language model about the segments of a unit, each until its answer is usable."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from kebab.core.answers import JsonSchema, LanguageModel, Message
from kebab.core.review import UnitUsage
from kebab.review.limits import LIMITS, AnswerState, Limit
from kebab.review.model_calls import ModelCalls
from kebab.text.tokens import estimate_tokens

_LIMITS = LIMITS["quick"]
_BASE_TOKENS = 60
_ITEM_TOKENS = 20
_TOKENS_PER_CHAR = 0.6
"""A translation into a language that the model's tokenizer knows badly takes many tokens."""


class Inquiry(NamedTuple):
    """How to ask about numbered texts.

    `accept` takes the objects of a response to the numbers that were asked for, and whether the
    response is complete. It returns the numbers that are settled, and how many objects have the
    format. `may_be_empty` tells that an empty list is an answer.
    """

    build_messages: Callable[[Sequence[int]], list[Message]]
    build_schema: Callable[[Sequence[int]], JsonSchema]
    accept: Callable[[Sequence[int], Sequence[Mapping[str, Any]], bool], tuple[set[int], int]]
    may_be_empty: bool = False


class SegmentAsker:
    """Asks about numbered texts. What a cut-off response completes is not asked for again."""

    def __init__(self, model: LanguageModel) -> None:
        self._calls = ModelCalls(model)
        self.unanswered: set[int] = set()
        """The numbers without a complete response."""

    def ask(self, texts: Mapping[int, str], inquiry: Inquiry) -> set[int]:
        """Return the numbers that are settled; one that is not is asked for a second time.

        Raises:
            Signal: The language model fails, or a single text does not fit its window.
        """
        settled: set[int] = set()
        answered: set[int] = set()

        def ask_part(part: Sequence[int], limit: Limit) -> AnswerState:
            todo = [number for number in part if number not in settled]
            is_unusable = False
            for numbers in _split_requests(todo, texts, limit):
                tokens = min(limit.tokens, _estimate_need(texts, numbers))
                messages, schema = inquiry.build_messages(numbers), inquiry.build_schema(numbers)
                answer = self._calls.request(messages, schema, tokens)
                is_complete = answer.state == "complete"
                accepted, readable = inquiry.accept(numbers, answer.objects, is_complete)
                state = self._calls.judge(answer, readable, may_be_empty=inquiry.may_be_empty)
                settled.update(() if state == "unusable" else accepted)
                if state == "complete" or settled.issuperset(numbers):
                    answered.update(numbers)
                elif state == "unusable":
                    is_unusable = True
                else:
                    return state
            return "unusable" if is_unusable else "complete"

        self._calls.ask_all(list(texts), _LIMITS, ask_part)
        # Texts whose response was cut off to the end would be so again.
        if again := sorted(answered - settled):
            self._calls.ask_all(again, _LIMITS, ask_part)
        self.unanswered |= texts.keys() - answered - settled
        return settled

    def count_dropped(self, count: int) -> None:
        """Count objects of responses that were of no use."""
        self._calls.dropped += count

    def build_usage(self) -> UnitUsage:
        """Return what the requests cost."""
        return self._calls.build_usage()


def _split_requests(
    numbers: Sequence[int], texts: Mapping[int, str], limit: Limit
) -> Iterator[list[int]]:
    """Yield the numbers of each request; its response fits the limit, unless it has one text."""
    chosen: list[int] = []
    for number in numbers:
        if chosen and (
            len(chosen) == limit.items or _estimate_need(texts, [*chosen, number]) > limit.tokens
        ):
            yield chosen
            chosen = []
        chosen.append(number)
    if chosen:
        yield chosen


def _estimate_need(texts: Mapping[int, str], numbers: Sequence[int]) -> int:
    """Estimate the tokens of a response with the translations of some texts."""
    return _BASE_TOKENS + sum(
        _ITEM_TOKENS
        + max(2 * estimate_tokens(texts[number]), round(_TOKENS_PER_CHAR * len(texts[number])))
        for number in numbers
    )
