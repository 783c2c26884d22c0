"""Reviews the units of documents with the language model, after the rules."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from kebab.core.answers import LanguageModel
from kebab.core.review import Finding, GlossaryTerm, Unit, UnitResult
from kebab.review.detection import FindRelated, UnitRequests
from kebab.review.document import ReviewDocument
from kebab.review.items import build_item, build_items, locate_item
from kebab.review.light_format import (
    LightFix,
    build_fixes_schema,
    read_fix,
)
from kebab.review.limits import AnswerState, Limit, choose_limits, compute_density
from kebab.review.model_calls import ModelCalls
from kebab.review.normalize import build_edit, is_same_text
from kebab.review.prompts import ReviewTask
from kebab.review.units import plan_units, show_sentences
from kebab.review.worker import LoadResult, UnitWorker
from kebab.wire.review import AgentItem, ReviewTierName

_MODEL_KINDS = frozenset({"proofread", "detect", "fix"})
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

    def list_dependents(self, units: Sequence[Unit], index: int) -> list[int]:
        """Return the units of the fixes for what a unit detects; they may be in the next one."""
        if units[index].kind != "detect":
            return []
        first = next(number for number, one in enumerate(units) if one.kind in _MODEL_KINDS)
        fix = index + (len(units) - first) // 2
        return [at for at in (fix, fix + 1) if at < len(units) and (at == fix or units[at].overlap)]

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
        task = ReviewTask(self.tier, document.lang, self.glossary)
        calls = ModelCalls(self.llm)
        if unit.kind == "fix":
            detected = index - (len(units) - first) // 2
            found = _merge_shared(units, detected, load, load(detected))
            return _fix_items(UnitRequests(document, task, calls, unit), found)
        recent = range(max(first, index - _RECENT_UNITS), index)
        density = compute_density((_count(units[one]), load(one)) for one in recent)
        asked = UnitRequests(document, task, calls, unit, density)
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


def _fix_items(asked: UnitRequests, found: UnitResult) -> UnitResult:
    """Return the items of a unit with the fixes that the model gives."""
    document = asked.document
    shown = show_sentences(document, asked.unit)
    numbers = {one.sentence: number for number, one in enumerate(shown, 1)}
    fixable = [item for item in found.items if not isinstance(item.cid, str)]
    fixed: dict[str, AgentItem | None] = {}

    def describe(item: AgentItem) -> tuple[int, str, str, str]:
        start, end = locate_item(document, item)
        return numbers.get(item.i[0], 1), document.text[start:end], item.k, item.r

    def ask(part: Sequence[AgentItem], limit: Limit) -> AnswerState:
        # A finding has one fix, so a model that repeats itself reaches the end of the list.
        most = min(limit.items, len(part))
        schema = build_fixes_schema(len(part), most)
        sentences = [one.text for one in shown]
        messages = asked.task.build_fixing(sentences, list(map(describe, part)), most)
        answer = asked.calls.request(messages, schema, limit.tokens)
        readable = 0
        for entry in answer.objects:
            fix = read_fix(entry, len(part))
            if fix is None:
                asked.calls.dropped += 1
                continue
            readable += 1
            item = part[fix.finding - 1]
            fixed[item.uid] = _apply_fix(document, item, fix)
            asked.calls.dropped += fixed[item.uid] is None
        return asked.calls.judge(answer, readable)

    if fixable:
        # Each finding is known, so the density is that of the findings themselves.
        limits = choose_limits(asked.task.tier, len(shown), len(fixable) / max(1, len(shown)))
        asked.calls.ask_all(fixable, limits, ask)
    items = tuple(filter(None, (fixed.get(item.uid, item) for item in found.items)))
    # A finding without a fix stays a note, and the text is reviewed.
    usage = replace(asked.calls.build_usage(), unanswered=False)
    return UnitResult(items=items, citations=found.citations, usage=usage)


def _apply_fix(document: ReviewDocument, item: AgentItem, fix: LightFix) -> AgentItem | None:
    """Return an item with its fix.

    None when the fix changes nothing: the model sees no mistake on the second look. A finding whose
    fix would change code, or less than its words, stays a note.
    """
    span = locate_item(document, item)
    if is_same_text(document, span, fix.text):
        return None
    edited = build_edit(document, span, fix.text, fix.note or None)
    if edited is None or edited[0] != span:
        return item
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
