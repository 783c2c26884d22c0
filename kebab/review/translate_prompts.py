"""Builds the requests for a translation, and the schemas of their responses.

The formats are light: the program knows the segments, so a response has numbers and texts only.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from kebab.core.answers import JsonSchema, Message
from kebab.core.review import GlossaryTerm
from kebab.review.light_format import ITEMS, SEVERITIES, build_object
from kebab.text.language import get_language_name
from kebab.wire.review import SideName

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
        target = _name_target(self.target_lang)
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


def _name_target(tag: str) -> str:
    """Return the name of a target language, with its tag where that says more."""
    name = get_language_name(tag.replace("_", "-").partition("-")[0].lower())
    return f"{name} ({tag})" if tag != name and ("-" in tag or name == tag) else name


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
