"""Extracts dates in the notations of several languages."""

import re
from dataclasses import dataclass

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
    readings = [found for match in matches if (found := _read(match))]
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


def _read(match: re.Match[str]) -> tuple[Date, ...]:
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
