"""Reviews the units of documents with the language model, after the rules."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import msgspec

from kebab.core.answers import LanguageModel
from kebab.core.queries import StoredChunk
from kebab.core.review import Finding, GlossaryTerm, Unit, UnitResult
from kebab.review.document import ReviewDocument
from kebab.review.items import build_item, build_items, locate_item
from kebab.review.light_format import (
    KINDS,
    LightItem,
    build_contradictions_schema,
    build_fixes_schema,
    build_items_schema,
    read_contradiction,
    read_fix,
    read_item,
)
from kebab.review.limits import Limit, choose_limits, compute_density
from kebab.review.model_calls import ModelCalls
from kebab.review.normalize import Normalizer, build_edit
from kebab.review.older_items import locate_older_items
from kebab.review.prompts import ReviewTask
from kebab.review.units import ShownSentence, plan_units, show_sentences
from kebab.review.worker import LoadResult, UnitWorker
from kebab.wire.review import AgentItem, ItemV1, ReviewTierName

FindRelated: TypeAlias = Callable[[ReviewDocument, str], Sequence[StoredChunk]]
"""Returns the passages of other notes that are about the same as a text."""

_MODEL_KINDS = frozenset({"proofread", "detect", "fix"})
_OLDER_FIELDS = frozenset({"key", "evidence"})
_RECENT_UNITS = 16
"""From how many units before the density of findings is computed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelWorker:
    """Applies the rules, then asks the language model about each unit.

    A quick review asks once for findings with their fixes. A deep one first detects findings in
    all units, then asks for the fixes of those that were found.

    Attributes:
        llm: The language model.
        tier: How thorough the review is.
        rules: The worker for the rules, whose units come first.
        glossary: The terms of the settings.
        find_related: Finds passages that a text may contradict; None without an index.
    """

    llm: LanguageModel
    tier: ReviewTierName
    rules: UnitWorker
    glossary: Sequence[GlossaryTerm] = ()
    find_related: FindRelated | None = None

    @property
    def model(self) -> str | None:
        """The name of the language model."""
        return self.llm.name

    def plan(self, document: ReviewDocument) -> list[Unit]:
        """Return the units of the rules, then those of the model, which has two passes if deep."""
        first = plan_units(document, "proofread" if self.tier == "quick" else "detect")
        second = [] if self.tier == "quick" else [unit._replace(kind="fix") for unit in first]
        return [*self.rules.plan(document), *first, *second]

    def work(
        self, document: ReviewDocument, units: Sequence[Unit], index: int, load: LoadResult
    ) -> UnitResult:
        """Return the result of one unit; every unit before it is finished.

        Raises:
            Signal: The language model fails, so that the unit is not finished.
        """
        unit = units[index]
        if unit.kind not in _MODEL_KINDS:
            return self.rules.work(document, units, index, load)
        first = next(number for number, one in enumerate(units) if one.kind in _MODEL_KINDS)
        task = ReviewTask(self.tier, document.source.lang, self.glossary)
        calls = ModelCalls(self.llm)
        if unit.kind == "fix":
            detected = first + (index - first) - (len(units) - first) // 2
            found = _merge_shared(units, detected, load, load(detected))
            return _fix_items(_UnitRequests(document, task, calls, unit), found)
        recent = range(max(first, index - _RECENT_UNITS), index)
        density = compute_density((_count(units[one]), load(one)) for one in recent)
        asked = _UnitRequests(document, task, calls, unit, density)
        asked.detect()
        if unit.kind == "detect" and self.find_related is not None:
            asked.compare(self.find_related)
        items, citations = build_items(document, asked.findings)
        own = UnitResult(
            carried=tuple(sorted(items, key=lambda item: item.o)),
            citations=tuple(citations),
            usage=calls.build_usage(),
        )
        return own if unit.kind == "detect" else _merge_shared(units, index, load, own)


def _count(unit: Unit) -> int:
    return unit.sentences[1] - unit.sentences[0]


def _merge_shared(
    units: Sequence[Unit], index: int, load: LoadResult, own: UnitResult
) -> UnitResult:
    """Return the items that a unit decides on for good, and those that the next unit decides on.

    The unit decides on what the one before it found in the sentence that both have; where both
    found the same, its own item counts. `own.carried` are all items of the unit.
    """
    unit = units[index]
    after = units[index + 1] if index + 1 < len(units) else None
    is_shared = after is not None and after.kind == unit.kind and after.overlap > 0
    shared = after.sentences[0] if after is not None and is_shared else unit.sentences[1]
    items = {item.uid: item for item in own.carried if item.i[0] < shared}
    later = tuple(item for item in own.carried if item.i[0] >= shared)
    citations = {one.cid: one for one in own.citations}
    if unit.overlap:
        before = load(index - 1)
        earlier = [item for item in before.carried if item.i[0] >= unit.sentences[0]]
        items = {item.uid: item for item in earlier} | items
        citations = {one.cid: one for one in before.citations} | citations
    ordered = sorted(items.values(), key=lambda item: item.o)
    return UnitResult(
        items=tuple(ordered),
        carried=later,
        citations=tuple(citations[cid] for cid in _list_cited([*ordered, *later], citations)),
        usage=own.usage,
    )


