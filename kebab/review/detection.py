"""Asks the language model for the findings of one unit, and for contradictions with other notes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import msgspec

from kebab.core.queries import StoredChunk
from kebab.core.review import Finding, Unit
from kebab.errors.catalog import ContextOverflow
from kebab.review.document import ReviewDocument
from kebab.review.light_format import (
    KINDS,
    MAX_TEXT_CHARS,
    LightItem,
    build_contradictions_schema,
    build_items_schema,
    read_contradiction,
    read_item,
)
from kebab.review.limits import AnswerState, Limit, choose_limits
from kebab.review.model_calls import ModelAnswer, ModelCalls
from kebab.review.normalize import Normalizer
from kebab.review.older_items import convert_kind, convert_severity
from kebab.review.prompts import ReviewTask
from kebab.review.units import ShownSentence, show_sentences
from kebab.wire.review import ItemV1

FindRelated: TypeAlias = Callable[[ReviewDocument, str], Sequence[StoredChunk]]
"""Returns the passages of other notes that are about the same as a text."""

_OLDER_FIELDS = frozenset({"key", "evidence"})


@dataclass(slots=True)
class UnitRequests:
    """The requests about one unit, and the findings so far.

    `density` is the number of findings per sentence in the units before; None when unknown.
    """

    document: ReviewDocument
    task: ReviewTask
    calls: ModelCalls
    unit: Unit
    density: float | None = None
    findings: list[Finding] = field(default_factory=list)

    def detect(self) -> None:
        """Ask for findings."""
        shown = show_sentences(self.document, self.unit)
        if shown:
            self._ask(shown, self._ask_for_findings)

    def compare(self, find_related: FindRelated) -> None:
        """Ask for contradictions with passages of other notes."""
        shown = show_sentences(self.document, self.unit)
        passages = find_related(self.document, " ".join(one.text for one in shown))
        if not shown or not passages:
            return
        try:
            self._ask(shown, lambda part, limit: self._ask_to_compare(part, passages, limit))
        except ContextOverflow:
            # A window that is too small for passages is large enough for the other findings.
            self.calls.is_incomplete = True

    def _ask(
        self,
        shown: Sequence[ShownSentence],
        ask: Callable[[Sequence[ShownSentence], Limit], AnswerState],
    ) -> None:
        limits = choose_limits(self.task.tier, len(shown), self.density)
        self.calls.ask_all(shown, limits, ask)

    def _ask_for_findings(self, part: Sequence[ShownSentence], limit: Limit) -> AnswerState:
        with_fix = self.task.tier == "quick"
        schema = build_items_schema(self.task.tier, len(part), limit.items, with_fix=with_fix)
        messages = self.task.build_detection([one.text for one in part], limit.items)
        answer = self.calls.request(messages, schema, limit.tokens)
        normalizer = Normalizer(self.document, part)
        readable = 0
        for entry in answer.objects:
            older = entry.keys() >= _OLDER_FIELDS
            item = _read_older_item(entry) if older else read_item(entry, KINDS[self.task.tier])
            readable += item is not None
            if item is not None and not with_fix:
                item = item._replace(fix=None)
            self._add(normalizer.normalize(item) if item else None)
        return self._judge(answer, readable, limit)

    def _ask_to_compare(
        self, part: Sequence[ShownSentence], passages: Sequence[StoredChunk], limit: Limit
    ) -> AnswerState:
        schema = build_contradictions_schema(len(part), len(passages), limit.items)
        messages = self.task.build_comparison([one.text for one in part], passages, limit.items)
        answer = self.calls.request(messages, schema, limit.tokens)
        normalizer = Normalizer(self.document, part)
        readable = 0
        for entry in answer.objects:
            item = read_contradiction(entry, len(passages))
            readable += item is not None
            self._add(_place_contradiction(normalizer, item, passages))
        return self._judge(answer, readable, limit)

    def _judge(self, answer: ModelAnswer, readable: int, limit: Limit) -> AnswerState:
        """Return the state of a response with so many objects in the format; count it."""
        self.calls.over_limit += max(0, len(answer.objects) - limit.items)
        return self.calls.judge(answer, readable)

    def _add(self, finding: Finding | None) -> None:
        if finding is None:
            self.calls.dropped += 1
        else:
            self.findings.append(finding)


def _read_older_item(entry: dict[str, Any]) -> LightItem | None:
    """Return the finding of an item of version 1, which some models write; it has no sentence."""
    try:
        item = msgspec.convert(entry, ItemV1)
    except msgspec.ValidationError:
        return None
    if len(item.evidence) > MAX_TEXT_CHARS:
        return None
    return LightItem(
        sentence=0,
        words=item.evidence,
        kind=convert_kind(item.key),
        severity=convert_severity(item.severity),
        reason=item.message,
        fix=item.suggestion,
    )


def _place_contradiction(
    normalizer: Normalizer, item: LightItem | None, passages: Sequence[StoredChunk]
) -> Finding | None:
    if item is None or item.passage is None:
        return None
    return normalizer.normalize(item, passages[item.passage - 1])
