"""Sends the requests for one unit to the language model under limits, reads and counts them."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from time import monotonic
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

from kebab.core.answers import AnswerCutError, JsonSchema, LanguageModel, Message, find_repetition
from kebab.core.review import UnitUsage
from kebab.errors.catalog import ContextOverflow, ModelProtocol
from kebab.wire.record import FinishName
from kebab.wire.review import ItemWarning, ReviewTierName


class Limit(NamedTuple):
    """The most items of a response, and its most tokens."""

    items: int
    tokens: int


AnswerState: TypeAlias = Literal["complete", "cut", "broken", "unusable"]
"""Whether a response is complete, was cut off at its limit, or ended by itself as a part of what
was asked for, or as something else."""


LIMITS: dict[ReviewTierName, tuple[Limit, ...]] = {
    "quick": (Limit(32, 1200), Limit(22, 840), Limit(15, 580)),
    "deep": (Limit(48, 1800), Limit(33, 1260), Limit(23, 880)),
}
"""The limits of the first request for a unit, and about 70 % and 49 % of them after a cut-off.

A unit has at most four sentences, so a response needs much less: about 80 tokens, and 40 to 60 for
each finding.
"""

_T = TypeVar("_T")


ITEMS = "items"
MAX_TEXT_CHARS = 1_000
"""The longest text of a field; a longer one comes from a model that repeats itself."""
_LIST_START = re.compile(r'"items"\s*:\s*(?:\[|(?=\{))')
_BARE_START = re.compile(r'(?:"(?:\\.|[^"\\])*+"|[^"\[])*+\[')
"""Matches up to a bracket, which is not one in a text of an object such as `- [ ] task`."""
_LIST_END = re.compile(r"[\s,]*[\]}]")
_GAP = re.compile(r"[\s,]*")
_STRING_OR_NOISE = re.compile(r'"(?:\\.|[^"\\])*+"|//[^\n]*|/\*[\s\S]*?\*/|,(?=\s*[\]}])')
_ESCAPE = re.compile(r"\\(?P<known>[\"\\/bfnrtu])?")


class DecodedList(NamedTuple):
    """The objects of a response; `complete` when there is a list that has its end."""

    objects: list[dict[str, Any]]
    complete: bool


def build_object(properties: Mapping[str, Any]) -> JsonSchema:
    """Return the schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def decode_list(text: str, *, is_cut: bool = False) -> DecodedList:
    """Return the complete objects of the list in a response, also of one that is cut off.

    What stands around the list does not matter. Of several lists, such as a draft and the final
    one, it is the last that has objects. Comments, commas too many and unknown escapes, which are
    no JSON, are removed from a response that cannot be read with them.
    """
    found = _find_list(text, is_cut=is_cut)
    if found.complete:
        return found
    mended = _find_list(_STRING_OR_NOISE.sub(_mend, text), is_cut=is_cut)
    return max(found, mended, key=lambda one: (len(one.objects), one.complete))


def _mend(found: re.Match[str]) -> str:
    """Return a string with valid escapes, and nothing for what is no string."""
    if not found[0].startswith('"'):
        return ""
    return _ESCAPE.sub(lambda one: one[0] if one["known"] else r"\\", found[0])


def _find_list(text: str, *, is_cut: bool) -> DecodedList:
    lists = [_decode_list_at(text, start.end()) for start in _LIST_START.finditer(text)]
    if lists:
        return [*lists[:1], *(found for found in lists if found.objects)][-1]
    found = DecodedList([], complete=False)
    if bare := _BARE_START.match(text):
        found = _decode_list_at(text, bare.end())
    if not (found.complete or found.objects) and (start := text.find("{")) >= 0:
        # Objects without a list end with the text.
        return _decode_list_at(text if is_cut else text.rstrip("`\n ") + "]", start)
    return found


def _decode_list_at(text: str, position: int) -> DecodedList:
    objects: list[dict[str, Any]] = []
    others, decoder = 0, json.JSONDecoder(strict=False)
    while not _LIST_END.match(text, position):
        gap = _GAP.match(text, position)
        try:
            found, position = decoder.raw_decode(text, gap.end() if gap else position)
        except (ValueError, RecursionError):
            return DecodedList(objects, complete=False)
        if isinstance(found, dict):
            objects.append(found)
        else:
            others += 1
    return DecodedList(objects, complete=bool(objects) or not others)


_CHECK_PIECES = 16
"""After how many pieces a response is checked for repetition."""
_LARGEST_SHARE = 2
"""A response may take one half of the window."""


FINISHES: tuple[FinishName | None, ...] = ("length", "content_filter", "tool_calls", "stop")
"""The reasons of an end; those that leave a response without its end come first."""


def find_finish(reasons: Collection[FinishName | None]) -> FinishName | None:
    """Return why the model stopped, first the reasons that leave a response without its end."""
    return next((one for one in FINISHES if one in reasons), None)


def add_counts(counts: Iterable[int | None]) -> int | None:
    """Return the sum of counts, None when one of them is unknown."""
    known = list(counts)
    return None if None in known else sum(filter(None, known))


class _EndlessError(Exception):
    """The model repeats itself, or writes a text without an end."""


class ModelAnswer(NamedTuple):
    """The objects of a response, and its state."""

    objects: list[dict[str, Any]]
    state: AnswerState


