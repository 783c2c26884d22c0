"""Puts translated segments into their document, and checks both without a language model."""

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from msgspec import Struct

from kebab.core.media import MARKDOWN
from kebab.core.review import Finding, GlossaryTerm, Markup
from kebab.review.document import ReviewDocument
from kebab.review.segments import Segment, find_table_spans, split_segments, split_table
from kebab.text.language import count_letters, detect_language, detect_script, get_language_name
from kebab.wire.review import SeverityName, SideName

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
_UNIT = re.compile(
    r"\d\s?(?P<unit>%|\u2030|\u00b0[CF]?|[kKMGT]i?B|[kmcn\u00b5\u03bc]m|k?g|mg|[kMG]?Hz|ms|[kM]?W|"
    r"[kM]?Wh|dB|px|[kMG]bit/s|[kMG]bps|mAh)(?![\w])"
)
_OTHER_UNITS = {
    "%": ("％", "percent", "prozent", "pour cent", "퍼센트", "프로"),
    "GB": ("Go", "\u0413\u0411", "기가바이트"),
    "MB": ("Mo", "\u041c\u0411", "메가바이트"),
    "TB": ("To", "\u0422\u0411", "테라바이트"),
    "kB": ("Ko", "ko", "KB", "\u041a\u0411", "\u043a\u0411"),
    "KB": ("Ko", "ko", "kB", "\u041a\u0411", "킬로바이트"),
    "km": ("\u043a\u043c", "킬로미터", "公里", "キロ"),
    "cm": ("\u0441\u043c", "센티미터", "厘米", "センチ"),
    "mm": ("\u043c\u043c", "밀리미터", "毫米", "ミリ"),
    "kg": ("\u043a\u0433", "킬로그램", "公斤", "キロ"),
    "g": ("\u0433", "그램", "克", "グラム"),
    "ms": ("\u043c\u0441", "밀리초", "毫秒", "ミリ秒"),
}
"""How other languages write a unit."""

_NAME = re.compile(
    r"(?<![\w@/.-])(?=[A-Za-z0-9_.+#-]*[A-Z])(?:[A-Z]{2,}[A-Za-z0-9]*|[A-Za-z]+\d[A-Za-z0-9]*"
    r"|[a-z]+[A-Z][A-Za-z0-9]*|[A-Z][a-z0-9]+[A-Z][A-Za-z0-9]*)(?:[-.+#][A-Za-z0-9]+)*(?![\w])"
)
"""Names in Latin script that every language writes alike: `SQLite`, `HTTP`, `UTF-8`."""

_SCRIPTS = {
    "ko": "hangul",
    "ja": "han",
    "zh": "han",
    **dict.fromkeys(("ru", "uk", "be", "bg", "sr", "mk", "kk", "mn"), "cyrillic"),
    **dict.fromkeys(("ar", "fa", "ur"), "arabic"),
    **dict.fromkeys(("hi", "mr", "ne"), "devanagari"),
    "th": "thai",
    "el": "greek",
    "he": "hebrew",
}
_UNKNOWN_SCRIPT = frozenset(
    ("am", "bn", "bo", "dv", "gu", "hy", "ka", "km", "kn", "lo", "ml", "my", "pa", "si", "ta", "te")
)
"""Languages whose script is none of those that can be told apart."""

_WEIGHTS = {"hangul": 2.2, "han": 2.8, "kana": 2.0}
"""How many letters of Latin text a letter is worth."""

_MIN_LETTERS = 12
_MIN_WORDS = 3
_MIN_LENGTH = 40.0
_SHORTEST, _LONGEST = 0.35, 3.0
_SAMPLE = 80


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
    glossary: Sequence[GlossaryTerm] = ()


def check_pair(pair: SegmentPair) -> list[SegmentFault]:
    """Return the faults of a translated segment; one that is not translated has no others."""
    untranslated = [*_check_untranslated(pair), *_check_language(pair)]
    if untranslated:
        return untranslated[:1]
    return [fault for check in _CHECKS for fault in check(pair)]


