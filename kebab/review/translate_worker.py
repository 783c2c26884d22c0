"""Works on the units of a translation: drafts, revisions, checks and ratings of segments."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

from kebab.core.answers import LanguageModel
from kebab.core.review import GlossaryTerm, Unit, UnitResult
from kebab.review.document import ReviewDocument
from kebab.review.segments import Segment, group_segments, split_segments
from kebab.review.translate_prompts import ComparisonStage, TranslationTask
from kebab.review.translate_stages import SegmentWork
from kebab.review.worker import LoadResult
from kebab.wire.review import SEGMENT_KINDS, AgentItem, TranslateTierName

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

    Args:
        llm: The language model.
        tier: The stages.
        to: The language of the translation, as a tag.
        glossary: The terms of the settings.
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