class ModelCalls:
    """The requests for one unit."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._requests = 0
        self._prompt_tokens = list[int | None]()
        self._completion_tokens = list[int | None]()
        self._seconds = 0.0
        self._finishes = list[FinishName | None]()
        self._is_partial = False
        self.is_exhausted = False
        """Whether all limits cut off a response about a single part."""
        self.unanswered = False
        """Whether a part has no complete response."""
        self.usable = 0
        """How many responses could be used, at least in part."""
        self.dropped = 0
        """How many items of the model were of no use."""
        self.is_incomplete = False
        """Whether a part of the unit was not asked about."""

    def request(self, messages: Sequence[Message], schema: JsonSchema, limit: Limit) -> ModelAnswer:
        """Return the objects of a response, no more than the limit has.

        A model that repeats itself is stopped.

        Raises:
            Signal: The language model fails, or the messages do not fit its window.
        """
        self._requests += 1
        started = monotonic()
        try:
            text, is_cut = self._complete(messages, schema, limit.tokens)
        finally:
            self._seconds += monotonic() - started
        decoded = decode_list(text, is_cut=is_cut)
        state: AnswerState = "broken" if decoded.objects else "unusable"
        if decoded.complete:
            state = "complete"
        elif is_cut:
            state = "cut"
        self.dropped += max(0, len(decoded.objects) - limit.items)
        return ModelAnswer(decoded.objects[: limit.items], state)

    def _complete(
        self, messages: Sequence[Message], schema: JsonSchema, max_tokens: int
    ) -> tuple[str, bool]:
        """Return a response, and whether a limit cut it off."""
        pieces: list[str] = []

        def watch(piece: str | None) -> None:
            if piece is None:
                pieces.clear()
                return
            pieces.append(piece)
            if len(pieces) % _CHECK_PIECES == 0:
                text = "".join(pieces)
                is_long = len(text) - text.rfind('"') > MAX_TEXT_CHARS
                if is_long or find_repetition(text) is not None:
                    raise _EndlessError

        try:
            completion = self._model.chat(
                messages, max_tokens=max_tokens, on_text=watch, schema=schema
            )
        except _EndlessError:
            self._count(None, None, None)
            return "".join(pieces), True
        except ModelProtocol as failure:
            # Ollama ends the stream of a model that repeats itself as if the connection were cut.
            if not pieces or not isinstance(failure.__cause__, AnswerCutError):
                raise
            self._count(None, None, None)
            return "".join(pieces), False
        self._count(completion.prompt_tokens, completion.completion_tokens, completion.finish)
        is_filtered = completion.finish == "content_filter"
        self._is_partial = self._is_partial or completion.is_prompt_cut or is_filtered
        return completion.text, completion.is_cut

    def _count(self, prompt: int | None, completion: int | None, finish: FinishName | None) -> None:
        """Keep what the server says of a response."""
        self._prompt_tokens.append(prompt)
        self._completion_tokens.append(completion)
        self._finishes.append(finish)

    def judge(
        self, answer: ModelAnswer, readable: int, *, may_be_empty: bool = True
    ) -> AnswerState:
        """Return the state of a response in which so many objects have the format.

        Objects of which none has it are no answer, and neither is an empty list where something
        was asked for.
        """
        is_empty = answer.state == "complete" and not answer.objects
        self.usable += readable > 0 or (is_empty and may_be_empty)
        if answer.state != "cut" and answer.objects and not readable:
            return "unusable"
        return answer.state

    def ask_all(
        self,
        parts: Sequence[_T],
        limits: Sequence[Limit],
        ask: Callable[[Sequence[_T], Limit], AnswerState],
    ) -> None:
        """Ask about all parts with limits that only fall.

        A response that was cut off is followed by lower limits; they do not mend a broken one. Then
        the parts are halved until each has a complete response. A single part without one is given
        up, and so are parts whose response is unusable.

        Raises:
            Signal: The language model fails, or a single part does not fit its window.
        """

        def ask_fitting(part: Sequence[_T], limit: Limit) -> AnswerState:
            try:
                return ask(part, limit)
            except ContextOverflow:
                if len(part) == 1:
                    raise
                return "cut"

        # A smaller window lowers every limit, so that each request differs from the one before.
        share = min(1.0, self._model.context_tokens / _LARGEST_SHARE / limits[0].tokens)
        scaled = [Limit(max(1, int(one.items * share)), int(one.tokens * share)) for one in limits]
        level, part, state = 0, parts, ask_fitting(parts, scaled[0])
        while state == "cut" and level + 1 < len(scaled):
            level += 1
            state = ask_fitting(parts, scaled[level])
        pending: list[Sequence[_T]] = []
        while True:
            middle = (len(part) + 1) // 2
            if state in ("cut", "broken") and len(part) > 1:
                pending[:0] = [part[:middle], part[middle:]]
            elif state != "complete":
                self.unanswered = True
                self.is_exhausted = self.is_exhausted or state == "cut"
            if not pending:
                return
            part = pending.pop(0)
            state = ask_fitting(part, scaled[level])

    def build_usage(self) -> UnitUsage:
        """Return what the requests cost, and how they ended."""
        unusable = self._requests > 0 and not self.usable
        unanswered = self.unanswered or unusable or self._is_partial
        warnings: dict[ItemWarning, int] = {
            "downshift_exhausted": self.is_exhausted,
            "unit_incomplete": unanswered or self.is_incomplete,
            "items_dropped": self.dropped,
        }
        return UnitUsage(
            requests=self._requests,
            prompt_tokens=add_counts(self._prompt_tokens),
            completion_tokens=add_counts(self._completion_tokens),
            latency_ms=self._seconds * 1000,
            finish=find_finish(self._finishes),
            truncated=self.is_exhausted,
            warnings=tuple(name for name, count in warnings.items() if count),
            unanswered=unanswered,
            unusable=unusable,
        )
