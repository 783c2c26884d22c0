"""Translates the segments of a document, and puts the translations into it.

The format of requests is light: the program knows the segments, so a response has numbers and texts
only. Every translation is checked without a language model.
"""

import json
import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from kebab.core.answers import JsonSchema, LanguageModel, Message
from kebab.core.media import MARKDOWN
from kebab.core.review import Unit, UnitResult
from kebab.review.document import Finding, Fix, ReviewDocument
from kebab.review.model_calls import ITEMS, LIMITS, AnswerState, Limit, ModelCalls, build_object
from kebab.review.rules import build_items
from kebab.review.segments import (
    Segment,
    group_segments,
    keep_harmless,
    list_placeholder_faults,
    read_structure,
    restore,
    split_segments,
)
from kebab.text.language import count_letters, detect_language, detect_script, get_language_name
from kebab.text.normalize import load_words
from kebab.text.reasoning import remove_reasoning
from kebab.wire.review import TRANSLATION, AgentItem, SeverityName, SideName, TranslatedText

_PLACEHOLDER = re.compile("\u27e6\\d+\u27e7")
_WORD = re.compile(r"[^\W\d_]+")
_NUMBER = re.compile(r"\d+(?:[.,:/\u2009\u202f'’-]?\d+)*")
_SCALED = re.compile(
    r"(?<![\d.,])\d[\d.,]*+\s*+(?:hundred|thousand|million|billion|trillion|dozen|mio|mrd|tausend|millionen?"
    r"|milliarden?|mille|millones|milliards?|[ap]\.?m\b|[十百千万萬亿億"
    r"兆천만억조])",
    re.IGNORECASE,
)
"""Numbers that other languages write with other digits, such as `3 million` and `300만`."""

_ERA = re.compile("(?:令和|平成|昭和)\\d+")
_NAME = re.compile(
    r"(?<![\w@/.-])(?=[A-Za-z0-9_.+#-]*[A-Z])(?:[A-Z]{2,}[A-Za-z0-9]*|[A-Za-z]+\d[A-Za-z0-9]*"
    r"|[a-z]+[A-Z][A-Za-z0-9]*|[A-Z][a-z0-9]+[A-Z][A-Za-z0-9]*)(?:[-.+#][A-Za-z0-9]+)*(?![\w])"
)
"""Names in Latin script that every language writes alike: `SQLite`, `HTTP`, `UTF-8`."""
_UNIT = re.compile(r"\d+\s?\S+")
"""A number with its unit, which languages write differently."""

_SCRIPTS = {
    lang: script for script, langs in load_words("scripts").items() for lang in langs.split()
}
"""The script of each language that is not written in Latin; unknown when it cannot be told."""
_WEIGHTS = {"hangul": 2.2, "han": 2.8, "kana": 2.0}
"""How many letters of Latin text a letter is worth."""

_MOST_SPELLED = 12
"""The largest number that is often written as a word, months included."""
_MIN_LETTERS = 12
_MIN_WORDS = 3
_MIN_LENGTH = 40.0
_SHORTEST, _LONGEST = 0.35, 3.0
_SAMPLE = 80


_NO_TEXT = "the model gave no translation"


class SegmentFault(NamedTuple):
    """What is wrong with a translated segment."""

    kind: str
    severity: SeverityName
    reason: str
    side: SideName = "tgt"


class SegmentPair(NamedTuple):
    """A source and its translation, both with placeholders, and their languages."""

    source: str
    target: str
    source_lang: str | None
    target_lang: str


def check_pair(pair: SegmentPair) -> list[SegmentFault]:
    """Return the faults of a translation that is in its language."""
    return [*_check_numbers(pair), *_check_names(pair), *_check_length(pair)]


def explain_untranslated(pair: SegmentPair) -> str | None:
    """Return why a text is no translation; None when it seems to be in its language."""
    if is_untranslated(pair.source, pair.target, pair.source_lang):
        return "the text is not translated"
    text = _NAME.sub(" ", _PLACEHOLDER.sub(" ", pair.target))
    words, lang = _WORD.findall(text), get_base_language(pair.target_lang)
    script = detect_script(text)
    expected, name = _SCRIPTS.get(lang, "latin"), get_language_name(lang)
    if script is None or expected == "unknown":
        return None
    is_prose = script != "latin" or any(map(str.islower, words))
    is_foreign = script != expected and not count_letters(text, expected)
    if (is_foreign and is_prose) or (script != expected and sum(map(len, words)) >= _MIN_LETTERS):
        return f"the text is not in the script of {name}"
    found = detect_language(text)
    is_long = len(text) >= _SAMPLE or expected == "han"
    is_source = found == pair.source_lang and len(words) > _MIN_WORDS
    if found not in (None, lang) and (is_long or is_source) and name != lang:
        # The detection knows the language, so it may report another.
        return f"the text is in {get_language_name(found)} and not in {name}"
    return None


