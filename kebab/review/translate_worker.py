"""Translates the segments of a document with a language model, and checks the translations.

The format is light: the program knows the segments, so a response has numbers and texts only.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from kebab.core.answers import JsonSchema, LanguageModel, Message
from kebab.core.media import MARKDOWN
from kebab.core.review import Finding, Fix, GlossaryTerm, Unit, UnitResult
from kebab.review.document import ReviewDocument
from kebab.review.items import build_items
from kebab.review.model_calls import LIMITS, AnswerState, Limit, ModelCalls
from kebab.review.prompts import ITEMS, build_object
from kebab.review.segments import (
    Segment,
    group_segments,
    list_placeholder_faults,
    restore,
    split_segments,
)
from kebab.review.translation import (
    SegmentPair,
    check_pair,
    explain_untranslated,
    get_base_language,
)
from kebab.text.language import get_language_name
from kebab.text.reasoning import remove_reasoning
from kebab.wire.review import TRANSLATION, AgentItem, SeverityName, SideName

_PROMPT = (
    "You are a translator. Translate every text{source} into {target}. Translate completely and "
    "add nothing. Keep each placeholder such as \u27e61\u27e7 exactly once, and keep numbers, "
    "names and addresses. Reply with one JSON object that has the translation of each id, such as "
    '{{"items": [{{"id": 1, "text": "translation"}}]}}.'
)
_AGAIN = "Keep every placeholder exactly once, and write {target}, in"
_NO_TEXT = "the model gave no translation"
_LOST = "the model lost a placeholder"


class TranslationTask(NamedTuple):
    """The languages and terms of a translation."""

    source_lang: str | None
    target_lang: str
    glossary: Sequence[GlossaryTerm] = ()

    def build_request(self, sources: Mapping[int, str], again: Sequence[int]) -> list[Message]:
        """Return the request to translate texts, some of them again."""
        source = f" from {get_language_name(self.source_lang)}" if self.source_lang else ""
        base = get_base_language(self.target_lang)
        target = get_language_name(base)
        if self.target_lang != base or target == base:
            target = f"{target} ({self.target_lang})"
        prompt = _PROMPT.format(source=source, target=target)
        terms = [one.preferred for one in self.glossary if one.lang in {None, self.target_lang}]
        if terms:
            prompt += f" Preferred terms: {', '.join(terms)}."
        if again:
            prompt += f" {_AGAIN.format(target=target)} {', '.join(map(str, again))}."
        texts = [{"id": number, "text": text} for number, text in sources.items()]
        return [
            Message("system", prompt),
            Message("user", json.dumps(texts, ensure_ascii=False)),
        ]


def build_schema(numbers: Sequence[int]) -> JsonSchema:
    """Return the schema of a response with one text for each number."""
    count = len(numbers)
    entry = {"id": {"type": "integer", "enum": list(numbers)}, "text": {"type": "string"}}
    items = {
        "type": "array",
        "minItems": count,
        "maxItems": count,
        "items": build_object(entry),
    }
    return build_object({ITEMS: items})


class SegmentDraft:
    """The work on the segments of one unit, which the model knows by numbers from 1."""

    def __init__(
        self,
        llm: LanguageModel,
        document: ReviewDocument,
        task: TranslationTask,
        segments: Sequence[Segment],
    ) -> None:
        self._document = document
        self._task = task
        self._segments = dict(enumerate(segments, 1))
        self._calls = ModelCalls(llm)
        self._texts: dict[int, str] = {}
        self._faults: dict[int, str] = {}
        self._answered: set[int] = set()
        self._findings: list[Finding] = []

    def translate(self) -> UnitResult:
        """Return the translations of the segments, and what is wrong with them.

        A segment whose answer is of no use is asked about a second time.
        """
        limits = LIMITS["quick"]
        self._calls.ask_all(list(self._segments), limits, self._ask)
        # Texts whose response was cut off to the end would be so again.
        if again := sorted(self._answered - self._texts.keys()):
            self._calls.ask_all(again, limits, self._ask)
        usage = self._calls.build_usage()
        for number, segment in self._segments.items():
            if number in self._texts:
                self._add_text(segment, self._texts[number])
            elif number in self._answered and not usage.unusable:
                reason = f"the source text stays: {self._faults.get(number, _NO_TEXT)}"
                self._add(segment, "untranslated", "error", reason, "both")
        items, _ = build_items(self._document, self._findings)
        return UnitResult(items=tuple(items), usage=usage)

    def _ask(self, part: Sequence[int], limit: Limit) -> AnswerState:
        """Ask about the numbers that have no text yet."""
        todo = [number for number in part if number not in self._texts]
        for first in range(0, len(todo), limit.items):
            numbers = todo[first : first + limit.items]
            sources = {number: self._segments[number].source for number in numbers}
            again = [number for number in numbers if number in self._faults]
            messages = self._task.build_request(sources, again)
            answer = self._calls.request(messages, build_schema(numbers), limit)
            readable = self._take(numbers, answer.objects)
            state = self._calls.judge(answer, readable, may_be_empty=False)
            if state != "complete" and not self._texts.keys() >= {*numbers}:
                return state
            self._answered.update(numbers)
        return "complete"

    def _take(self, numbers: Sequence[int], entries: Sequence[Mapping[str, Any]]) -> int:
        """Keep the texts of a response that are translations; return how many could be read."""
        readable, given = 0, dict[int, str]()
        for entry in entries:
            text = entry.get("text")
            number = next((one for one in numbers if entry.get("id") in (one, str(one))), None)
            if number is None or not isinstance(text, str):
                self._calls.dropped += 1
                continue
            readable += 1
            segment = self._segments[number]
            if remove_reasoning(segment.source) == segment.source:
                text = remove_reasoning(text)
            if fault := self._find_fault(segment, text):
                self._faults[number] = fault
            else:
                given.setdefault(number, text)
        if fault := self._find_foreign(given):
            self._faults |= dict.fromkeys(given, fault)
        else:
            self._texts = given | self._texts
        return readable

    def _find_fault(self, segment: Segment, text: str) -> str | None:
        """Return why a text is no translation of a segment."""
        if not text.strip():
            return _NO_TEXT
        if list_placeholder_faults(segment.masked, text):
            return _LOST
        return explain_untranslated(SegmentPair(segment.source, text, *self._task))

    def _find_foreign(self, texts: Mapping[int, str]) -> str | None:
        """Return why short texts are together no translation, though each of them may be one."""
        source = " ".join(self._segments[number].source for number in texts)
        return explain_untranslated(SegmentPair(source, " ".join(texts.values()), *self._task))

    def _add_text(self, segment: Segment, text: str) -> None:
        """Add a translation, and the faults that the program finds in it."""
        is_markdown = self._document.source.media == MARKDOWN
        fix = Fix(restore(segment.masked, text, is_markdown=is_markdown))
        reason = f"{TRANSLATION} of {segment.cid}"
        self._add(segment, TRANSLATION, "suggestion", reason, "tgt", fix)
        for fault in check_pair(SegmentPair(segment.source, text, *self._task)):
            self._add(segment, fault.kind, fault.severity, fault.reason, fault.side)

    def _add(
        self,
        segment: Segment,
        kind: str,
        severity: SeverityName,
        reason: str,
        side: SideName,
        fix: Fix | None = None,
    ) -> None:
        """Add a finding about a segment, its translation, or both."""
        finding = Finding(
            kind=kind,
            severity=severity,
            reason=reason,
            start=segment.start,
            end=segment.end,
            edit="replace" if fix else "note",
            fix=fix,
            lang=self._task.target_lang,
            side=side,
            cid=segment.cid,
        )
        self._findings.append(finding)


class TranslateWorker:
    """Translates documents with a language model; `to` is a language tag."""

    def __init__(
        self, llm: LanguageModel, *, to: str, glossary: Sequence[GlossaryTerm] = ()
    ) -> None:
        self._llm = llm
        self._to = to
        self._glossary = glossary
        self._split: tuple[ReviewDocument, list[Segment]] | None = None

    def plan(self, document: ReviewDocument) -> list[Unit]:
        """Return the units, which cover all segments."""
        units = []
        for group in group_segments(self._list_segments(document)):
            start, end = group[0].start, group[-1].end
            first, last = document.find_sentence_range(start, end)
            units.append(Unit("draft", (first, last + 1), start, end))
        return units

    def work(self, document: ReviewDocument, unit: Unit) -> UnitResult:
        """Return the items of one unit.

        Raises:
            Signal: The language model fails.
        """
        segments = [
            one
            for one in self._list_segments(document)
            if unit.start <= one.start and one.end <= unit.end
        ]
        task = TranslationTask(document.lang, self._to, self._glossary)
        return SegmentDraft(self._llm, document, task, segments).translate()

    def _list_segments(self, document: ReviewDocument) -> list[Segment]:
        """Return the segments of a document; those of the last one are kept."""
        if self._split is None or self._split[0] is not document:
            self._split = document, split_segments(document)
        return self._split[1]


def collect_targets(items: Iterable[AgentItem]) -> dict[str, str]:
    """Return the translation of each segment by its `cid`."""
    return {
        str(item.cid): item.fix.text
        for item in items
        if item.k == TRANSLATION and item.cid and item.fix
    }
