"""Reads dates in the forms that people and programs write, and from the names of files.

A date is ISO 8601: `YYYY-MM-DD`, or a time in UTC when its zone is known. A form that means two
dates, such as `03/04/2024`, is none.
"""

import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from kebab.text.normalize import compile_lazily, load_words

_YEARS = range(1000, 2200)
_NAME_YEARS = range(1900, 2100)
_MAX_CHARS = 100
_MONTHS = {
    name: int(number) for number, names in load_words("months").items() for name in names.split()
}
"""The months by their names and short forms in the languages of Europe."""

_MONTH = "(?P<month>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")(?![^\W\d_])\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th|er|º|\.)?"
_OF = "(?:of |de |del |d['’])?"
_YEAR = r"(?P<year>\d{4})"
_KANJI = "〇一二三四五六七八九十"
_ERAS = {"明治": 1868, "大正": 1912, "昭和": 1926, "平成": 1989, "令和": 2019}
"""The first years of the eras of Japan."""

_EASTERN_YEAR = (
    rf"(?:(?P<era>{'|'.join(_ERAS)}) ?(?P<count>\d{{1,2}}|元|[{_KANJI}]{{1,3}})"
    rf"|(?P<year>\d{{4}}|[{_KANJI[:10]}]{{4}})) ?[年년] ?"
)
_EASTERN_MONTH = rf"(?P<month>\d{{1,2}}|[{_KANJI}]{{1,3}}) ?[月월]"
_EASTERN_DAY = rf"{_EASTERN_MONTH} ?(?P<day>\d{{1,2}}|[{_KANJI}]{{1,3}}) ?[日일号]"
"""In Chinese, Japanese and Korean."""

_FORMS = (
    rf"{_YEAR}(?P<mark>[-/_])(?P<month>\d{{1,2}})(?P=mark)(?P<day>\d{{1,2}})",
    rf"{_YEAR}\. ?(?P<month>\d{{1,2}})\. ?(?P<day>\d{{1,2}})\.?",
    _EASTERN_YEAR + _EASTERN_DAY,
    rf"{_MONTH} {_DAY},? {_YEAR}",
    rf"{_DAY} {_OF}{_MONTH},? {_OF}{_YEAR}",
    rf"{_YEAR}\. {_MONTH} {_DAY}",
    rf"{_DAY}-{_MONTH}-{_YEAR}",
    rf"{_DAY} tháng (?P<month>\d{{1,2}}),? (?:năm )?{_YEAR}",
    r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})",
    r"(?<![/-])(?P<one>\d{1,2})[-/](?P<two>\d{1,2})[-/](?P<year>\d{4})(?!/)",
)
"""The forms of a day; in the last one the day and the month may stand in either order."""

_COMPACT = r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)"
_COMPACT_TIME = _COMPACT + r"T(?P<hour>\d\d)(?P<minute>\d\d)(?P<second>\d\d)(?P<zone>Z|[+-]\d{4})"
_TIME = (
    r"(?:(?:[ T]|, ?)(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,]\d{1,9})?)?"
    r"(?: ?(?P<zone>Z|UTC|GMT|[+-]\d\d:?\d\d))?)?"
)
_WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6},? )?"
_FOLDERS = re.compile(r"(?:^|/)(?P<year>\d{4})/(?P<month>\d\d)/(?P<day>\d\d)(?!\d)", re.ASCII)
_EPOCH = re.compile(r"(\d{10})(?:\d{3})?\Z", re.ASCII)


_VALUES = tuple(
    compile_lazily(value, re.IGNORECASE)
    for value in (
        _COMPACT_TIME,
        *(f"{_WEEKDAY}{form}{_TIME}" for form in (*_FORMS, _COMPACT + r"(?:T?\d{4}(?:\d\d)?)?")),
    )
)
_NAMES = (
    *(compile_lazily(rf"(?<![0-9A-Za-z.]){form}(?!\d|\.\d)", re.IGNORECASE) for form in _FORMS),
    compile_lazily(rf"(?<![0-9a-fA-F]){_COMPACT}(?:[T_-]?\d{{4}}(?:\d\d)?)?(?!\d)", re.ASCII),
)
"""The patterns of dates inside the names of files."""

