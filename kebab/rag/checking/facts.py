"""Extracts the facts of a claim: quantities, dates in several languages, names, quotations."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

from kebab.rag.checking.code_index import CodeIndex
from kebab.rag.checking.code_lines import Code, parse_code
from kebab.rag.checking.markers import Span, is_inside
from kebab.rag.checking.names import Name, NameIndex, find_names
from kebab.rag.checking.quantities import Quantity, QuantityIndex, find_quantities, normalize_number
from kebab.text.normalize import blank_spans, fold_text, normalize_punctuation

_MONTHS = (
    "January Jan januar jänner janvier enero gennaio janeiro januari",
    "February Feb februar février febrero febbraio fevereiro februari",
    "March Mar märz mars marzo março maart",
    "April Apr avril abril aprile",
    "May mai mayo maggio maio mei",
    "June Jun juni juin junio giugno junho",
    "July Jul juli juillet julio luglio julho",
    "August Aug août agosto augustus",
    "September Sep Sept septembre septiembre settembre setembro",
    "October Oct oktober octobre octubre ottobre outubro",
    "November Nov novembre noviembre novembro",
    "December Dec dezember décembre diciembre dicembre dezembro december",
)
_MONTH_OF = {
    name.lower(): number for number, names in enumerate(_MONTHS, 1) for name in names.split()
}
_LAST_MONTH, _LAST_DAY = 12, 31

_SPELLINGS = [f"{name}|{name.title()}" for names in _MONTHS for name in names.split()]
_NAME = "|".join(sorted(_SPELLINGS, key=len, reverse=True))
_M = rf"(?P<name>{_NAME})(?![^\W\d_])\.?"
_D = r"(?<![\d.,])(?P<d>\d{1,2})(?:st|nd|rd|th|\.|\u00ba)?"
_Y = r"(?P<y>\d{4})(?!\d)"
_EAST = (
    r"(?:(?P<y>\d{1,4}) ?[년年] ?)?(?<!\d)(?P<m>\d{1,2}) ?[월月](?!間)"
    r"(?: ?(?P<d>\d{1,2}) ?[일日号號])?"
)
_PATTERNS = [
    re.compile(pattern)
    for pattern in (
        r"(?<!\d)(?P<y>\d{4})(?P<sign>[-/.])(?P<m>\d{1,2})(?P=sign)(?P<d>\d{1,2})(?!\d)",
        r"(?<!\d)(?P<d>\d{1,2})(?P<sign>[-/.])(?P<m>\d{1,2})(?P=sign)(?P<y>\d{4})(?!\d)",
        rf"{_D}[ -](?:of |de )?{_M}(?:,?[ -](?:of |de )?{_Y})?",
        rf"(?<![^\W\d_]){_M} (?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:%])(?:,? {_Y})?",
        rf"(?<![^\W\d_]){_M},? (?:of |de )?{_Y}",
        _EAST,
    )
]
_DAY_FIRST = _PATTERNS[1]


@dataclass(frozen=True, slots=True)
class Date:
    """A date at [start, end); parts that the text does not state are None."""

    start: int
    end: int
    year: int | None
    month: int
    day: int | None


def find_dates(text: str) -> list[tuple[Date, ...]]:
    """Return the dates of a text in NFKC, in order, each with all its readings."""
    matches = (match for pattern in _PATTERNS for match in pattern.finditer(text))
    readings = [found for match in matches if (found := _read_date(match))]
    distinct: list[tuple[Date, ...]] = []
    for one in sorted(readings, key=lambda one: (one[0].start, -one[0].end)):
        if not distinct or one[0].start >= distinct[-1][0].end:
            distinct.append(one)
    return distinct


def is_same_date(claimed: Date, stated: Date) -> bool:
    """Return whether a stated date has all parts of a claimed one."""
    return (
        claimed.month == stated.month
        and claimed.day in {None, stated.day}
        and claimed.year in {None, stated.year}
    )


def _read_date(match: re.Match[str]) -> tuple[Date, ...]:
    """Return the readings of a match, the likelier first; none when it is no date."""
    parts = match.groupdict()
    name = parts.get("name")
    month = _MONTH_OF[name.lower()] if name else int(parts["m"])
    day = int(parts["d"]) if parts.get("d") else None
    year = int(parts["y"]) if parts.get("y") else None
    orders = [(month, day)]
    if match.re is _DAY_FIRST and day is not None:
        orders.append((day, month))
    return tuple(
        Date(match.start(), match.end(), year, one, other)
        for one, other in dict.fromkeys(orders)
        if 1 <= one <= _LAST_MONTH and (other is None or 1 <= other <= _LAST_DAY)
    )


_PAIRS = (
    re.compile(r"(?<![\w\"])\"(?=\S)([^\"\n]{2,600})\"(?!\w)"),
    re.compile("[\u201c\u201e]([^\u201c\u201d\u201e\n]{2,600})[\u201c\u201d]"),
    re.compile("\u00ab([^\u00ab\u00bb\n]{2,600})\u00bb"),
    re.compile("\u300c([^\u300c\u300d\n]{2,600})\u300d"),
    re.compile("\u300e([^\u300e\u300f\n]{2,600})\u300f"),
)
_ELLIPSIS = re.compile(
    r"\s*(?:\[\s*(?:\.{3}|\u2026)\s*\]|\(\s*(?:\.{3}|\u2026)\s*\)|\.{3,}|\u2026)\s*"
)
_ENDS = " \t.,;:!?\u3002\u3001\uff0c\uff01\uff1f'\""
_word = re.compile(r"\w").search


def find_quotations(text: str) -> list[str]:
    """Return the texts between quotation marks, split at ellipses."""
    found = [quote for pair in _PAIRS for quote in pair.findall(text)]
    parts = (part.strip(_ENDS) for quote in found for part in _ELLIPSIS.split(quote))
    return [part for part in parts if _word(part)]


def is_verbatim(quotation: str, passage: str) -> bool:
    """Return whether a folded passage contains a quotation, except for its end marks."""
    return fold_text(quotation).strip(_ENDS) in passage


_CODE = re.compile(r"`+([^`\n]{1,200})`+")
_COUNTED = re.compile(r" ?(?:%|[^\W\d_]+)?")
_MAX_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Facts:
    """The parts of a claim that its evidence must contain.

    `text` is the normalized claim, `words` the same without quantities and dates.
    """

    text: str
    words: str
    quantities: tuple[Quantity, ...]
    dates: tuple[tuple[Date, ...], ...]
    names: tuple[Name, ...]
    quotations: tuple[str, ...]
    code: tuple[Code, ...]

    @property
    def count(self) -> int:
        """The number of facts."""
        return sum(map(len, (self.quantities, self.dates, self.names, self.quotations, self.code)))


def extract_facts(claim: str, *, nouns: bool = False) -> Facts:
    """Return the facts of a claim.

    Args:
        claim: One sentence, or a part of one, without markers.
        nouns: Whether its language capitalises every noun.
    """
    text = normalize_punctuation(claim)
    prose = normalize_punctuation(_CODE.sub(_blank_code, claim))
    dates = find_dates(prose)
    spans = [(date[0].start, date[0].end) for date in dates]
    names = [one for one in find_names(prose, nouns=nouns) if not is_inside(spans, one.start)]
    code = [parse_code(one[1]) for one in _CODE.finditer(claim)]
    taken = spans + [(name.start, name.end) for name in names if any(map(str.isdigit, name.text))]
    rest = blank_spans(prose, _drop_overlaps(taken))
    quantities = tuple(one for one in find_quantities(rest) if one.sure)
    measured = spans + [(quantity.start, quantity.end) for quantity in quantities]
    words = blank_spans(text, _drop_overlaps(measured))
    quotations = tuple(find_quotations(prose))
    code = [one for one in code if one.lines]
    return Facts(text, words, quantities, tuple(dates), tuple(names), quotations, tuple(code))


def _blank_code(found: re.Match[str]) -> str:
    """Return a span of code with blanks instead of its text, as long as when normalized."""
    return f"`{' ' * len(normalize_punctuation(found[1]))}`"


class FactIndex:
    """The facts of a passage and its headings.

    Args:
        text: The text of all of them.
        tokens: The index tokens of the text.
    """

    def __init__(self, text: str, tokens: Collection[str]) -> None:
        plain = normalize_punctuation(text)
        self._text = text
        self._folded = fold_text(text)
        self._names = NameIndex(plain, tokens)
        dates = find_dates(plain)
        self._dates = [one for readings in dates for one in readings]
        rest = blank_spans(plain, [(date[0].start, date[0].end) for date in dates])
        self._quantities = QuantityIndex(rest)
        for one in self._dates:
            if one.year is not None:
                self._quantities.add(normalize_number(str(one.year)))

    @cached_property
    def code(self) -> CodeIndex:
        """The code tokens."""
        return CodeIndex(self._text)

    def find_missing(self, claimed: Facts) -> Iterator[str]:
        """Yield the facts of a claim that the passage lacks, as the claim words them."""
        for one in claimed.quantities:
            if not self._quantities.contains(one):
                counted = None if one.unit else _COUNTED.match(claimed.text, one.end)
                yield claimed.text[one.start : counted.end() if counted else one.end].strip()
        for readings in claimed.dates:
            if not any(map(self._contains_date, readings)):
                yield claimed.text[readings[0].start : readings[0].end].strip()
        yield from (
            name.text[:_MAX_SHOWN] for name in claimed.names if not self._names.contains(name)
        )
        for code in claimed.code:
            yield from (part[:_MAX_SHOWN] for part in self.code.find_missing(code))
        for quotation in claimed.quotations:
            if not is_verbatim(quotation, self._folded):
                yield f'"{quotation[:_MAX_SHOWN]}"'

    def _contains_date(self, claimed: Date) -> bool:
        """Return whether a date occurs; day or year may be elsewhere, as in a range of days."""
        if any(is_same_date(claimed, stated) for stated in self._dates):
            return True
        stated = [date for date in self._dates if date.month == claimed.month]
        has_day = claimed.day is None or any(
            claimed.day == one.day
            or (one.day is not None and self._quantities.contains_number(str(claimed.day)))
            for one in stated
        )
        has_year = claimed.year is None or any(
            claimed.year == one.year
            or (one.year is None and self._quantities.contains_number(str(claimed.year)))
            for one in stated
        )
        return bool(stated) and has_day and has_year


def _drop_overlaps(spans: list[Span]) -> list[Span]:
    """Return spans in order, without those that overlap one before them."""
    distinct: list[Span] = []
    for start, end in sorted(spans):
        if not distinct or start >= distinct[-1][1]:
            distinct.append((start, end))
    return distinct
