"""Extracts the facts of a claim: quantities, dates, names and quotations."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from kebab.rag.checking.dates import Date, find_dates, is_same_date
from kebab.rag.checking.markers import is_inside
from kebab.rag.checking.names import Name, NameIndex, find_names
from kebab.rag.checking.quantities import Quantity, QuantityIndex, find_quantities, normalize_number
from kebab.text.normalize import blank_spans, fold_text, normalize_punctuation

_PAIRS = (
    re.compile(r"(?<![\w\"])\"(?=\S)([^\"\n]{2,600})\"(?!\w)"),
    re.compile("[\u201c\u201e]([^\u201c\u201d\u201e\n]{2,600})[\u201c\u201d]"),
    re.compile("\u00ab([^\u00ab\u00bb\n]{2,600})\u00bb"),
    re.compile("\u300c([^\u300c\u300d\n]{2,600})\u300d"),
    re.compile("\u300e([^\u300e\u300f\n]{2,600})\u300f"),
)
_LEFT_OUT = re.compile(
    r"\s*(?:\[\s*(?:\.{3}|\u2026)\s*\]|\(\s*(?:\.{3}|\u2026)\s*\)|\.{3,}|\u2026)\s*"
)
_ENDS = " \t.,;:!?\u3002\u3001\uff0c\uff01\uff1f'\""
_normalize_word = re.compile(r"\w").search


def find_quotations(text: str) -> list[str]:
    """Return what stands between quotation marks, in parts where something was left out."""
    found = [quote for pair in _PAIRS for quote in pair.findall(text)]
    parts = (part.strip(_ENDS) for quote in found for part in _LEFT_OUT.split(quote))
    return [part for part in parts if _normalize_word(part)]


def is_verbatim(quotation: str, passage: str) -> bool:
    """Return whether words stand in a folded passage, white space, case and end marks aside."""
    return fold_text(quotation).strip(_ENDS) in passage


_CODE = re.compile(r"`+([^`\n]{1,200})`+")
_word = re.compile(r"\w").search
_BEHIND = re.compile(r" ?(?:%|[^\W\d_]+)?")
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Facts:
    """What of a claim must occur in what it cites.

    `text` is the claim in its normal form, `words` the same without quantities and dates.
    """

    text: str
    words: str
    quantities: tuple[Quantity, ...]
    dates: tuple[tuple[Date, ...], ...]
    names: tuple[Name, ...]
    quotations: tuple[str, ...]

    @property
    def count(self) -> int:
        """How many there are."""
        return sum(map(len, (self.quantities, self.dates, self.names, self.quotations)))


def extract_facts(claim: str, *, nouns: bool = False) -> Facts:
    """Return the facts of a claim.

    Args:
        claim: One sentence, or a part of one, without markers.
        nouns: Whether its language capitalises every noun.
    """
    text = normalize_punctuation(claim)
    said = find_dates(text)
    spans = [(one[0].start, one[0].end) for one in said]
    called = [one for one in find_names(text, nouns=nouns) if not is_inside(spans, one.start)]
    code = [Name(0, 0, one, literal=True) for one in _CODE.findall(claim) if _word(one)]
    taken = spans + [(one.start, one.end) for one in called if any(map(str.isdigit, one.text))]
    counted = tuple(one for one in find_quantities(blank_spans(text, _apart(taken))) if one.sure)
    measured = spans + [(one.start, one.end) for one in counted]
    words = blank_spans(text, _apart(measured))
    return Facts(text, words, counted, tuple(said), (*called, *code), tuple(find_quotations(claim)))


class FactIndex:
    """What a passage and its headings say, to look facts up in.

    Args:
        text: All of it.
        tokens: The tokens of the index of it.
    """

    def __init__(self, text: str, tokens: Collection[str]) -> None:
        plain_text = normalize_punctuation(text)
        self._folded = fold_text(text)
        self._names = NameIndex(plain_text, tokens)
        said = find_dates(plain_text)
        self._dates = [one for read in said for one in read]
        rest = blank_spans(plain_text, [(read[0].start, read[0].end) for read in said])
        self._amounts = QuantityIndex(rest)
        for one in self._dates:
            if one.year is not None:
                self._amounts.add(normalize_number(str(one.year)))

    def missing(self, claimed: Facts) -> Iterator[str]:
        """Yield the facts of a claim that are not here, as they stand in it."""
        for one in claimed.quantities:
            if not self._amounts.contains(one):
                yield _counted(claimed.text, one)
        for read in claimed.dates:
            if not any(map(self._dated, read)):
                yield claimed.text[read[0].start : read[0].end].strip()
        yield from (one.text[:_SHOWN] for one in claimed.names if not self._names.contains(one))
        for quotation in claimed.quotations:
            if not is_verbatim(quotation, self._folded):
                yield f'"{quotation[:_SHOWN]}"'

    def _dated(self, claimed: Date) -> bool:
        """Return whether the parts of a date occur, together or as those of a span of days."""
        if any(is_same_date(claimed, said) for said in self._dates):
            return True
        same = [said for said in self._dates if said.month == claimed.month]
        day = claimed.day is None or any(
            claimed.day == said.day
            or (said.day is not None and self._amounts.contains_number(str(claimed.day)))
            for said in same
        )
        year = claimed.year is None or any(
            claimed.year == said.year
            or (said.year is None and self._amounts.contains_number(str(claimed.year)))
            for said in same
        )
        return bool(same) and day and year


def _counted(text: str, one: Quantity) -> str:
    """Return a quantity as it stands, with what is counted."""
    behind = None if one.unit else _BEHIND.match(text, one.end)
    return text[one.start : behind.end() if behind else one.end].strip()


def _apart(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans in order, without those that reach into one before them."""
    kept: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if not kept or start >= kept[-1][1]:
            kept.append((start, end))
    return kept