_WEEKS, _QUARTERS = load_words("periods").values()
_WEEK, _QUARTER = (f"(?:{names.replace(' ', '|')})" for names in (_WEEKS, _QUARTERS))
_PART = rf"(?:{_WEEK} ?(?P<week>0?[1-9]|[1-4]\d|5[0-3])|{_QUARTER} ?(?P<quarter>[1-4]))"
_MONTH_EDGES, _EDGES = (r"(?<![\w./-])", r"(?![\w-])"), (r"(?<![^\W_])", r"(?![^\W_])")
_PERIODS = tuple(
    compile_lazily(f"{start}{form}{end}", re.IGNORECASE)
    for form, (start, end) in (
        (rf"{_MONTH},? {_OF}{_YEAR}", _MONTH_EDGES),
        (rf"{_YEAR}-(?P<month>\d\d)", _MONTH_EDGES),
        (rf"(?P<month>\d\d)/{_YEAR}", _MONTH_EDGES),
        (_EASTERN_YEAR + _EASTERN_MONTH, ("", "")),
        (rf"{_YEAR}(?! W )[-/ ]?{_PART}", _EDGES),
        (rf"{_PART}(?:[-/ ]|, ?| of ){_YEAR}", _EDGES),
        (rf"(?P<quarter>[1-4])(?:\.|st|nd|rd|th)? {_QUARTER} (?:of )?{_YEAR}", _EDGES),
    )
)
"""The months, weeks and quarters of years."""

_EASTERN = compile_lazily(_EASTERN_DAY)
_DAYS_OF_MONTHS = tuple(
    compile_lazily(rf"(?<![\w.]){form}(?!\w)", re.IGNORECASE)
    for form in (rf"{_MONTH} {_DAY}", rf"{_DAY} {_OF}{_MONTH}")
)
_WORDS = {*_MONTHS, *_WEEKS.split(), *_QUARTERS.split()}
_NUMERIC = compile_lazily(
    r"\d{4}[-/._] ?\d{1,2}(?!\d)|\d[-/.] ?\d{4}|\d{8}|[年月년월\u0900-\u097f]|tháng"
)
"""What a date without the name of a month has, or a script whose words are more than letters."""

_find_words = compile_lazily(r"[^\W\d_]+").findall
_find_years = compile_lazily(r"[12月월](?:(?<=[月월])|(?<!\d\d)\d{3}(?!\d))").finditer
_BEFORE_YEAR, _BEHIND_YEAR = 32, 24
"""The characters around a year in which the rest of its date stands."""


def choose_date(metadata_date: str | None, path: str, *, is_property: bool = False) -> str | None:
    """Return the date of a document, None when only the time of its file is known.

    What the text itself says comes before the name of the file. With `is_property` the date is a
    property that a program has set, which comes after the name.
    """
    if is_property:
        return find_date_in_path(path) or metadata_date
    return metadata_date or find_date_in_path(path)


def parse_date(text: str) -> str | None:
    """Return the date that a text is, None when it is none or may be another; see `parse_period`.

    That of a month, a week or a quarter is its first day.
    """
    return _complete(parse_period(text))


def parse_period(text: str) -> str | None:
    """Return the date that a text is, or the month, week or quarter; see `WrittenDate`."""
    text = " ".join(text.split()).strip("[]")
    if not 6 <= len(text) <= _MAX_CHARS:  # noqa: PLR2004 - `2024Q1` is the shortest
        return None
    for pattern in (*_PERIODS, *_VALUES):
        match = pattern.fullmatch(text)
        if match:
            return _build(match)
    epoch = _EPOCH.match(text)  # seconds or milliseconds since 1970
    return _format_time(datetime.fromtimestamp(int(epoch[1]), UTC)) if epoch else None


def _complete(found: str | None) -> str | None:
    """Return a date; of a period its first day."""
    return list_days(found)[0].isoformat() if found and len(found) < len("YYYY-MM-DD") else found


def list_days(value: str) -> tuple[date, date]:
    """Return the first and the last day of a date, a month, a week, a quarter or a year."""
    if len(value) == len("YYYY-MM-DD"):
        return date.fromisoformat(value), date.fromisoformat(value)
    year, _, part = value.partition("-")
    if part[:1] == "W":
        monday = date.fromisocalendar(int(year), 1, 1) + timedelta(weeks=int(part[1:]) - 1)
        return monday, monday + timedelta(days=6)
    last = int(part[1:]) * 3 if part[:1] == "Q" else int(part or 12)
    first = last - 2 if part[:1] == "Q" else int(part or 1)
    return date(int(year), first, 1), date(int(year), last, monthrange(int(year), last)[1])


