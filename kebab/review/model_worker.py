"""Reviews the units of documents with the language model, after the rules.

Its findings get positions in the document; those without one are dropped.
"""

import re
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from kebab.core.answers import LanguageModel
from kebab.core.queries import StoredChunk
from kebab.core.review import Finding, Fix, GlossaryTerm, Span, Unit, UnitResult
from kebab.core.spelling import count_edits
from kebab.errors.catalog import ContextOverflow
from kebab.review.document import (
    ReviewDocument,
    ShownSentence,
    find_code,
    plan_units,
    show_sentences,
)
from kebab.review.items import build_item, build_items, convert_kind, convert_severity, locate_item
from kebab.review.model_calls import (
    AnswerState,
    Limit,
    ModelAnswer,
    ModelCalls,
    choose_limits,
    compute_density,
)
from kebab.review.prompts import (
    KINDS,
    MAX_TEXT_CHARS,
    LightFix,
    LightItem,
    ReviewTask,
    build_contradictions_schema,
    build_fixes_schema,
    build_items_schema,
    read_contradiction,
    read_fix,
    read_item,
    repeats_example,
)
from kebab.review.worker import LoadResult, UnitWorker
from kebab.text.offsets import find_quotation
from kebab.wire.review import AgentItem, EditName, ItemV1, ReviewTierName, SeverityName

_DEFAULT_SEVERITIES: dict[str, SeverityName] = {
    "spelling": "warning",
    "grammar": "warning",
    "contradiction": "warning",
}
_HIGHEST_SEVERITIES: dict[str, SeverityName] = {
    "punctuation": "warning",
    "terminology": "warning",
    "style": "suggestion",
    "contradiction": "warning",
}
"""Findings of these kinds are no errors, whatever the model says."""
_RANKS: dict[SeverityName, int] = {"suggestion": 0, "warning": 1, "error": 2}
_MAX_FIX_CHARS = 1_000
_SPELLING = "spelling"
_LETTERS_PER_EDIT = 4
"""How many letters of a misspelled text stand for one more edit than two."""
_FIRST_DENSE_SCRIPT = "\u0e00"
_QUOTED_LINE = re.compile(r"\n[ \t]*>")
_PIECE = re.compile(r"(?:[^\S\n]|\n(?:[ \t]*>)*)+|\S+")
"""A word, or what is between two: white space with the signs of a quotation."""


class Normalizer:
    """Finds the places of the findings of one response.

    The model numbers the sentences `shown` from 1.
    """

    def __init__(self, document: ReviewDocument, shown: Sequence[ShownSentence]) -> None:
        self._document = document
        self._shown = shown
        self._used: set[tuple[str, Span]] = set()

    def normalize(self, item: LightItem, cites: StoredChunk | None = None) -> Finding | None:
        """Return a finding at the words that the model copied.

        None when the words have no place, when the fix changes nothing, and when it would change
        code, an address or the sign of a quotation.

        `cites` is the passage that the sentence contradicts.
        """
        span = self._locate(item)
        if span is None:
            return None
        edited = self._edit(item, span)
        if edited is None:
            return None
        (start, end), edit, fix = edited
        return Finding(
            kind=item.kind,
            severity=choose_severity(item.kind, item.severity),
            reason=item.reason or item.kind,
            start=start,
            end=end,
            edit=edit,
            fix=fix,
            cites=cites,
        )

    def _locate(self, item: LightItem) -> Span | None:
        """Return the place of the words: in the named sentence, else in the nearest other one.

        Of several places it is the first that no finding of the kind has. The words of the named
        sentence are not looked for in others: a finding that stands there again is a repetition.
        """
        named = item.sentence - 1
        taken: Span | None = None
        for number, sentence in sorted(enumerate(self._shown), key=lambda one: abs(one[0] - named)):
            for place in find_quotation(sentence.text, item.words):
                span = sentence.locate(*place)
                if (item.kind, span) not in self._used:
                    self._used.add((item.kind, span))
                    return span
                taken = taken or span
            if taken and number == named:
                break
        return taken

    def _edit(self, item: LightItem, span: Span) -> tuple[Span, EditName, Fix | None] | None:
        """Return the place and the text of the edit; None when it must not be made."""
        if item.fix is None or len(item.fix) > _MAX_FIX_CHARS:
            return span, "note", None
        edited = build_edit(self._document, span, item.fix)
        before = self._document.text[slice(*span)]
        if edited and item.kind == _SPELLING and not is_respelling(before, item.fix):
            return None if repeats_example(item.fix) else (span, "note", None)
        return edited