def _list_cited(items: Sequence[AgentItem], known: Any) -> list[str]:
    cited = (item.cid for item in items)
    return list(dict.fromkeys(cid for cid in cited if isinstance(cid, str) and cid in known))


@dataclass(slots=True)
class _UnitRequests:
    """The requests about one unit, and the findings so far."""

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
        if shown and passages:
            self._ask(shown, lambda part, limit: self._ask_to_compare(part, passages, limit))

    def _ask(
        self,
        shown: Sequence[ShownSentence],
        ask: Callable[[Sequence[ShownSentence], Limit], bool],
    ) -> None:
        limits = choose_limits(self.task.tier, len(shown), self.density)
        self.calls.ask_all(shown, limits, ask)

    def _ask_for_findings(self, part: Sequence[ShownSentence], limit: Limit) -> bool:
        with_fix = self.task.tier == "quick"
        schema = build_items_schema(self.task.tier, len(part), limit.items, with_fix=with_fix)
        messages = self.task.build_detection([one.text for one in part], limit.items)
        decoded = self.calls.request(messages, schema, limit.tokens)
        self.calls.over_limit += max(0, len(decoded.objects) - limit.items)
        normalizer = Normalizer(self.document, part)
        for entry in decoded.objects:
            if entry.keys() >= _OLDER_FIELDS:
                self._add(self._locate_older(entry))
            else:
                item = read_item(entry, KINDS[self.task.tier])
                if item is not None and not with_fix:
                    item = item._replace(fix=None)
                self._add(normalizer.normalize(item) if item else None)
        return decoded.complete

    def _ask_to_compare(
        self, part: Sequence[ShownSentence], passages: Sequence[StoredChunk], limit: Limit
    ) -> bool:
        schema = build_contradictions_schema(len(part), len(passages), limit.items)
        messages = self.task.build_comparison([one.text for one in part], passages, limit.items)
        decoded = self.calls.request(messages, schema, limit.tokens)
        self.calls.over_limit += max(0, len(decoded.objects) - limit.items)
        normalizer = Normalizer(self.document, part)
        for entry in decoded.objects:
            item = read_contradiction(entry, len(passages))
            self._add(_place_contradiction(normalizer, item, passages))
        return decoded.complete

    def _locate_older(self, entry: dict[str, Any]) -> Finding | None:
        """Return the finding of an item of version 1, which some models write."""
        try:
            item = msgspec.convert(entry, ItemV1)
        except msgspec.ValidationError:
            return None
        within = self.unit.start, self.unit.end
        found = next(iter(locate_older_items(self.document, [item], within).findings), None)
        if found is None or found.fix is None:
            return found
        edit = build_edit(self.document, (found.start, found.end), found.fix.text)
        return None if edit is None else found

    def _add(self, finding: Finding | None) -> None:
        if finding is None:
            self.calls.dropped += 1
        else:
            self.findings.append(finding)


def _place_contradiction(
    normalizer: Normalizer, item: LightItem | None, passages: Sequence[StoredChunk]
) -> Finding | None:
    if item is None or item.passage is None:
        return None
    return normalizer.normalize(item, passages[item.passage - 1])


def _fix_items(asked: _UnitRequests, found: UnitResult) -> UnitResult:
    """Return the items of a unit with the fixes that the model gives."""
    document = asked.document
    shown = show_sentences(document, asked.unit)
    numbers = {one.sentence: number for number, one in enumerate(shown, 1)}
    fixable = [item for item in found.items if not isinstance(item.cid, str)]
    fixed: dict[str, AgentItem] = {}

    def describe(item: AgentItem) -> tuple[int, str, str, str]:
        start, end = locate_item(document, item)
        return numbers.get(item.i[0], 1), document.text[start:end], item.k, item.r

    def ask(part: Sequence[AgentItem], limit: Limit) -> bool:
        schema = build_fixes_schema(len(part), limit.items)
        sentences = [one.text for one in shown]
        messages = asked.task.build_fixing(sentences, list(map(describe, part)), limit.items)
        decoded = asked.calls.request(messages, schema, limit.tokens)
        for entry in decoded.objects:
            fix = read_fix(entry, len(part))
            item = _apply_fix(document, part[fix.finding - 1], fix.text, fix.note) if fix else None
            if item is None:
                asked.calls.dropped += 1
            else:
                fixed.setdefault(item.uid, item)
        return decoded.complete

    if fixable:
        # Each finding is known, so the density is that of the findings themselves.
        limits = choose_limits(asked.task.tier, len(shown), len(fixable) / max(1, len(shown)))
        asked.calls.ask_all(fixable, limits, ask)
    items = tuple(fixed.get(item.uid, item) for item in found.items)
    return UnitResult(items=items, citations=found.citations, usage=asked.calls.build_usage())


def _apply_fix(document: ReviewDocument, item: AgentItem, text: str, note: str) -> AgentItem | None:
    """Return an item with its fix; None when the fix changes nothing or must not be made."""
    span = locate_item(document, item)
    edited = build_edit(document, span, text, note or None)
    if edited is None or edited[0] != span:
        return None
    return build_item(
        document,
        Finding(
            kind=item.k,
            severity=item.s,
            reason=item.r,
            start=span[0],
            end=span[1],
            edit=edited[1],
            fix=edited[2],
        ),
    )
