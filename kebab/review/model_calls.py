"""Sends the requests for one unit to the language model, and counts what they cost."""

from collections.abc import Callable, Sequence
from time import monotonic
from typing import TypeVar

from kebab.core.answers import JsonSchema, LanguageModel, Message
from kebab.core.review import UnitUsage
from kebab.errors.catalog import ContextOverflow, ModelProtocol
from kebab.review.light_format import MAX_TEXT_CHARS, DecodedList, decode_list, is_repeating
from kebab.review.limits import Limit, ask_with_limits
from kebab.wire.review import ItemWarning, PolicyName

_POLICIES: tuple[PolicyName, ...] = ("first", "downshift", "split", "paged")
_CHECK_PIECES = 16
"""After how many pieces a response is checked for repetition."""
_LARGEST_SHARE = 2
"""A response may take one half of the window."""

_T = TypeVar("_T")


class _EndlessError(Exception):
    """The model repeats itself, or writes a text without an end."""


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
        self.dropped = 0
        """How many items of the model were of no use."""
        self.is_incomplete = False
        """Whether a part of the unit was not asked about."""
        self.over_limit = 0
        """How many items were more than a request asked for."""

    def request(
        self, messages: Sequence[Message], schema: JsonSchema, max_tokens: int
    ) -> DecodedList:
        """Return the objects of a response; a model that repeats itself is stopped.

        Raises:
            Signal: The language model fails, or the messages do not fit its window.
        """
        self._requests += 1
        started = monotonic()
        try:
            text = self._complete(messages, schema, max_tokens)
        finally:
            self._seconds += monotonic() - started
        decoded = decode_list(text)
        self._repairs += decoded.repaired and bool(decoded.objects)
        return decoded

    def _complete(self, messages: Sequence[Message], schema: JsonSchema, max_tokens: int) -> str:
        pieces: list[str] = []

        def watch(piece: str) -> None:
            pieces.append(piece)
            if len(pieces) % _CHECK_PIECES == 0:
                _refuse_endless("".join(pieces))

        tokens = min(max_tokens, self._model.context_tokens // _LARGEST_SHARE)
        try:
            completion = self._model.chat(messages, max_tokens=tokens, on_text=watch, schema=schema)
        except (_EndlessError, ModelProtocol):
            # Ollama ends the stream of a model that repeats itself as if the connection were cut.
            if not pieces:
                raise
            self._completion_tokens += len(pieces)
            return "".join(pieces)
        self._prompt_tokens += completion.prompt_tokens
        self._completion_tokens += completion.completion_tokens
        return completion.text

    def ask_all(
        self,
        parts: Sequence[_T],
        limits: Sequence[Limit],
        ask: Callable[[Sequence[_T], Limit], bool],
    ) -> None:
        """Ask about all parts with limits that only fall, as `ask_with_limits` does.

        Raises:
            Signal: The language model fails, or a single part does not fit its window.
        """

        def ask_counted(part: Sequence[_T], limit: Limit) -> bool:
            self._downshifts += len(part) == len(parts) and limit != limits[0]
            try:
                return ask(part, limit)
            except ContextOverflow:
                if len(part) == 1:
                    raise
                return False

        policy = ask_with_limits(parts, limits, ask_counted)
        self._policy = max(self._policy, policy, key=_POLICIES.index)

    def build_usage(self) -> UnitUsage:
        """Return what the requests cost, and how they ended."""
        exhausted = self._policy == "paged"
        warnings: dict[ItemWarning, int] = {
            "downshift_exhausted": exhausted,
            "unit_incomplete": exhausted or self.is_incomplete,
            "items_dropped": self.dropped,
            "items_over_limit": self.over_limit,
            "json_repaired": self._repairs,
        }
        return UnitUsage(
            requests=self._requests,
            prompt_tokens=self._prompt_tokens,
            completion_tokens=self._completion_tokens,
            latency_ms=self._seconds * 1000,
            finish=("length" if exhausted else "stop") if self._requests else None,
            policy=self._policy,
            downshifts=self._downshifts,
            repairs=self._repairs,
            dropped=self.dropped,
            truncated=exhausted or self.is_incomplete,
            warnings=tuple(name for name, count in warnings.items() if count),
        )


def _refuse_endless(text: str) -> None:
    if len(text) - text.rfind('"') > MAX_TEXT_CHARS or is_repeating(text):
        raise _EndlessError