def is_untranslated(source: str, target: str, source_lang: str | None) -> bool:
    """Return whether a translation has the source, which is prose and not a list of names.

    `source_lang` is the language of the document; None when it is unknown.
    """
    words = _list_words(source)
    before, after = (f" {' '.join(one)} ".casefold() for one in (words, _list_words(target)))
    if before not in after or sum(map(len, words)) < _MIN_LETTERS:
        return False
    if detect_script(source) == "latin":
        return source_lang is not None and sum(map(str.islower, words)) >= _MIN_WORDS
    return True


def _list_words(text: str) -> list[str]:
    return _WORD.findall(_PLACEHOLDER.sub(" ", text))


def get_base_language(tag: str) -> str:
    """Return the language of a tag, such as `pt` of `pt-BR`."""
    return tag.replace("_", "-").partition("-")[0].lower()


def _check_numbers(pair: SegmentPair) -> Iterator[SegmentFault]:
    """Yield the numbers of the source that the translation lacks, and those that it adds."""
    source, target = map(_normalize, (pair.source, pair.target))
    if _SCALED.search(source) or _SCALED.search(target) or _ERA.search(source + target):
        return
    before, after = _count_numbers(source), _count_numbers(target)
    missing, added = before - after, after - before
    if _count_small(missing).total() != _count_small(added).total():
        # A small number may be the word for a number or a month.
        missing, added = missing - _count_small(missing), added - _count_small(added)
    if missing:
        yield SegmentFault("number", "error", f"a number is missing: {_format(missing)}", "both")
    elif added:
        yield SegmentFault("number", "warning", f"a number is not in the source: {_format(added)}")


def _normalize(text: str) -> str:
    return unicodedata.normalize("NFKC", _PLACEHOLDER.sub(" ", text))


def _count_numbers(text: str) -> Counter[str]:
    """Return the numbers of a text; the parts of a date may be in another order."""
    found = Counter[str]()
    for number in _NUMBER.findall(text):
        is_grouped = re.fullmatch(r"\d{1,3}(?:[.,\u2009\u202f'’-]\d{3})+", number)
        digits = re.sub(r"\D", "", number)
        parts = [digits] if is_grouped else re.split(r"\D", number)
        found.update(part.lstrip("0") or "0" for part in parts)
    return found


def _count_small(numbers: Counter[str]) -> Counter[str]:
    return Counter({one: count for one, count in numbers.items() if int(one) <= _MOST_SPELLED})


def _format(numbers: Iterable[str]) -> str:
    return ", ".join(sorted(numbers)[:3])


def _check_names(pair: SegmentPair) -> Iterator[SegmentFault]:
    target = _normalize(pair.target).casefold()
    names = dict.fromkeys(_NAME.findall(_UNIT.sub(" ", _normalize(pair.source))))
    missing = [name for name in names if name.rstrip("s").casefold() not in target]
    # A heading in capitals is no list of names.
    if missing and not pair.source.isupper():
        yield SegmentFault(
            "name", "warning", f"a name is missing: {', '.join(missing[:3])}", "both"
        )


def _check_length(pair: SegmentPair) -> Iterator[SegmentFault]:
    before, after = _measure(pair.source), _measure(pair.target)
    if before >= _MIN_LENGTH and after < _SHORTEST * before:
        yield SegmentFault("length", "warning", "the text is much shorter than its source")
    elif after > _LONGEST * max(before, _MIN_LENGTH / 2):
        yield SegmentFault("length", "warning", "the text is much longer than its source")


def _measure(text: str) -> float:
    """Return the length of a text in letters of Latin script."""
    plain = _PLACEHOLDER.sub("", text)
    extra = sum((weight - 1) * count_letters(plain, script) for script, weight in _WEIGHTS.items())
    return len(plain) + extra


