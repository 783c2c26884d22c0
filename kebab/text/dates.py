"""Reads dates in the forms that people and programs write, and from the names of files.

A date is ISO 8601: `YYYY-MM-DD`, or a time in UTC when its zone is known. A form that means two
dates, such as `03/04/2024`, is none.
"""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone

from kebab.text.lazy_pattern import compile_lazily

_YEARS = range(1000, 2200)
_NAME_YEARS = range(1900, 2100)
_MAX_CHARS = 100
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "jan january",
            "feb february",
            "mar march",
            "apr april",
            "may",
            "jun june",
            "jul july",
            "aug august",
            "sep sept september",
            "oct october",
            "nov november",
            "dec december",
        ),
        1,
    )
    for name in names.split()
}
_MONTH = "(?P<month>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4})"
_FORMS = (
    rf"{_YEAR}-(?P<month>\d{{1,2}})-(?P<day>\d{{1,2}})",
    rf"{_YEAR}/(?P<month>\d{{1,2}})/(?P<day>\d{{1,2}})",
    rf"{_YEAR}\. ?(?P<month>\d{{1,2}})\. ?(?P<day>\d{{1,2}})\.?",
    rf"{_YEAR}_(?P<month>\d{{1,2}})_(?P<day>\d{{1,2}})",
    rf"{_YEAR}년 ?(?P<month>\d{{1,2}})월 ?(?P<day>\d{{1,2}})일",
    rf"{_YEAR}年 ?(?P<month>\d{{1,2}})月 ?(?P<day>\d{{1,2}})日",
    rf"{_MONTH} {_DAY},? {_YEAR}",
    rf"{_DAY} (?:of )?{_MONTH},? {_YEAR}",
    rf"{_DAY}-{_MONTH}-{_YEAR}",
    r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})",
)
_COMPACT = r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)"
_COMPACT_TIME = _COMPACT + r"T(?P<hour>\d\d)(?P<minute>\d\d)(?P<second>\d\d)(?P<zone>Z|[+-]\d{4})"
_TIME = (
    r"(?:(?:[ T]|, ?)(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,]\d{1,9})?)?"
    r"(?: ?(?P<zone>Z|UTC|GMT|[+-]\d\d:?\d\d))?)?"
)
_WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6},? )?"
_FOLDERS = re.compile(r"(?:^|/)(?P<year>\d{4})/(?P<month>\d\d)/(?P<day>\d\d)(?!\d)", re.ASCII)
_EITHER_ORDER = re.compile(r"(\d{1,2})[/-](\d{1,2})[/-](\d{4})\Z", re.ASCII)
_EPOCH = re.compile(r"(\d{10})(?:\d{3})?\Z", re.ASCII)
_LAST_MONTH = 12


_VALUES = tuple(
    compile_lazily(value, re.IGNORECASE | re.ASCII)
    for value in (
        _COMPACT_TIME,
        *(f"{_WEEKDAY}{form}{_TIME}" for form in (*_FORMS, _COMPACT + r"(?:T?\d{4}(?:\d\d)?)?")),
    )
)
_NAMES = (
    *(
        compile_lazily(rf"(?<![0-9A-Za-z.]){form}(?!\d|\.\d)", re.IGNORECASE | re.ASCII)
        for form in _FORMS
    ),
    compile_lazily(rf"(?<![0-9a-fA-F]){_COMPACT}(?:[T_-]?\d{{4}}(?:\d\d)?)?(?!\d)", re.ASCII),
)
"""The patterns of dates inside the names of files."""


def choose_date(metadata_date: str | None, path: str, *, is_property: bool = False) -> str | None:
    """Return the date of a document, None when only the time of its file is known.

    What the text itself says comes before the name of the file. With `is_property` the date is a
    property that a program has set, which comes after the name.
    """
    if is_property:
        return find_date_in_path(path) or metadata_date
    return metadata_date or find_date_in_path(path)


def parse_date(text: str) -> str | None:
    """Return the date that a text is, None when it is none or may be another."""
    text = " ".join(text.split()).strip("[]")
    if not 8 <= len(text) <= _MAX_CHARS:  # noqa: PLR2004 - `2024-1-1` is the shortest
        return None
    for pattern in _VALUES:
        match = pattern.fullmatch(text)
        if match:
            return _build(match, _YEARS)
    return _parse_either_order(text) or _parse_epoch(text)


def find_date(text: str) -> str | None:
    """Return the date that a text is, or the first that it contains."""
    return parse_date(text) or next(_find_dates(text[:_MAX_CHARS]), None)


def find_date_in_path(path: str) -> str | None:
    """Return the date in the name of a file, else that of its folders `YYYY/MM/DD`."""
    name = path.rpartition("/")[2]
    return next(_find_dates(name), None) or next(
        filter(None, (_build(match, _NAME_YEARS) for match in _FOLDERS.finditer(path))), None
    )


def iter_dates(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the whole dates of a text as [start, end) and `YYYY-MM-DD`, form by form."""
    for pattern in _NAMES:
        for match in pattern.finditer(text):
            if found := _build(match, _YEARS):
                yield match.start(), match.end(), found


def _find_dates(text: str) -> Iterator[str]:
    for pattern in _NAMES:
        for match in pattern.finditer(text):
            found = _build(match, _NAME_YEARS)
            if found:
                yield found


def _build(match: re.Match[str], years: range) -> str | None:
    """Return the date of a match, as a time in UTC when it has a time and its zone."""
    parts = match.groupdict()
    month = _MONTHS.get(parts["month"].lower()) or int(parts["month"])
    try:
        day = date(int(parts["year"]), month, int(parts["day"]))
        if parts.get("zone"):
            zone = parts["zone"].upper()
            offset = timedelta()
            if zone[0] in "+-":
                offset = timedelta(hours=int(zone[:3]), minutes=int(zone[0] + zone[-2:]))
            clock = (int(parts["hour"]), int(parts["minute"]), int(parts["second"] or 0))
            local = datetime(day.year, day.month, day.day, *clock, tzinfo=timezone(offset))
            return _format_time(local.astimezone(UTC))
    except (ValueError, OverflowError):
        return None
    return day.isoformat() if day.year in years else None


def _format_time(moment: datetime) -> str | None:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}" if moment.year in _YEARS else None


def _parse_either_order(text: str) -> str | None:
    """Return the date of numbers whose order is clear because one of them is no month."""
    match = _EITHER_ORDER.match(text)
    if match is None:
        return None
    first, second, year = map(int, match.groups())
    if first == second or (first > _LAST_MONTH) != (second > _LAST_MONTH):
        month = min(first, second)
        day = max(first, second)
        try:
            return date(year, month, day).isoformat() if year in _YEARS else None
        except ValueError:
            return None
    return None


def _parse_epoch(text: str) -> str | None:
    """Return the time of seconds or milliseconds since 1970."""
    match = _EPOCH.match(text)
    return _format_time(datetime.fromtimestamp(int(match[1]), UTC)) if match else None
