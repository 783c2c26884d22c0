"""Sends the requests for one unit to the language model, and counts what they cost."""

from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any, NamedTuple, TypeVar

from kebab.core.answers import AnswerCutError, FinishReason, JsonSchema, LanguageModel, Message
from kebab.core.review import UnitUsage
from kebab.errors.catalog import ContextOverflow, ModelProtocol
from kebab.review.light_format import MAX_TEXT_CHARS, decode_list, is_repeating
from kebab.review.limits import AnswerState, Limit, ask_with_limits
from kebab.wire.review import ItemWarning, PolicyName

_POLICIES: tuple[PolicyName, ...] = ("first", "downshift", "split", "paged")
_CHECK_PIECES = 16
"""After how many pieces a response is checked for repetition."""
_LARGEST_SHARE = 2
"""A response may take one half of the window."""

_T = TypeVar("_T")


class _EndlessError(Exception):
    """The model repeats itself, or writes a text without an end."""


class ModelAnswer(NamedTuple):
    """The objects of a response, its state, and whether it was not the JSON that was asked for."""

    objects: list[dict[str, Any]]
    state: AnswerState
    repaired: bool = False


class ModelCalls:
    """The requests for one unit."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._requests = 0
        self._prompt_tokens = 0
        self._completion_tokens = 0
        self._seconds = 0.0
        self._repairs = 0
        self._policy: PolicyName = "first"
        self._downshifts = 0
        self._finish: FinishReason | None = None
        self._unanswered = False
        self.usable = 0
        """How many responses could be used, at least in part."""
        self.dropped = 0
        """How many items of the model were of no use."""
        self.is_incomplete = False
        """Whether a part of the unit was not asked about."""
        self.over_limit = 0
        """How many items were more than a request asked for."""

    def request(
        self, messages: Sequence[Message], schema: JsonSchema, max_tokens: int
    ) -> ModelAnswer:
        """Return the objects of a response; a model that repeats itself is stopped.

        Raises:
            Signal: The language model fails, or the messages do not fit its window.
        """
        self._requests += 1
        started = monotonic()
        try:
            text, finish = self._complete(messages, schema, max_tokens)
        finally:
            self._seconds += monotonic() - started
        self._finish = "length" if self._finish == "length" else finish or self._finish
        decoded = decode_list(text)
        state: AnswerState = "broken" if decoded.objects else "unusable"
        if decoded.complete:
            state = "complete"
        elif finish == "length":
            state = "cut"
        return ModelAnswer(decoded.objects, state, decoded.repaired)

    def _complete(
        self, messages: Sequence[Message], schema: JsonSchema, max_tokens: int
    ) -> tuple[str, FinishReason | None]:
        """Return a response, and why it ended; None when the server does not say it."""
        pieces: list[str] = []

        def watch(piece: str) -> None:
            pieces.append(piece)
            if len(pieces) % _CHECK_PIECES == 0:
                _refuse_endless("".join(pieces))

        tokens = min(max_tokens, self._model.context_tokens // _LARGEST_SHARE)
        try:
            completion = self._model.chat(messages, max_tokens=tokens, on_text=watch, schema=schema)
        except _EndlessError:
            self._completion_tokens += len(pieces)
            return "".join(pieces), "length"
        except ModelProtocol as failure:
            # Ollama ends the stream of a model that repeats itself as if the connection were cut.
            if not pieces or not isinstance(failure.__cause__, AnswerCutError):
                raise
            self._completion_tokens += len(pieces)
            return "".join(pieces), None
        self._prompt_tokens += completion.prompt_tokens
        self._completion_tokens += completion.completion_tokens
        return completion.text, completion.finish

    def judge(
        self, answer: ModelAnswer, readable: int, *, may_be_empty: bool = True
    ) -> AnswerState:
        """Return the state of a response in which so many objects have the format.

        Objects of which none has it are no answer, and neither is an empty list where something
        was asked for.
        """
        is_empty = answer.state == "complete" and not answer.objects
        self.usable += readable > 0 or (is_empty and may_be_empty)
        self._repairs += answer.repaired and readable > 0
        if answer.state != "cut" and answer.objects and not readable:
            return "unusable"
        return answer.state

    def ask_all(
        self,
        parts: Sequence[_T],
        limits: Sequence[Limit],
        ask: Callable[[Sequence[_T], Limit], AnswerState],
    ) -> None:
        """Ask about all parts with limits that only fall, as `ask_with_limits` does.

        Raises:
            Signal: The language model fails, or a single part does not fit its window.
        """

        def ask_counted(part: Sequence[_T], limit: Limit) -> AnswerState:
            self._downshifts += len(part) == len(parts) and limit != limits[0]
            try:
                return ask(part, limit)
            except ContextOverflow:
                if len(part) == 1:
                    raise
                return "cut"

        asked = ask_with_limits(parts, limits, ask_counted)
        self._policy = max(self._policy, asked.policy, key=_POLICIES.index)
        self._unanswered = self._unanswered or not asked.complete

    def build_usage(self) -> UnitUsage:
        """Return what the requests cost, and how they ended."""
        exhausted = self._policy == "paged"
        unusable = self._requests > 0 and not self.usable
        unanswered = self._unanswered or unusable
        warnings: dict[ItemWarning, int] = {
            "downshift_exhausted": exhausted,
            "unit_incomplete": unanswered or self.is_incomplete,
            "items_dropped": self.dropped,
            "items_over_limit": self.over_limit,
            "json_repaired": self._repairs,
        }
        return UnitUsage(
            requests=self._requests,
            prompt_tokens=self._prompt_tokens,
            completion_tokens=self._completion_tokens,
            latency_ms=self._seconds * 1000,
            finish=self._finish,
            policy=self._policy,
            downshifts=self._downshifts,
            repairs=self._repairs,
            dropped=self.dropped,
            truncated=exhausted,
            warnings=tuple(name for name, count in warnings.items() if count),
            unanswered=unanswered,
            unusable=unusable,
        )


def _refuse_endless(text: str) -> None:
    if len(text) - text.rfind('"') > MAX_TEXT_CHARS or is_repeating(text):
        raise _EndlessError
