"""Reviews the units of documents with the language model, after the rules.

Its findings get positions in the document; those without one are dropped.
"""

import re
from collections.abc import Sequence

from msgspec import Struct, field

from kebab.core.answers import LanguageModel
from kebab.core.review import Finding, Fix, GlossaryTerm, Span, Unit, UnitResult
from kebab.core.spelling import count_edits
from kebab.review.document import (
    ReviewDocument,
    ShownSentence,
    find_code,
    plan_units,
    show_sentences,
)
from kebab.review.items import build_items
from kebab.review.model_calls import LIMITS, AnswerState, Limit, ModelAnswer, ModelCalls
from kebab.review.prompts import (
    KINDS,
    LightItem,
    ReviewTask,
    build_items_schema,
    read_item,
    repeats_example,
)
from kebab.review.worker import UnitWorker
from kebab.text.offsets import find_quotation
from kebab.text.reasoning import remove_reasoning
from kebab.wire.review import EditName, ReviewTierName, SeverityName

_DEFAULT_SEVERITIES: dict[str, SeverityName] = {
    "spelling": "warning",
    "grammar": "warning",
}
_HIGHEST_SEVERITIES: dict[str, SeverityName] = {
    "punctuation": "warning",
    "terminology": "warning",
    "style": "suggestion",
}
"""Findings of these kinds are no errors, whatever the model says."""
_RANKS: dict[SeverityName, int] = {"suggestion": 0, "warning": 1, "error": 2}
_MAX_FIX_CHARS = 1_000
_SPELLING = "spelling"
_LETTERS_PER_EDIT = 4
"""How many letters of a misspelled text stand for one more edit than two."""
_FIRST_DENSE_SCRIPT = "\u0e00"
_QUOTED_LINE = re.compile(r"\n[ \t]*>")


class Normalizer:
    """Finds the places of the findings of one response.

    The model numbers the sentences `shown` from 1.
    """

    def __init__(self, document: ReviewDocument, shown: Sequence[ShownSentence]) -> None:
        self._document = document
        self._shown = shown
        self._used: set[tuple[str, Span]] = set()

    def normalize(self, item: LightItem) -> Finding | None:
        """Return a finding at the words that the model copied.

        None when the words have no place, and when the fix changes nothing.
        """
        span = self._locate(item)
        if span is None:
            return None
        edited = self._edit(item, span)
        if edited is None:
            return None
        edit, fix = edited
        return Finding(
            kind=item.kind,
            severity=choose_severity(item.kind, item.severity),
            reason=item.reason or item.kind,
            start=span[0],
            end=span[1],
            edit=edit,
            fix=fix,
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

    def _edit(self, item: LightItem, span: Span) -> tuple[EditName, Fix | None] | None:
        """Return the edit that puts the fix in the place of a span.

        None when it changes nothing, or only code. It is a note when the fix is another word, or
        would change code, an address or the sign of a quotation among others.
        """
        if item.fix is None or len(item.fix) > _MAX_FIX_CHARS:
            return "note", None
        before, fix = self._document.text[slice(*span)], item.fix
        if remove_reasoning(before) == before:
            fix = remove_reasoning(fix)
        text = " ".join(fix.split())
        if _fold(before) == _fold(text):
            return None
        if item.kind == _SPELLING and not is_respelling(before, text):
            return None if repeats_example(text) else ("note", None)
        low, high = span
        code = find_code(self._document, low, high)
        if any(start <= low and high <= end for start, end in code):
            return None
        if any(start < high and end > low for start, end in code) or _QUOTED_LINE.search(before):
            return "note", None
        return "replace" if text else "delete", Fix(text)


def is_respelling(before: str, after: str) -> bool:
    """Return whether a text is another spelling of the same words, and no other word."""
    first, second = before.casefold(), after.casefold()
    if any(letter >= _FIRST_DENSE_SCRIPT for letter in first):
        return True  # a few signs are a whole word there
    most = max(2, len(first) // _LETTERS_PER_EDIT)
    return count_edits(first.replace(" ", ""), second.replace(" ", ""), most) <= most


def _fold(text: str) -> str:
    """Return a text without the signs of a quotation, and with single blanks."""
    return " ".join(_QUOTED_LINE.sub("\n", text).split())


def choose_severity(kind: str, wanted: SeverityName | None) -> SeverityName:
    """Return the severity of a kind that the model wants, within the bounds of the kind."""
    chosen = wanted or _DEFAULT_SEVERITIES.get(kind, "suggestion")
    highest = _HIGHEST_SEVERITIES.get(kind, "error")
    return min(chosen, highest, key=_RANKS.__getitem__)


class UnitRequests(Struct):
    """The requests about the sentences of one unit, and the findings so far."""

    document: ReviewDocument
    task: ReviewTask
    calls: ModelCalls
    shown: Sequence[ShownSentence]
    findings: list[Finding] = field(default_factory=list)

    def proofread(self) -> None:
        """Ask for findings."""
        self.calls.ask_all(self.shown, LIMITS[self.task.tier], self._ask_for_findings)

    def _ask_for_findings(self, part: Sequence[ShownSentence], limit: Limit) -> AnswerState:
        tier = self.task.tier
        schema = build_items_schema(tier, len(part), limit.items)
        messages = self.task.build_proofreading([one.text for one in part], limit.items)
        answer = self.calls.request(messages, schema, limit)
        return self._take(answer, [read_item(one, KINDS[tier]) for one in answer.objects], part)

    def _take(
        self,
        answer: ModelAnswer,
        read: Sequence[LightItem | None],
        part: Sequence[ShownSentence],
    ) -> AnswerState:
        """Keep the findings of a response that have a place; return its state."""
        normalizer = Normalizer(self.document, part)
        readable = [item for item in read if item is not None]
        for item in readable:
            finding = normalizer.normalize(item)
            self.findings += [finding] if finding else []
            self.calls.dropped += finding is None
        self.calls.dropped += len(read) - len(readable)
        return self.calls.judge(answer, len(readable))


class ModelWorker(Struct, frozen=True, kw_only=True):
    """Applies the rules, then asks the language model about each unit.

    Attributes:
        llm: The language model.
        tier: How thorough the review is.
        rules: The worker for the rules, whose units come first.
        glossary: The terms of the settings.
    """

    llm: LanguageModel
    tier: ReviewTierName
    rules: UnitWorker
    glossary: Sequence[GlossaryTerm] = ()

    def plan(self, document: ReviewDocument) -> list[Unit]:
        """Return the units of the rules, then those of the model."""
        return [*self.rules.plan(document), *plan_units(document, "proofread")]

    def work(self, document: ReviewDocument, unit: Unit) -> UnitResult:
        """Return the result of one unit.

        Raises:
            Signal: The language model fails, so that the unit is not finished.
        """
        if unit.kind != "proofread":
            return self.rules.work(document, unit)
        task = ReviewTask(self.tier, document.lang, self.glossary)
        calls = ModelCalls(self.llm)
        asked = UnitRequests(document, task, calls, show_sentences(document, unit))
        asked.proofread()
        items, citations = build_items(document, asked.findings)
        return UnitResult(
            items=tuple(sorted(items, key=lambda item: item.o)),
            citations=tuple(citations),
            usage=calls.build_usage(),
        )