def is_untranslated(source: str, target: str, source_lang: str | None) -> bool:
    """Return whether a translation is the source, which is prose and not a list of names.

    `source_lang` is the language of the document; None when it is unknown.
    """
    words = _list_words(source)
    same = [word.casefold() for word in words] == [one.casefold() for one in _list_words(target)]
    if not same or sum(map(len, words)) < _MIN_LETTERS:
        return False
    if detect_script(source) == "latin":
        return source_lang is not None and sum(map(str.islower, words)) >= _MIN_WORDS
    return True


def _list_words(text: str) -> list[str]:
    return _WORD.findall(_PLACEHOLDER.sub(" ", text))


def _check_untranslated(pair: SegmentPair) -> Iterator[SegmentFault]:
    if is_untranslated(pair.source, pair.target, pair.source_lang):
        yield SegmentFault("untranslated", "error", "the text is not translated")


def _check_language(pair: SegmentPair) -> Iterator[SegmentFault]:
    """Yield a fault when most letters have another script, or the words another language."""
    text = _NAME.sub(" ", _PLACEHOLDER.sub(" ", pair.target))
    lang = get_base_language(pair.target_lang)
    letters = sum(map(len, _WORD.findall(text)))
    script = detect_script(text)
    if letters < _MIN_LETTERS or script is None or lang in _UNKNOWN_SCRIPT:
        return
    expected = _SCRIPTS.get(lang, "latin")
    name = get_language_name(lang)
    if script != expected:
        yield SegmentFault("language", "error", f"the text is not in the script of {name}")
    elif len(text) >= _SAMPLE or expected == "han":
        found = detect_language(text)
        if found is not None and found != lang and _is_known(lang):
            other = get_language_name(found)
            yield SegmentFault("language", "error", f"the text is in {other} and not in {name}")


def _is_known(lang: str) -> bool:
    """Return whether the detection knows a language, so that it may report another."""
    return get_language_name(lang) != lang


def get_base_language(tag: str) -> str:
    """Return the language of a tag, such as `pt` of `pt-BR`."""
    return tag.replace("_", "-").partition("-")[0].lower()


def _check_numbers(pair: SegmentPair) -> Iterator[SegmentFault]:
    """Yield the numbers of the source that the translation lacks, and those that it adds."""
    source, target = map(_normalize, (pair.source, pair.target))
    if _SCALED.search(source) or _SCALED.search(target) or _ERA.search(source + target):
        return
    before, after = _count_numbers(source), _count_numbers(target)
    if before == after:
        return
    # The parts of a date may be in another order.
    parts, other = _count_parts(source), _count_parts(target)
    missing, added = parts - other, other - parts
    if _may_spell_numbers(pair.target):
        # A small number may be the word for a number or a month.
        missing = Counter(
            {part: count for part, count in missing.items() if int(part) > _MOST_SPELLED}
        )
    if missing:
        yield SegmentFault("number", "error", f"a number is missing: {_format(missing)}", "both")
    elif added and not _may_spell_numbers(pair.source):
        yield SegmentFault("number", "warning", f"a number is not in the source: {_format(added)}")


def _normalize(text: str) -> str:
    return unicodedata.normalize("NFKC", _PLACEHOLDER.sub(" ", text))


def _count_numbers(text: str) -> Counter[str]:
    return Counter(re.sub(r"\D", "", found) for found in _NUMBER.findall(text))


def _count_parts(text: str) -> Counter[str]:
    """Return the numbers of a text; a number with separators counts by its parts."""
    found = Counter[str]()
    for number in _NUMBER.findall(text):
        grouped = re.fullmatch(r"\d{1,3}(?:[.,\u2009\u202f'’]\d{3})+", number)
        digits = re.sub(r"\D", "", number)
        found.update(
            [digits] if grouped else (part.lstrip("0") or "0" for part in re.split(r"\D", number))
        )
    return found


def _format(numbers: Iterable[str]) -> str:
    return ", ".join(sorted(numbers)[:3])


_SPELLED = re.compile(
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twice|once|first|second"
    r"|third|half|both|single|couple|jan\w*|feb\w*|mar(?:ch)?|apr\w*|may|june?|july?|aug\w*|sep\w*"
    r"|oct\w*|nov\w*|dec\w*|ein|eine|zwei|drei|vier|f\u00fcnf|un|une|deux|trois|uno|dos|tres)\b"
    "|[一二三四五六七八九十두세한]",
    re.IGNORECASE,
)


