"""Declares the format in which the language model writes findings, and reads its responses.

The model numbers the sentences of a unit from 1 and copies the words that it means, because small
models cannot count characters. `kebab.review.normalize` turns the words into positions.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from kebab.core.answers import JsonSchema
from kebab.wire.review import ReviewTierName, SeverityName

ITEMS = "items"
KINDS: dict[ReviewTierName, tuple[str, ...]] = {
    "quick": ("spelling", "grammar", "punctuation", "terminology"),
    "deep": ("spelling", "grammar", "punctuation", "terminology", "style"),
}
SEVERITIES: tuple[SeverityName, ...] = ("error", "warning", "suggestion")
CONTRADICTION = "contradiction"

MAX_TEXT_CHARS = 1_000
"""The longest text of a field; a longer one comes from a model that repeats itself."""

_MAX_DIGITS = 9
_MAX_ATTEMPTS = 200
"""How often a broken response is searched for a whole object."""
_TEXT = {"type": "string"}
_LIST_START = re.compile(r'"items"\s*:\s*\[|\A[^\[{]*\[')
_NEXT_OBJECT = re.compile(r"[\s,]*(?=\{)")
_LIST_END = re.compile(r"[\s,]*\]")
_TRAILING_COMMA = re.compile(r",\s*\}")
_MAX_COMMAS = 3


class LightItem(NamedTuple):
    """A finding as the model writes it; `sentence` is its number in the unit, from 1.

    `passage` is the number of the passage that a sentence contradicts.
    """

    sentence: int
    words: str
    kind: str
    severity: SeverityName | None
    reason: str
    fix: str | None = None
    passage: int | None = None


class LightFix(NamedTuple):
    """The corrected words for the finding with this number, from 1."""

    finding: int
    text: str
    note: str


class DecodedList(NamedTuple):
    """The objects of a response.

    `repaired` when the response was not the JSON that was asked for, and `complete` when there is
    a list that has its end.
    """

    objects: list[dict[str, Any]]
    repaired: bool
    complete: bool


def build_items_schema(
    tier: ReviewTierName, sentences: int, limit: int, *, with_fix: bool
) -> JsonSchema:
    """Return the schema of findings in so many sentences, in the order of thinking."""
    fix = {"fix": _TEXT} if with_fix else {}
    return _build_list(
        {
            "sentence": _build_number(sentences),
            "words": _TEXT,
            "kind": {"type": "string", "enum": list(KINDS[tier])},
            **fix,
            "reason": _TEXT,
            "severity": {"type": "string", "enum": list(SEVERITIES)},
        },
        limit,
    )


def build_contradictions_schema(sentences: int, passages: int, limit: int) -> JsonSchema:
    """Return the schema of contradictions between sentences and passages."""
    return _build_list(
        {
            "sentence": _build_number(sentences),
            "words": _TEXT,
            "passage": _build_number(passages),
            "reason": _TEXT,
        },
        limit,
    )


def build_fixes_schema(findings: int, limit: int) -> JsonSchema:
    """Return the schema of fixes for numbered findings."""
    return _build_list({"finding": _build_number(findings), "text": _TEXT, "note": _TEXT}, limit)


def _build_number(most: int) -> dict[str, Any]:
    return {"type": "integer", "enum": list(range(1, most + 1))}


def _build_list(properties: Mapping[str, Any], limit: int) -> JsonSchema:
    entry = build_object(properties)
    return build_object({ITEMS: {"type": "array", "maxItems": limit, "items": entry}})


def build_object(properties: Mapping[str, Any]) -> JsonSchema:
    """Return the schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def decode_list(text: str) -> DecodedList:
    """Return the complete objects of a response, also of one that is cut off or broken."""
    whole = _load(text)
    if isinstance(whole, dict | list):
        found = _find_list(whole)
        objects = [one for one in found if isinstance(one, dict)]
        is_asked = whole == {ITEMS: objects}
        # An object without a list is an answer only when it is a finding itself.
        is_list = isinstance(whole, list) or isinstance(whole.get(ITEMS), list)
        return DecodedList(objects, not is_asked, bool(objects) or (is_list and not found))
    start = _LIST_START.search(text)
    if start is None:
        return DecodedList([*_salvage(text, 0)][:1], repaired=True, complete=False)
    objects = []
    position = start.end()
    while True:
        if _LIST_END.match(text, position):
            return DecodedList(objects, repaired=True, complete=True)
        one, end = _decode_next(text, position)
        if one is None:
            # What follows a broken object may be whole; some of the list is missing anyway.
            objects += _salvage(text, position)
            return DecodedList(objects, repaired=True, complete=False)
        objects.append(one)
        position = end