def build_translation(
    document: ReviewDocument, targets: Mapping[str, str], named: Collection[str] | None = None
) -> TranslatedText:
    """Return a document with these texts by `cid`; its other segments stay as they are.

    In Markdown, texts that change the structure are left out. Segments that have no text and are
    not `named` by a finding have one here.
    """
    segments = split_segments(document)
    given = [one for one in segments if one.cid in targets]
    kept = given
    if document.source.media == MARKDOWN:
        structure = read_structure(document.text)
        kept = keep_harmless(
            given, lambda some: read_structure(_write(document.text, some, targets)) == structure
        )
    chosen = {one.cid for one in kept}
    raw = document.source.raw
    doubles = [found.start() - index for index, found in enumerate(re.finditer("\r\n", raw))]
    reason = "its translation changes the structure of the document"
    findings = [_build_finding(one, "structure", reason) for one in given if one.cid not in chosen]
    lost = [one for one in segments if named is not None and one.cid not in named]
    findings += [_build_finding(one, "untranslated", _NO_TEXT) for one in lost]
    return TranslatedText(
        text=_write(raw, kept, targets, doubles),
        segments=len(segments),
        translated=len(kept),
        findings=build_items(document, findings),
    )


def _write(
    text: str, segments: Sequence[Segment], targets: Mapping[str, str], doubles: Sequence[int] = ()
) -> str:
    """Return a text with these segments replaced; line ends at `doubles` have two characters."""
    parts, done = [], 0
    for one in segments:
        start = one.start + bisect_left(doubles, one.start)
        parts += [text[done:start], targets[one.cid]]
        done = one.end + bisect_left(doubles, one.end)
    return "".join([*parts, text[done:]])


def _build_finding(segment: Segment, kind: str, cause: str) -> Finding:
    """Return the finding about a segment whose source stays."""
    return Finding(
        kind=kind,
        severity="error",
        reason=f"the source text stays: {cause}",
        start=segment.start,
        end=segment.end,
        side="both",
        cid=segment.cid,
    )


_PROMPT = (
    "You are a translator. Translate every text{source} into {target}. Translate completely and "
    "add nothing. Keep each placeholder such as \u27e61\u27e7 exactly once, and keep numbers, "
    "names and addresses. Reply with one JSON object that has the translation of each id, such as "
    '{{"items": [{{"id": 1, "text": "translation"}}]}}.'
)
_AGAIN = "Keep every placeholder exactly once, and write {target}, in"


class TranslationTask(NamedTuple):
    """The languages of a translation."""

    source_lang: str | None
    target_lang: str

    def build_request(self, sources: Mapping[int, str], again: Sequence[int]) -> list[Message]:
        """Return the request to translate texts, some of them again."""
        source = f" from {get_language_name(self.source_lang)}" if self.source_lang else ""
        base = get_base_language(self.target_lang)
        target = get_language_name(base)
        if self.target_lang != base or target == base:
            target = f"{target} ({self.target_lang})"
        prompt = _PROMPT.format(source=source, target=target)
        if again:
            prompt += f" {_AGAIN.format(target=target)} {', '.join(map(str, again))}."
        texts = [{"id": number, "text": text} for number, text in sources.items()]
        return [Message("system", prompt), Message("user", json.dumps(texts, ensure_ascii=False))]


def build_schema(numbers: Sequence[int]) -> JsonSchema:
    """Return the schema of a response with one text for each number."""
    count = len(numbers)
    entry = {"id": {"type": "integer", "enum": list(numbers)}, "text": {"type": "string"}}
    items = {"type": "array", "minItems": count, "maxItems": count, "items": build_object(entry)}
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
        items = build_items(self._document, self._findings)
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
        # Some models count from 0.
        shift = any(entry.get("id") in (0, "0") for entry in entries)
        for entry in entries:
            text, told = entry.get("text"), entry.get("id")
            number = next((n for n in numbers if told in (n - shift, str(n - shift))), None)
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
        if not any(map(str.isalnum, text)) and any(map(str.isalnum, segment.source)):
            return _NO_TEXT
        if list_placeholder_faults(segment.masked, text):
            return "the model lost a placeholder"
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

    def __init__(self, llm: LanguageModel, *, to: str) -> None:
        self._llm = llm
        self._to = to
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
        task = TranslationTask(document.lang, self._to)
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
