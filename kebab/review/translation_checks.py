"""Checks a translated segment against its source without a language model."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from kebab.core.review import GlossaryTerm
from kebab.text.language import detect_language, get_language_name
from kebab.text.scripts import count_letters, detect_script
from kebab.wire.review import SeverityName, SideName

_PLACEHOLDER = re.compile("\u27e6\\d+\u27e7")
_WORD = re.compile(r"[^\W\d_]+")
_NUMBER = re.compile(r"\d+(?:[.,:/\u2009\u202f'\u2019-]?\d+)*")
_SCALED = re.compile(
    r"\d[\d.,]*\s*(?:hundred|thousand|million|billion|trillion|dozen|mio|mrd|tausend|millionen?"
    r"|milliarden?|mille|millones|milliards?|[ap]\.?m\b|[\u5341\u767e\u5343\u4e07\u842c\u4ebf\u5104"
    r"\u5146\ucc9c\ub9cc\uc5b5\uc870])",
    re.IGNORECASE,
)
"""Numbers that other languages write with other digits, such as `3 million` and `300만`."""

_ERA = re.compile("(?:\u4ee4\u548c|\u5e73\u6210|\u662d\u548c)\\d+")
_UNIT = re.compile(
    r"\d\s?(?P<unit>%|\u2030|\u00b0[CF]?|[kKMGT]i?B|[kmcn\u00b5\u03bc]m|k?g|mg|[kMG]?Hz|ms|[kM]?W|"
    r"[kM]?Wh|dB|px|[kMG]bit/s|[kMG]bps|mAh)(?![\w])"
)
_OTHER_UNITS = {
    "%": ("\uff05", "percent", "prozent", "pour cent", "\ud37c\uc13c\ud2b8", "\ud504\ub85c"),
    "GB": ("Go", "\u0413\u0411", "\uae30\uac00\ubc14\uc774\ud2b8"),
    "MB": ("Mo", "\u041c\u0411", "\uba54\uac00\ubc14\uc774\ud2b8"),
    "TB": ("To", "\u0422\u0411", "\ud14c\ub77c\ubc14\uc774\ud2b8"),
    "kB": ("Ko", "ko", "KB", "\u041a\u0411", "\u043a\u0411"),
    "KB": ("Ko", "ko", "kB", "\u041a\u0411", "\ud0ac\ub85c\ubc14\uc774\ud2b8"),
    "km": ("\u043a\u043c", "\ud0ac\ub85c\ubbf8\ud130", "\u516c\u91cc", "\u30ad\u30ed"),
    "cm": ("\u0441\u043c", "\uc13c\ud2f0\ubbf8\ud130", "\u5398\u7c73", "\u30bb\u30f3\u30c1"),
    "mm": ("\u043c\u043c", "\ubc00\ub9ac\ubbf8\ud130", "\u6beb\u7c73", "\u30df\u30ea"),
    "kg": ("\u043a\u0433", "\ud0ac\ub85c\uadf8\ub7a8", "\u516c\u65a4", "\u30ad\u30ed"),
    "g": ("\u0433", "\uadf8\ub7a8", "\u514b", "\u30b0\u30e9\u30e0"),
    "ms": ("\u043c\u0441", "\ubc00\ub9ac\ucd08", "\u6beb\u79d2", "\u30df\u30ea\u79d2"),
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
        missing = Counter({part: count for part, count in missing.items() if not _is_small(part)})
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
        grouped = re.fullmatch(r"\d{1,3}(?:[.,\u2009\u202f'\u2019]\d{3})+", number)
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
    "|[\u4e00\u4e8c\u4e09\u56db\u4e94\u516d\u4e03\u516b\u4e5d\u5341\ub450\uc138\ud55c]",
    re.IGNORECASE,
)


_MOST_SPELLED = 12


def _may_spell_numbers(text: str) -> bool:
    """Return whether a text has words for numbers or months."""
    return _SPELLED.search(text) is not None


def _is_small(number: str) -> bool:
    """Return whether a number may be the word for a number or a month."""
    return int(number) <= _MOST_SPELLED


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