_AGE = re.compile(r"(\d{1,6}) ?([a-z]+)(?: ago)?")
_SECONDS = {
    **dict.fromkeys(("m", "min", "minute", "minutes"), 60),
    **dict.fromkeys(("h", "hour", "hours"), 3600),
    **dict.fromkeys(("d", "day", "days"), 86_400),
    **dict.fromkeys(("w", "week", "weeks"), 604_800),
    **dict.fromkeys(("y", "year", "years"), 31_557_600),
}
_PERIOD = re.compile(r"(\d{4})(?:-(\d{1,2}))?")


def parse_moment(text: str, now: float) -> float:
    """Return the seconds since the epoch of a date, a period, an age or a moment, in local time.

    A period, such as `2024-03`, `last month` or `yesterday`, is its beginning.

    Raises:
        ValueError, OverflowError: The text is none of them.
    """
    written, text = text.strip(), " ".join(text.lower().split())
    clock = datetime.fromtimestamp(now)  # noqa: DTZ006 - the periods are those of local time
    periods = _list_periods(clock.replace(hour=0, minute=0, second=0, microsecond=0))
    if text in periods:
        return periods[text].timestamp()
    if period := _PERIOD.fullmatch(text):
        return clock.replace(int(period[1]), int(period[2] or 1), 1, 0, 0, 0, 0).timestamp()
    if age := _AGE.fullmatch(text):
        count, unit = int(age[1]), age[2]
        if unit in {"mo", "month", "months"}:
            return _go_back(clock, count).timestamp()
        if unit in _SECONDS:
            return now - count * _SECONDS[unit]
    try:
        return datetime.fromisoformat(written).timestamp()
    except ValueError:
        return datetime.fromisoformat(parse_date(text) or written).timestamp()


def _list_periods(today: datetime) -> dict[str, datetime]:
    """Return the beginnings of the periods that have a name."""
    day, monday = timedelta(days=1), today - timedelta(days=today.weekday())
    month, year = today.replace(day=1), today.replace(month=1, day=1)
    return {
        "today": today,
        "yesterday": today - day,
        "this week": monday,
        "last week": monday - 7 * day,
        "this month": month,
        "last month": _go_back(month, 1),
        "this year": year,
        "last year": _go_back(year, 12),
    }


def _go_back(moment: datetime, months: int) -> datetime:
    """Return the same day some months before, or the last day of that month."""
    year, month = divmod(12 * moment.year + moment.month - 1 - months, 12)
    last = monthrange(year, month + 1)[1]
    return moment.replace(year=year, month=month + 1, day=min(moment.day, last))


def find_date(text: str) -> str | None:
    """Return the date that a text is, or the first that it contains."""
    return parse_date(text) or _find_first(text[:_MAX_CHARS])


_YEAR_DIGITS = 4


def find_date_in_path(path: str) -> str | None:
    """Return the date in the name of a file, else that of its folders `YYYY/MM/DD`.

    A name that begins with a month, a week or a quarter has its first day.
    """
    # Its year has four digits, or is one of Japan. To compile the patterns takes long.
    if sum(map(str.isnumeric, path)) < _YEAR_DIGITS and "年" not in path:
        return None
    name = path.rpartition("/")[2]
    months = filter(None, (pattern.match(name) for pattern in _PERIODS))
    matches = (*months, *_FOLDERS.finditer(path))
    built = filter(None, (_build(match, _NAME_YEARS) for match in matches))
    return _find_first(name) or _complete(next(built, None))


def iter_dates(text: str, years: range = _YEARS) -> Iterator[tuple[int, int, str]]:
    """Yield the whole dates of a text as [start, end) and `YYYY-MM-DD`, form by form."""
    for pattern in _NAMES:
        for match in pattern.finditer(text):
            if found := _build(match, years):
                yield match.start(), match.end(), found


class WrittenDate(NamedTuple):
    """A date in a text at [start, end).

    It is `YYYY-MM-DD`, `--MM-DD` without a year, `YYYY-MM`, `YYYY-Www` or `YYYY-Qq`.
    """

    start: int
    end: int
    value: str

    @property
    def token(self) -> str:
        """The token of the date in the index, which no word has."""
        return f"date{self.value.replace('-', '').lower()}"


