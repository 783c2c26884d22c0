"""Works on the units of a translation: drafts, revisions, checks and ratings of segments."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

from kebab.core.answers import JsonSchema, LanguageModel, Message
from kebab.core.media import MARKDOWN
from kebab.core.review import Finding, Fix, GlossaryTerm, Unit, UnitResult
from kebab.review.document import ReviewDocument
from kebab.review.items import build_items
from kebab.review.segments import (
    Segment,
    group_segments,
    list_placeholder_faults,
    mask_translation,
    restore,
    split_segments,
)
from kebab.review.translate_prompts import (
    ComparisonStage,
    Inquiry,
    SegmentAsker,
    TranslationTask,
    build_check_schema,
    build_draft_schema,
    build_rate_schema,
    build_revise_schema,
    choose_severity,
    read_finding,
    read_rating,
    read_text,
)
from kebab.review.translation import SegmentPair, check_pair, is_untranslated
from kebab.review.worker import LoadResult
from kebab.wire.review import SEGMENT_KINDS, AgentItem, SeverityName, SideName, TranslateTierName

Entries: TypeAlias = Sequence[Mapping[str, Any]]

TRANSLATION = "translation"
REVISION = "revision"
_T = TypeVar("_T")
_AGAIN = "Keep every placeholder exactly once, and translate, in"
_NO_TEXT = "the model gave no translation"
_LOST = "the model lost a placeholder"
_REPEATED = "the model repeated the source"


class MaskedPair(NamedTuple):
    """A source and its translation, both with placeholders."""

    source: str
    target: str


class SegmentWork:
    """The stages of the work on the segments of a unit, which the model knows by numbers from 1.

    Each stage returns the whole result of the unit, so one object does one stage.
    """

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
        self._asker = SegmentAsker(llm)
        self._findings: list[Finding] = []
        self._scores: dict[int, float] = {}

    def draft(self) -> UnitResult:
        """Return the translations of the segments, and findings about those without one."""
        sources = {number: one.source for number, one in self._segments.items()}
        texts: dict[int, str] = {}
        faults: dict[int, str] = {}

        def build(numbers: Sequence[int]) -> list[Message]:
            again = [str(number) for number in numbers if number in faults]
            request = f"{_AGAIN} {', '.join(again)}." if again else None
            return self._task.build_draft({one: sources[one] for one in numbers}, request)

        def accept(
            numbers: Sequence[int],
            entries: Entries,
            _is_complete: bool,  # noqa: FBT001
        ) -> tuple[set[int], int]:
            for one in self._read_all(read_text, entries, numbers):
                fault = self._find_fault(one.number, one.text)
                if fault:
                    faults[one.number] = fault
                else:
                    texts.setdefault(one.number, one.text)
            faults.update((one, _NO_TEXT) for one in numbers if one not in {*texts, *faults})
            # A text may be empty, which is a fault of the translation and not of the format.
            return set(texts), sum(isinstance(one.get("text"), str) for one in entries)

        self._asker.ask(sources, Inquiry(build, build_draft_schema, accept))
        is_unusable = self._asker.build_usage().unusable
        for number, segment in self._segments.items():
            if number in texts:
                self._add_text(segment, TRANSLATION, texts[number])
            elif not is_unusable and number not in self._asker.unanswered:
                reason = f"the source text stays: {faults.get(number, _NO_TEXT)}"
                self._add(segment, "untranslated", "error", reason, "both")
        return self._build_result()

    def _find_fault(self, number: int, text: str) -> str | None:
        """Return why a text is no translation of a segment."""
        segment = self._segments[number]
        if list_placeholder_faults(segment.masked, text):
            return _LOST
        echoes = is_untranslated(segment.source, text, self._task.source_lang)
        return _REPEATED if echoes else None

    def _read_all(
        self,
        read: Callable[[Mapping[str, Any], Sequence[int]], _T | None],
        entries: Entries,
        numbers: Sequence[int],
    ) -> list[_T]:
        """Return the objects of a response that can be read, and count the others."""
        found = [read(entry, numbers) for entry in entries]
        usable = [one for one in found if one is not None]
        self._asker.count_dropped(len(found) - len(usable))
        return usable

    def find_pairs(self, targets: Mapping[str, str]) -> dict[int, MaskedPair]:
        """Return the segments that are translated, with placeholders on both sides."""
        pairs: dict[int, MaskedPair] = {}
        for number, segment in self._segments.items():
            target = targets.get(segment.cid)
            masked = None if target is None else mask_translation(segment.masked, target)
            if masked is not None:
                pairs[number] = MaskedPair(segment.source, masked)
        return pairs

    def revise(self, pairs: Mapping[int, MaskedPair]) -> UnitResult:
        """Return the translations that the model changes."""
        texts: dict[int, str] = {}

        def accept(
            numbers: Sequence[int],
            entries: Entries,
            is_complete: bool,  # noqa: FBT001
        ) -> tuple[set[int], int]:
            given = self._read_all(read_text, entries, numbers)
            texts.update(one for one in given if not self._find_fault(*one))
            return set(numbers) if is_complete else {one.number for one in given}, len(given)

        self._compare("revise", pairs, build_revise_schema, accept)
        for number, text in sorted(texts.items()):
            if " ".join(text.split()) != pairs[number].target:
                self._add_text(self._segments[number], REVISION, text)
        return self._build_result()

    def check(self, pairs: Mapping[int, MaskedPair]) -> UnitResult:
        """Return the faults that the program finds, and those that the model finds."""
        source_lang, target_lang, glossary = self._task
        for number, pair in pairs.items():
            for fault in check_pair(SegmentPair(*pair, source_lang, target_lang, glossary)):
                segment = self._segments[number]
                self._add(segment, fault.kind, fault.severity, fault.reason, fault.side)

        def accept(
            numbers: Sequence[int],
            entries: Entries,
            is_complete: bool,  # noqa: FBT001
        ) -> tuple[set[int], int]:
            found = self._read_all(read_finding, entries, numbers)
            for one in found:
                segment = self._segments[one.number]
                self._add(segment, one.kind, one.severity, one.reason, one.side)
            return set(numbers) if is_complete else set(), len(found)

        self._compare("check", pairs, build_check_schema, accept)
        return self._build_result()

    def rate(self, pairs: Mapping[int, MaskedPair]) -> UnitResult:
        """Return the ratings of the segments, and the faults that the model finds.

        A segment without a translation is rated 0.
        """
        self._scores = dict.fromkeys(self._segments.keys() - pairs.keys(), 0.0)

        def accept(
            numbers: Sequence[int],
            entries: Entries,
            _is_complete: bool,  # noqa: FBT001
        ) -> tuple[set[int], int]:
            found = self._read_all(read_rating, entries, numbers)
            for one in found:
                if one.number not in self._scores:
                    self._scores[one.number] = one.score
                    if one.reason:
                        segment, severity = self._segments[one.number], choose_severity(one.score)
                        self._add(segment, "quality", severity, one.reason, "tgt")
            return set(self._scores), len(found)

        self._compare("rate", pairs, build_rate_schema, accept)
        return self._build_result()

    def _compare(
        self,
        stage: ComparisonStage,
        pairs: Mapping[int, MaskedPair],
        build_schema: Callable[[Sequence[int]], JsonSchema],
        accept: Callable[[Sequence[int], Entries, bool], tuple[set[int], int]],
    ) -> None:
        """Ask the model about translations."""

        def build(numbers: Sequence[int]) -> list[Message]:
            return self._task.build_comparison(stage, {one: pairs[one] for one in numbers})

        sizes = {number: pair.target for number, pair in pairs.items()}
        inquiry = Inquiry(build, build_schema, accept, may_be_empty=stage != "rate")
        self._asker.ask(sizes, inquiry)

    def _add_text(self, segment: Segment, kind: str, text: str) -> None:
        is_markdown = self._document.source.media == MARKDOWN
        fix = Fix(restore(segment.masked, text, is_markdown=is_markdown))
        self._add(segment, kind, "suggestion", f"{kind} of {segment.cid}", "tgt", fix)

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

    def _build_result(self) -> UnitResult:
        items, _ = build_items(self._document, self._findings)
        scores = {self._segments[number].cid: score for number, score in self._scores.items()}
        return UnitResult(
            items=tuple(items),
            scores=tuple(sorted(scores.items())),
            usage=self._asker.build_usage(),
        )


Stage: TypeAlias = Literal["draft"] | ComparisonStage

STAGES: Mapping[TranslateTierName, tuple[Stage, ...]] = {
    "draft": ("draft",),
    "revise": ("draft", "revise"),
    "micro-check": ("draft", "revise", "check"),
    "quality": ("draft", "rate"),
}
"""The stages of each tier; every stage has one unit for each group of segments."""


class TranslateWorker:
    """Translates documents with a language model.

    `to` is a language tag.
    """

    def __init__(
        self,
        llm: LanguageModel,
        *,
        tier: TranslateTierName,
        to: str,
        glossary: Sequence[GlossaryTerm] = (),
    ) -> None:
        self._llm = llm
        self._stages = STAGES[tier]
        self._to = to
        self._glossary = glossary
        self._split: tuple[ReviewDocument, list[Segment]] | None = None

    @property
    def model(self) -> str | None:
        """The name of the language model."""
        return self._llm.name

    def plan(self, document: ReviewDocument) -> list[Unit]:
        """Return the units of each stage in turn; those of one stage cover all segments."""
        groups = group_segments(self._list_segments(document))
        return [_build_unit(document, stage, group) for stage in self._stages for group in groups]

    def list_dependents(self, units: Sequence[Unit], index: int) -> list[int]:
        """Return the units of the later stages over the same segments."""
        start = units[index].start
        return [at for at in range(index + 1, len(units)) if units[at].start == start]

    def work(
        self, document: ReviewDocument, units: Sequence[Unit], index: int, load: LoadResult
    ) -> UnitResult:
        """Return the items of one unit.

        Raises:
            Signal: The language model fails.
        """
        unit = units[index]
        segments = [
            one
            for one in self._list_segments(document)
            if unit.start <= one.start and one.end <= unit.end
        ]
        task = TranslationTask(document.lang, self._to, self._glossary)
        work = SegmentWork(self._llm, document, task, segments)
        if unit.kind == "draft":
            return work.draft()
        earlier = [
            item
            for number, one in enumerate(units[:index])
            if one.kind in {"draft", "revise"} and one.start == unit.start
            for item in load(number).items
        ]
        pairs = work.find_pairs(collect_targets(earlier))
        if unit.kind == "revise":
            return work.revise(pairs)
        return work.check(pairs) if unit.kind == "check" else work.rate(pairs)

    def _list_segments(self, document: ReviewDocument) -> list[Segment]:
        """Return the segments of a document; those of the last one are kept."""
        if self._split is None or self._split[0] is not document:
            self._split = document, split_segments(document)
        return self._split[1]


def collect_targets(items: Iterable[AgentItem]) -> dict[str, str]:
    """Return the last translation of each segment by its `cid`."""
    return {
        str(item.cid): item.fix.text
        for item in items
        if item.k in SEGMENT_KINDS and item.cid and item.fix
    }


def _build_unit(document: ReviewDocument, stage: Stage, group: Sequence[Segment]) -> Unit:
    start, end = group[0].start, group[-1].end
    first, last = document.find_sentence_range(start, end)
    return Unit(stage, (first, last + 1), start, end)