_MOST_SPELLED = 12


def _may_spell_numbers(text: str) -> bool:
    """Return whether a text has words for numbers or months."""
    return _SPELLED.search(text) is not None


def _check_units(pair: SegmentPair) -> Iterator[SegmentFault]:
    target = _normalize(pair.target)
    for unit in dict.fromkeys(found["unit"] for found in _UNIT.finditer(_normalize(pair.source))):
        names = (unit, *_OTHER_UNITS.get(unit, ()))
        if not any(name.casefold() in target.casefold() for name in names):
            yield SegmentFault("unit", "warning", f"a unit is missing: {unit}", "both")


def _check_names(pair: SegmentPair) -> Iterator[SegmentFault]:
    target = _normalize(pair.target).casefold()
    names = dict.fromkeys(_NAME.findall(_UNIT.sub(" ", _normalize(pair.source))))
    missing = [name for name in names if name.rstrip("s").casefold() not in target]
    # A heading in capitals is no list of names.
    if missing and not pair.source.isupper():
        yield SegmentFault(
            "name", "warning", f"a name is missing: {', '.join(missing[:3])}", "both"
        )


def _check_terms(pair: SegmentPair) -> Iterator[SegmentFault]:
    lang = get_base_language(pair.target_lang)
    target = _PLACEHOLDER.sub(" ", pair.target)
    for term in pair.glossary:
        if term.lang is not None and get_base_language(term.lang) != lang:
            continue
        for word in term.forbidden:
            # A particle may follow a word in another script.
            end = r"(?!\w)" if word[-1:].isascii() else ""
            if re.search(rf"(?<!\w){re.escape(word)}{end}", target, re.IGNORECASE):
                reason = f"`{term.preferred}` is preferred to `{word}`"
                yield SegmentFault("terminology", "warning", reason)
                break


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


_CHECKS: tuple[Callable[[SegmentPair], Iterable[SegmentFault]], ...] = (
    _check_numbers,
    _check_units,
    _check_names,
    _check_terms,
    _check_length,
)


_LINE_SIGN = re.compile(
    r"[ \t]*+(?:>[ \t]?)*+(?P<indent>[ \t]*+)"
    r"(?P<sign>\#{1,6}(?=\s|$)|[-*+](?=\s|$)|\d{1,9}[.)](?=\s|$)|(?:=+|-{2,})[ \t]*$)?"
)


class TranslatedDocument(Struct, frozen=True, kw_only=True):
    """A translated document.

    Attributes:
        text: The document with the line ends of its file.
        segments: The number of its segments.
        translated: How many of them are translated.
        findings: The translations that were left out because they change the structure.
    """

    text: str
    segments: int
    translated: int
    findings: tuple[Finding, ...] = ()


class _Shape:
    """The structure of a text: what is in order, and what may have moved within a sentence."""

    def __init__(self, text: str, markup: Markup, *, is_markdown: bool) -> None:
        front = markup.front_matter
        tables = [
            [len(list(split_table(text, row))) for row in _split_rows(text, span)]
            for span in (find_table_spans(text) if is_markdown else ())
        ]
        self.ordered = (
            front and text[front.start : front.end],
            [heading.level for heading in markup.headings],
            [text[start:end] for start, end in markup.code_blocks],
            tables,
            _list_signs(text, markup) if is_markdown else [],
        )
        self.inline = (
            Counter((link.target, link.kind, link.is_image) for link in markup.links),
            Counter((note.label, note.is_definition) for note in markup.footnotes),
            Counter(text[start:end] for start, end in markup.code),
        )

    def __eq__(self, other: object) -> bool:
        """Return whether two structures are the same."""
        if not isinstance(other, _Shape):
            return NotImplemented
        return self.ordered == other.ordered and self.inline == other.inline

    __hash__ = None  # type: ignore[assignment]


def _split_rows(text: str, table: tuple[int, int]) -> list[tuple[int, int]]:
    lines = text[slice(*table)].split("\n")
    ends = list(accumulate(len(line) + 1 for line in lines))
    return [
        (table[0] + end - len(line) - 1, table[0] + end - 1)
        for end, line in zip(ends, lines, strict=True)
    ]


