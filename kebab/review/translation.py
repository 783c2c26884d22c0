"""Puts translated segments into their document, and checks both without a language model."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from markdown_it.token import Token


import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Mapping

from msgspec import Struct

from kebab.core.media import MARKDOWN
from kebab.core.review import Finding, GlossaryTerm
from kebab.review.document import ReviewDocument
from kebab.review.segments import Segment, split_segments
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
_NAME = re.compile(
    r"(?<![\w@/.-])(?=[A-Za-z0-9_.+#-]*[A-Z])(?:[A-Z]{2,}[A-Za-z0-9]*|[A-Za-z]+\d[A-Za-z0-9]*"
    r"|[a-z]+[A-Z][A-Za-z0-9]*|[A-Z][a-z0-9]+[A-Z][A-Za-z0-9]*)(?:[-.+#][A-Za-z0-9]+)*(?![\w])"
)
"""Names in Latin script that every language writes alike: `SQLite`, `HTTP`, `UTF-8`."""
_UNIT = re.compile(r"\d+\s?\S+")
"""A number with its unit, which languages write differently."""

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

_MOST_SPELLED = 12
"""The largest number that is often written as a word, months included."""
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
    """Return the faults of a translation that is in its language."""
    return [fault for check in _CHECKS for fault in check(pair)]


def explain_untranslated(pair: SegmentPair) -> str | None:
    """Return why a text is no translation; None when it seems to be in its language."""
    if is_untranslated(pair.source, pair.target, pair.source_lang):
        return "the text is not translated"
    text = _NAME.sub(" ", _PLACEHOLDER.sub(" ", pair.target))
    words, lang = _WORD.findall(text), get_base_language(pair.target_lang)
    script = detect_script(text)
    if script is None or lang in _UNKNOWN_SCRIPT:
        return None
    expected, name = _SCRIPTS.get(lang, "latin"), get_language_name(lang)
    is_prose = script != "latin" or any(map(str.islower, words))
    is_foreign = script != expected and not count_letters(text, expected)
    if (is_foreign and is_prose) or (script != expected and sum(map(len, words)) >= _MIN_LETTERS):
        return f"the text is not in the script of {name}"
    found = detect_language(text)
    is_long = len(text) >= _SAMPLE or expected == "han"
    is_source = found == pair.source_lang and len(words) > _MIN_WORDS
    if found not in (None, lang) and (is_long or is_source) and _is_known(lang):
        return f"the text is in {get_language_name(found)} and not in {name}"
    return None


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
    _check_names,
    _check_terms,
    _check_length,
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


def build_translation(document: ReviewDocument, targets: Mapping[str, str]) -> TranslatedDocument:
    """Return a document with these texts by `cid`; its other segments stay as they are.

    In Markdown, texts that change the structure are left out.
    """
    segments = split_segments(document)
    given = [one for one in segments if one.cid in targets]
    kept = given
    if document.source.media == MARKDOWN:
        structure = read_structure(document.text)
        kept = keep_harmless(
            given,
            lambda some: read_structure(_write(document.text, some, targets)) == structure,
        )
    chosen = {one.cid for one in kept}
    raw = document.source.raw
    doubles = [found.start() - index for index, found in enumerate(re.finditer("\r\n", raw))]
    return TranslatedDocument(
        text=_write(raw, kept, targets, doubles),
        segments=len(segments),
        translated=len(kept),
        findings=tuple(_build_finding(one) for one in given if one.cid not in chosen),
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


_T = TypeVar("_T")
_SIGNS = re.compile(r"\[\^[^\[\]\s]++\]|(?<!\\)\|")
"""Footnotes, which the parser does not know, and the borders of cells, which it evens out."""
_EMPHASIS = frozenset({"em_open", "strong_open", "s_open"})
_CODE_BLOCKS = frozenset({"fence", "code_block", "html_block"})
_CODE = frozenset({"code_inline", "html_inline"})


class PageStructure(NamedTuple):
    """What must not get lost in a page.

    Attributes:
        blocks: The blocks in order, such as headings with their level and cells of tables.
        code: The contents of the blocks of code and of HTML, in order.
        inline: How often each code span, tag, footnote and border of a cell occurs.
        links: How often each target of a link or an image occurs.
        emphasis: How many parts are emphasised.
    """

    blocks: tuple[str, ...]
    code: tuple[str, ...]
    inline: Counter[str]
    links: Counter[str]
    emphasis: int


def read_structure(text: str) -> PageStructure:
    """Return the structure of a page."""
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    flat = list(_flatten(tokens))
    links: Counter[str] = Counter(
        str(one.attrs["href" if one.type == "link_open" else "src"])
        for one in flat
        if one.type in {"link_open", "image"}
    )
    return PageStructure(
        blocks=tuple(f"{one.type} {one.tag}" for one in tokens),
        code=tuple(one.content for one in tokens if one.type in _CODE_BLOCKS),
        inline=Counter(
            [*(one.content for one in flat if one.type in _CODE), *_SIGNS.findall(text)]
        ),
        links=links,
        emphasis=sum(one.type in _EMPHASIS for one in flat),
    )


def _flatten(tokens: "Sequence[Token]") -> "Iterator[Token]":
    for token in tokens:
        yield token
        yield from _flatten(token.children or ())


def keep_harmless(parts: Sequence[_T], is_harmless: Callable[[Sequence[_T]], bool]) -> list[_T]:
    """Return as many parts as possible that are harmless together, in order.

    They are halved until the harmful ones are found, so few texts are read when few are harmful.
    """
    kept: list[_T] = []
    pending = [list(parts)]
    while pending:
        some = pending.pop(0)
        if not some or is_harmless([*kept, *some]):
            kept += some
        elif len(some) > 1:
            middle = len(some) // 2
            pending[:0] = [some[:middle], some[middle:]]
    return kept
