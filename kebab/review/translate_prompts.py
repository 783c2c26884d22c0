"""Asks the language model about segments, each until its answer is usable.

The formats are light: the program knows the segments, so a response has numbers and texts only.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

from kebab.core.answers import JsonSchema, LanguageModel, Message
from kebab.core.review import GlossaryTerm, UnitUsage
from kebab.review.model_calls import LIMITS, AnswerState, Limit, ModelCalls
from kebab.review.prompts import ITEMS, SEVERITIES, build_object
from kebab.text.language import get_language_name
from kebab.text.model_input import estimate_tokens
from kebab.wire.review import SeverityName, SideName

MAX_FINDINGS = 8
"""The most findings of a response."""
KINDS = ("accuracy", "omission", "addition", "terminology", "grammar", "spelling", "style")
SIDES: tuple[SideName, ...] = ("src", "tgt", "both")
MOST_POINTS = 100

_PLACEHOLDERS = "Keep each placeholder such as \u27e61\u27e7 exactly once"
_DRAFT = (
    "You are a translator. Translate every text{source} into {target}. Translate completely and "
    "add nothing. {placeholders}, and keep numbers, names and addresses. Reply with one JSON "
    'object that has the translation of each id, such as {{"items": [{{"id": 1, "text": '
    '"translation"}}]}}.'
)
_REVISE = (
    "You revise translations{source} into {target}. Each entry has a source and its translation. "
    "Return only the entries that can be improved in accuracy, grammar or style. {placeholders}. "
    'Reply with one JSON object such as {{"items": [{{"id": 1, "text": "better"}}]}}; the list is '
    "empty when all is well."
)
_CHECK = (
    "You check translations{source} into {target}. Each entry has a source and its translation. "
    "Report wrong meaning, omissions, additions, wrong terms, grammar and spelling. Reply with "
    'one JSON object such as {{"items": [{{"id": 1, "side": "tgt", "kind": "accuracy", "reason": '
    '"the verb is wrong", "severity": "error"}}]}}; the list is empty when all is well.'
)
_RATE = (
    "You rate translations{source} into {target}. Each entry has a source and its translation. "
    "Name the worst fault of every entry, empty when there is none, and give it points from 0, "
    'wrong, to 100, right. Reply with one JSON object such as {{"items": [{{"id": 1, "reason": '
    '"the verb is wrong", "points": 70}}]}}.'
)
_TEXT = {"type": "string"}

ComparisonStage: TypeAlias = Literal["revise", "check", "rate"]
"""The stages that have a translation before them."""


class TranslationTask(NamedTuple):
    """The languages and terms of a translation."""

    source_lang: str | None
    target_lang: str
    glossary: Sequence[GlossaryTerm] = ()

    def _fill(self, prompt: str) -> str:
        source = f" from {get_language_name(self.source_lang)}" if self.source_lang else ""
        name = get_language_name(self.target_lang.replace("_", "-").partition("-")[0].lower())
        target = (
            f"{name} ({self.target_lang})"
            if self.target_lang != name and ("-" in self.target_lang or name == self.target_lang)
            else name
        )
        text = prompt.format(source=source, target=target, placeholders=_PLACEHOLDERS)
        terms = [one.preferred for one in self.glossary if one.lang in {None, self.target_lang}]
        return f"{text} Preferred terms: {', '.join(terms)}." if terms else text

    def build_draft(self, sources: Mapping[int, str], more: str | None = None) -> list[Message]:
        """Return the request to translate some texts; `more` is added to the instructions."""
        texts = [{"id": number, "text": source} for number, source in sources.items()]
        prompt = " ".join(filter(None, (self._fill(_DRAFT), more)))
        return [Message("system", prompt), Message("user", _format_json(texts))]

    def build_comparison(
        self, stage: ComparisonStage, pairs: Mapping[int, tuple[str, str]]
    ) -> list[Message]:
        """Return the request to revise, to check or to rate some texts with their translations."""
        prompt = {"revise": _REVISE, "check": _CHECK, "rate": _RATE}[stage]
        entries = [
            {"id": number, "source": source, "translation": target}
            for number, (source, target) in pairs.items()
        ]
        return [Message("system", self._fill(prompt)), Message("user", _format_json(entries))]


def _format_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def build_draft_schema(numbers: Sequence[int]) -> JsonSchema:
    """Return the schema of a response with one text for each number."""
    return _build_schema(numbers, {"text": _TEXT}, least=len(numbers), most=len(numbers))


def build_revise_schema(numbers: Sequence[int]) -> JsonSchema:
    """Return the schema of a response with texts for some numbers."""
    return _build_schema(numbers, {"text": _TEXT}, most=len(numbers))


def build_check_schema(numbers: Sequence[int]) -> JsonSchema:
    """Return the schema of a response with findings."""
    finding = {
        "side": {"type": "string", "enum": list(SIDES)},
        "kind": {"type": "string", "enum": list(KINDS)},
        "reason": _TEXT,
        "severity": {"type": "string", "enum": list(SEVERITIES)},
    }
    return _build_schema(numbers, finding, most=MAX_FINDINGS)


def build_rate_schema(numbers: Sequence[int]) -> JsonSchema:
    """Return the schema of a response with a fault and points for each number."""
    points = {"type": "integer", "minimum": 0, "maximum": MOST_POINTS}
    entry = {"reason": _TEXT, "points": points}
    return _build_schema(numbers, entry, least=len(numbers), most=len(numbers))


def _build_schema(
    numbers: Sequence[int], properties: Mapping[str, Any], *, least: int = 0, most: int
) -> JsonSchema:
    entry = {"id": {"type": "integer", "enum": list(numbers)}, **properties}
    bounds = {"minItems": least, "maxItems": most} if least else {"maxItems": most}
    return build_object({ITEMS: {"type": "array", **bounds, "items": build_object(entry)}})


_Word = TypeVar("_Word", bound=str)
_GOOD, _FAIR = 0.8, 0.5
"""A segment with these points or more has a fault that is a suggestion, or a warning."""


class SegmentText(NamedTuple):
    """The text that the model writes for the segment with this number."""

    number: int
    text: str


class SegmentFinding(NamedTuple):
    """What the model finds in the segment with this number."""

    number: int
    kind: str
    severity: SeverityName
    side: SideName
    reason: str


class SegmentRating(NamedTuple):
    """The rating of the segment with this number, from 0 to 1, and its worst fault if any."""

    number: int
    score: float
    reason: str


def read_text(entry: Mapping[str, Any], numbers: Sequence[int]) -> SegmentText | None:
    """Return the text of an object; None when it has none, or another number."""
    number, text = _read_number(entry, numbers), entry.get("text")
    if number is None or not isinstance(text, str) or not text.strip():
        return None
    return SegmentText(number, text)


def read_finding(entry: Mapping[str, Any], numbers: Sequence[int]) -> SegmentFinding | None:
    """Return the finding of an object; None when it has no reason, or another number."""
    number, reason = _read_number(entry, numbers), _read_reason(entry)
    if number is None or not reason:
        return None
    kind = _choose(KINDS, entry.get("kind"), "accuracy")
    severity = _choose(SEVERITIES, entry.get("severity"), "suggestion")
    side = _choose(SIDES, entry.get("side"), "tgt")
    return SegmentFinding(number, kind, severity, side, reason)


def read_rating(entry: Mapping[str, Any], numbers: Sequence[int]) -> SegmentRating | None:
    """Return the rating of an object; None when it has no points, or another number."""
    number, points = _read_number(entry, numbers), entry.get("points")
    if number is None or not isinstance(points, int | float) or math.isnan(points):
        return None
    score = min(1.0, max(0.0, points / MOST_POINTS))
    return SegmentRating(number, score, _read_reason(entry) if score < 1 else "")


def choose_severity(score: float) -> SeverityName:
    """Return the severity of the worst fault of a segment with this rating."""
    return "suggestion" if score >= _GOOD else "warning" if score >= _FAIR else "error"


def _read_number(entry: Mapping[str, Any], numbers: Sequence[int]) -> int | None:
    value = entry.get("id")
    return next((number for number in numbers if value in (number, str(number))), None)


def _choose(allowed: Sequence[_Word], value: object, default: _Word) -> _Word:
    return next((one for one in allowed if one == value), default)


def _read_reason(entry: Mapping[str, Any]) -> str:
    reason = entry.get("reason")
    return reason.strip() if isinstance(reason, str) else ""


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