def _list_signs(text: str, markup: Markup) -> list[str]:
    """Return the signs of headings and items with their depth, line by line, outside code."""
    starts = [start for start, _ in markup.code_blocks]
    found, offset = [], 0
    for line in text.split("\n"):
        index = bisect_left(starts, offset + 1) - 1
        is_code = index >= 0 and offset < markup.code_blocks[index][1]
        match = None if is_code else _LINE_SIGN.match(line)
        if match and match["sign"]:
            quotes = line[: match.start("indent")].count(">")
            found.append(f"{quotes} {len(match['indent'])} {match['sign'].strip()}")
        offset += len(line) + 1
    return found


class TranslationBuilder:
    """Builds the translation of a document."""

    def __init__(self, document: ReviewDocument, read_markup: Callable[[str], Markup]) -> None:
        self._document = document
        self._segments = split_segments(document)
        self._read_markup = read_markup
        self._is_markdown = document.source.media == MARKDOWN
        self._shape = self._read_shape(document.text)

    def build(self, targets: Mapping[str, str]) -> TranslatedDocument:
        """Return the document with these texts by `cid`; the others stay as they are.

        Texts that change the structure are left out.
        """
        given = [one for one in self._segments if one.cid in targets]
        kept = tuple(given)
        if not self._keeps_shape(kept, targets):
            # Most faults show in the segment alone, which is read much faster than the document.
            kept = self._select((), [one for one in given if self._is_alike(one, targets)], targets)
        chosen = {one.cid for one in kept}
        return TranslatedDocument(
            text=self._write(self._document.source.raw, kept, targets, is_raw=True),
            segments=len(self._segments),
            translated=len(kept),
            findings=tuple(_build_finding(one) for one in given if one.cid not in chosen),
        )

    def _select(
        self, base: tuple[Segment, ...], more: Sequence[Segment], targets: Mapping[str, str]
    ) -> tuple[Segment, ...]:
        """Return `base` with those of some segments that leave the structure as it is.

        The segments are halved until the faulty ones are found, so few texts are read when few
        are faulty.
        """
        if not more or self._keeps_shape((*base, *more), targets):
            return (*base, *more)
        if len(more) == 1:
            return base
        middle = len(more) // 2
        return self._select(self._select(base, more[:middle], targets), more[middle:], targets)

    def _keeps_shape(self, segments: Sequence[Segment], targets: Mapping[str, str]) -> bool:
        text = self._write(self._document.text, segments, targets, is_raw=False)
        return self._read_shape(text) == self._shape

    def _is_alike(self, segment: Segment, targets: Mapping[str, str]) -> bool:
        """Return whether a translation alone has the structure of its source alone."""
        source = self._document.text[segment.start : segment.end]
        return self._read_shape(source) == self._read_shape(targets[segment.cid])

    def _read_shape(self, text: str) -> _Shape:
        return _Shape(text, self._read_markup(text), is_markdown=self._is_markdown)

    def _write(
        self, text: str, segments: Sequence[Segment], targets: Mapping[str, str], *, is_raw: bool
    ) -> str:
        """Return a text with these segments replaced; raw offsets count CR LF as two."""
        doubles = self._double_ends if is_raw else []
        parts, done = [], 0
        for one in segments:
            start = one.start + bisect_left(doubles, one.start)
            parts += [text[done:start], targets[one.cid]]
            done = one.end + bisect_left(doubles, one.end)
        return "".join([*parts, text[done:]])

    @property
    def _double_ends(self) -> list[int]:
        """The offsets of the line ends that are CR LF in the file."""
        raw = self._document.source.raw
        return [found.start() - index for index, found in enumerate(re.finditer("\r\n", raw))]


def _build_finding(segment: Segment) -> Finding:
    """Return the finding about a translation that changes the structure of its document."""
    return Finding(
        kind="structure",
        severity="error",
        reason="the source text stays: its translation changes the structure of the document",
        start=segment.start,
        end=segment.end,
        side="both",
        cid=segment.cid,
    )