def build_edit(
    document: ReviewDocument, span: Span, text: str, note: str | None = None
) -> tuple[Span, EditName, Fix | None] | None:
    """Return the edit that puts a text in the place of a span.

    None when it changes nothing but white space at its ends, or when it would change code, an
    address or the sign of a quotation. An edit around such parts becomes smaller.
    """
    if is_same_text(document, span, text):
        return None
    before, text = document.text[slice(*span)], " ".join(text.split())
    if _touches_markup(document, span):
        smaller = _shrink(before, text)
        if smaller is None:
            return None
        start, end, text = smaller
        span = span[0] + start, span[0] + end
        if _touches_markup(document, span):
            return None
    if span[0] == span[1]:
        return span, "insert", Fix(text, note)
    return span, "replace" if text else "delete", Fix(text, note)


def is_respelling(before: str, after: str) -> bool:
    """Return whether a text is another spelling of the same words, and no other word."""
    first, second = before.casefold(), after.casefold()
    if any(letter >= _FIRST_DENSE_SCRIPT for letter in first):
        return True  # a few signs are a whole word there
    most = max(2, len(first) // _LETTERS_PER_EDIT)
    return count_edits(first.replace(" ", ""), second.replace(" ", ""), most) <= most


def is_same_text(document: ReviewDocument, span: Span, text: str) -> bool:
    """Return whether a text is that of a span but for white space and the signs of a quotation."""
    return _fold(document.text[slice(*span)]) == _fold(text)


def _fold(text: str) -> str:
    return " ".join(_QUOTED_LINE.sub("\n", text).split())


def _touches_markup(document: ReviewDocument, span: Span) -> bool:
    start, end = span
    inside = any(low < end and high > start for low, high in find_code(document, start, end))
    return inside or _QUOTED_LINE.search(document.text, start, end) is not None


def _shrink(before: str, after: str) -> tuple[int, int, str] | None:
    """Return the only part of a text that another one changes, word by word; else None."""
    old, new = _PIECE.findall(before), _PIECE.findall(after)
    folded = [[" " if one[0].isspace() else one for one in words] for words in (old, new)]
    matcher = SequenceMatcher(None, folded[0], folded[1], autojunk=False)
    changes = [one for one in matcher.get_opcodes() if one[0] != "equal"]
    if len(changes) != 1:
        return None
    _, low, high, new_low, new_high = changes[0]
    start = sum(map(len, old[:low]))
    return start, start + sum(map(len, old[low:high])), "".join(new[new_low:new_high])


def choose_severity(kind: str, wanted: SeverityName | None) -> SeverityName:
    """Return the severity of a kind that the model wants, within the bounds of the kind."""
    chosen = wanted or _DEFAULT_SEVERITIES.get(kind, "suggestion")
    highest = _HIGHEST_SEVERITIES.get(kind, "error")
    return min(chosen, highest, key=_RANKS.__getitem__)


FindRelated: TypeAlias = Callable[[ReviewDocument, str], Sequence[StoredChunk]]
"""Returns the passages of other notes that are about the same as a text."""

_OLDER_FIELDS = frozenset({"key", "evidence"})


class UnitRequests(Struct):
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
            if item is None or item.passage is None:
                self._add(None)
            else:
                self._add(normalizer.normalize(item, passages[item.passage - 1]))
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


_MODEL_KINDS = frozenset({"proofread", "detect", "fix"})
_RECENT_UNITS = 16
"""From how many units before the density of findings is computed."""


class ModelWorker(Struct, frozen=True, kw_only=True):
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
    if item.k == _SPELLING and not is_respelling(document.text[slice(*span)], fix.text):
        return None if repeats_example(fix.text) else item
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