def list_date_tokens(text: str) -> list[str]:
    """Return the tokens of the dates in a text: of each day, its month and its day of any year."""
    found: dict[str, None] = {}
    last = 0
    for found_year in _find_years(text):
        start, end = max(last, found_year.start() - _BEFORE_YEAR), found_year.end() + _BEHIND_YEAR
        for one in find_written_dates(text[start:end], whole=True):
            found[one.token] = None
            if len(one.value) == len("YYYY-MM-DD"):
                year, month, day = one.value.split("-")
                found |= {f"date{month}{day}": None, f"date{year}{month}": None}
        last = found_year.end()
    return list(found)


def find_written_dates(text: str, *, whole: bool = False) -> list[WrittenDate]:
    """Return the dates of a text in order, which do not overlap.

    With `whole` a day of a month without its year is one only in Chinese, Japanese and Korean.
    """
    words = map(str.lower, _find_words(text))
    # The patterns take long, and most texts with a year have nothing else of a date.
    if not _NUMERIC.search(text) and _WORDS.isdisjoint(words):
        return []
    found = [WrittenDate(*one) for one in iter_dates(text)]
    for pattern in (_EASTERN, *_PERIODS, *(() if whole else _DAYS_OF_MONTHS)):
        dates = ((match.span(), _build(match)) for match in pattern.finditer(text))
        found += [WrittenDate(*span, value) for span, value in dates if value]
    kept, taken = [], set[int]()
    for one in sorted(found, key=lambda one: (-len(one.value), one.start)):
        if taken.isdisjoint(range(one.start, one.end)):
            kept.append(one)
            taken.update(range(one.start, one.end))
    return sorted(kept)


def write_dates(text: str) -> str:
    """Return a text with its dates as the names of files have them: `YYYY-MM-DD`, `MM-DD`."""
    for one in reversed(find_written_dates(text)):
        text = text[: one.start] + one.value.lstrip("-") + text[one.end :]
    return text


def _read_number(text: str) -> int:
    """Return a number that is written in digits, or in Chinese: place by place or with `十`."""
    if text == "元":  # the first year of an era
        return 1
    if text.isdecimal():
        return int(text)
    tens, ten, ones = text.rpartition("十")
    places = (tens or "一") + (ones or "〇") if ten else ones
    return int("".join(str(_KANJI.index(place)) for place in places))


def _find_first(text: str) -> str | None:
    return next((found for _, _, found in iter_dates(text, _NAME_YEARS)), None)


def _build(match: re.Match[str], years: range = _YEARS) -> str | None:
    """Return the date of a match, as a time in UTC when it has a time and its zone.

    That of a period is described at `WrittenDate`. Of a day and a month in either order one must be
    no month.
    """
    parts = match.groupdict()
    year = _read_number(parts["year"]) if parts.get("year") else None
    if era := parts.get("era"):
        year = _ERAS[era] - 1 + _read_number(parts["count"])
    if "quarter" in parts:
        part = f"Q{parts['quarter']}" if parts["quarter"] else f"W{parts['week']:0>2}"
        return f"{year}-{part}" if year in years else None
    if "one" in parts:
        one, two = int(parts["one"]), int(parts["two"])
        readings = {_format_day(year, *pair, years) for pair in ((one, two), (two, one))} - {None}
        day = readings.pop() if len(readings) == 1 else None
    else:
        month = _MONTHS.get(parts["month"].lower()) or _read_number(parts["month"])
        day = _format_day(year, month, _read_number(parts.get("day") or "1"), years)
        day = day if not day or "day" in parts else day.removesuffix("-01")
    zone = (parts.get("zone") or "").upper()
    if not (day and zone):
        return day
    clock = f"{parts['hour']:0>2}:{parts['minute']}:{parts['second'] or '00'}"
    try:
        local = datetime.fromisoformat(f"{day}T{clock}{zone if zone[0] in '+-' else 'Z'}")
    except ValueError:
        return None
    return _format_time(local.astimezone(UTC))


def _format_day(year: int | None, month: int, day: int, years: range = _YEARS) -> str | None:
    """Return `YYYY-MM-DD`, or `--MM-DD` without a year; None when there is no such day."""
    try:
        known = date(2000 if year is None else year, month, day)  # a leap year
    except ValueError:
        return None
    if year is None:
        return f"-{known.isoformat()[4:]}"
    return known.isoformat() if year in years else None


def _format_time(moment: datetime) -> str | None:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}" if moment.year in _YEARS else None