def _find_list(whole: dict[str, Any] | list[Any]) -> list[Any]:
    """Return the list of a response, perhaps under another name; a single object is one too."""
    if isinstance(whole, list):
        return whole
    lists = [value for value in whole.values() if isinstance(value, list)]
    named = whole.get(ITEMS)
    if isinstance(named, list):
        return named
    if len(lists) == 1 and len(whole) == 1:
        return lists[0]
    return [whole] if whole else []


def _load(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _decode_next(text: str, position: int) -> tuple[dict[str, Any] | None, int]:
    """Return the object at a position and its end; None when there is no complete one."""
    gap = _NEXT_OBJECT.match(text, position)
    if gap is None:
        return None, position
    return _decode_object(text, gap.end())


def _decode_object(text: str, start: int) -> tuple[dict[str, Any] | None, int]:
    try:
        found, end = json.JSONDecoder(strict=False).raw_decode(text, start)
    except (ValueError, RecursionError):
        return _decode_with_comma(text, start)
    return (found, end) if isinstance(found, dict) else (None, start)


def _decode_with_comma(text: str, start: int) -> tuple[dict[str, Any] | None, int]:
    """Return an object that has a comma before its closing brace."""
    for comma in islice(_TRAILING_COMMA.finditer(text, start), _MAX_COMMAS):
        found = _load(text[start : comma.start()] + "}")
        if isinstance(found, dict):
            return found, comma.end()
    return None, start


def _salvage(text: str, position: int) -> Iterator[dict[str, Any]]:
    """Yield the complete objects after a place where a list is broken."""
    for _ in range(_MAX_ATTEMPTS):
        start = text.find("{", position)
        if start < 0:
            return
        one, end = _decode_object(text, start)
        if one is not None:
            yield one
        position = end if one is not None else start + 1


def read_item(entry: Mapping[str, Any], kinds: Collection[str]) -> LightItem | None:
    """Return the finding of an object; None when it is not one in this format."""
    known = {"sentence", "words", "kind", "severity", "reason", "fix"}
    words, kind = _read_text(entry, "words"), _read_text(entry, "kind").strip().lower()
    if not entry.keys() <= known or not words.strip() or kind not in kinds:
        return None
    fix = entry.get("fix")
    return LightItem(
        sentence=_read_number(entry.get("sentence")),
        words=words,
        kind=kind,
        severity=_read_severity(entry),
        reason=_read_text(entry, "reason"),
        fix=fix if isinstance(fix, str) else None,
    )


def read_contradiction(entry: Mapping[str, Any], passages: int) -> LightItem | None:
    """Return the contradiction of an object; None when it names no passage."""
    words, passage = _read_text(entry, "words"), _read_number(entry.get("passage"))
    known = {"sentence", "words", "passage", "reason"}
    if not entry.keys() <= known or not words.strip() or not 1 <= passage <= passages:
        return None
    return LightItem(
        sentence=_read_number(entry.get("sentence")),
        words=words,
        kind=CONTRADICTION,
        severity=None,
        reason=_read_text(entry, "reason"),
        passage=passage,
    )


def read_fix(entry: Mapping[str, Any], findings: int) -> LightFix | None:
    """Return the fix of an object; None when it names no finding or has no text."""
    number = _read_number(entry.get("finding"))
    is_known = entry.keys() <= {"finding", "text", "note"} and 1 <= number <= findings
    if not is_known or not isinstance(entry.get("text"), str):
        return None
    return LightFix(number, entry["text"], _read_text(entry, "note"))


def _read_text(entry: Mapping[str, Any], name: str) -> str:
    value = entry.get(name)
    return value if isinstance(value, str) and len(value) <= MAX_TEXT_CHARS else ""


def _read_number(value: object) -> int:
    """Return a number that may be written as a text; 0 when it is none."""
    text = str(value).strip() if isinstance(value, int | str) else ""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS else 0


def _read_severity(entry: Mapping[str, Any]) -> SeverityName | None:
    value = entry.get("severity")
    return next((one for one in SEVERITIES if one == value), None)


def is_repeating(text: str, *, least: int = 160, longest: int = 400) -> bool:
    """Return whether the end of a text repeats itself: the same part three times or more.

    Args:
        text: The text so far.
        least: The least length of the repetition.
        longest: The longest part.
    """
    for period in range(1, longest):
        length = max(least, 3 * period)
        if length > len(text):
            return False
        end = text[-length:]
        if end[period:] == end[:-period]:
            return True
    return False
