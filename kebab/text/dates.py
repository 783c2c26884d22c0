"""Reads dates in the forms that people and programs write, and from the names of files.

A date is ISO 8601: `YYYY-MM-DD`, or a time in UTC when its zone is known. A form that means two
dates, such as `03/04/2024`, is none.
"""

import re
from calendar import monthrange
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from typing import NamedTuple

from kebab.text.normalize import compile_lazily

_YEARS = range(1000, 2200)
_NAME_YEARS = range(1900, 2100)
_MAX_CHARS = 100
_MONTH_NAMES = """
jan january januar janvier enero ene gennaio gen janeiro januari januar jänner styczeń stycznia
  leden ledna января январь січня ocak ianuarie január tammikuu tammikuuta ιανουαρίου gener
feb february februar février févr febrero febbraio fevereiro februari luty lutego únor února февраля
  февраль лютого şubat februarie február helmikuu helmikuuta φεβρουαρίου febrer
mar march märz mär mars marzo março mart maart marzec marca březen března марта март березня martie
  március maaliskuu maaliskuuta μαρτίου març
apr april avril avr abril aprile kwiecień kwietnia duben dubna апреля апрель квітня nisan aprilie
  április huhtikuu huhtikuuta απριλίου
may mai mayo maggio mag maio mei maj maja květen května мая май травня mayıs május toukokuu
  toukokuuta μαΐου maig
jun june juni juin junio giugno giu junho czerwiec czerwca červen června июня июнь червня haziran
  iunie június kesäkuu kesäkuuta ιουνίου juny
jul july juli juillet juil julio luglio lug julho lipiec lipca červenec července июля июль липня
  temmuz iulie július heinäkuu heinäkuuta ιουλίου juliol
aug august août agosto ago augustus augusti sierpień sierpnia srpen srpna августа август серпня
  ağustos augusztus elokuu elokuuta αυγούστου agost
sep sept september septembre septiembre settembre setembro wrzesień września září сентября сентябрь
  вересня eylül septembrie szeptember syyskuu syyskuuta σεπτεμβρίου setembre
oct october oktober okt octobre octubre ottobre ott outubro październik października říjen října
  октября октябрь жовтня ekim octombrie október lokakuu lokakuuta οκτωβρίου
nov november novembre noviembre novembro listopad listopada listopadu ноября ноябрь листопада kasım
  noiembrie marraskuu marraskuuta νοεμβρίου
dec december dezember dez décembre déc diciembre dic dicembre dezembro grudzień grudnia prosinec
  prosince декабря декабрь грудня aralık decembrie joulukuu joulukuuta δεκεμβρίου desembre desember
"""
"""The names of each month, January first, and their short forms in the languages of Europe."""

_MONTHS = {
    name: number
    for number, names in enumerate(re.split(r"\n(?=\S)", _MONTH_NAMES.strip()), 1)
    for name in names.split()
}
_MONTH = "(?P<month>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")(?![^\W\d_])\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th|er|º|\.)?"
_OF = "(?:of |de |del |d['’])?"
_YEAR = r"(?P<year>\d{4})"
_FORMS = (
    rf"{_YEAR}-(?P<month>\d{{1,2}})-(?P<day>\d{{1,2}})",
    rf"{_YEAR}/(?P<month>\d{{1,2}})/(?P<day>\d{{1,2}})",
    rf"{_YEAR}\. ?(?P<month>\d{{1,2}})\. ?(?P<day>\d{{1,2}})\.?",
    rf"{_YEAR}_(?P<month>\d{{1,2}})_(?P<day>\d{{1,2}})",
    rf"{_YEAR}년 ?(?P<month>\d{{1,2}})월 ?(?P<day>\d{{1,2}})일",
    rf"{_YEAR}年 ?(?P<month>\d{{1,2}})月 ?(?P<day>\d{{1,2}})日",
    rf"{_MONTH} {_DAY},? {_YEAR}",
    rf"{_DAY} {_OF}{_MONTH},? {_OF}{_YEAR}",
    rf"{_YEAR}\. {_MONTH} {_DAY}",
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

_EITHER = compile_lazily(r"(?<![\w./-])(\d{1,2})[/-](\d{1,2})[/-](\d{4})(?![\w/-])")
_KANJI = "〇一二三四五六七八九十"
_EASTERN = compile_lazily(
    rf"(?:(?P<year>\d{{4}}|[{_KANJI[:10]}]{{4}}) ?[年년] ?)?"
    rf"(?P<month>\d{{1,2}}|[{_KANJI}]{{1,3}}) ?[月월] ?"
    rf"(?P<day>\d{{1,2}}|[{_KANJI}]{{1,3}}) ?[日일号]"
)
"""A day of a month in Chinese, Japanese and Korean, with or without its year."""

_MONTH_OF_YEAR = compile_lazily(
    rf"(?<![\w.])(?:{_MONTH},? {_OF}{_YEAR}|(?P<iso>\d{{4}}-\d\d))(?![\w-])", re.IGNORECASE
)
_DAYS_OF_MONTHS = tuple(
    compile_lazily(rf"(?<![\w.]){form}(?!\w)", re.IGNORECASE)
    for form in (rf"{_MONTH} {_DAY}", rf"{_DAY} {_OF}{_MONTH}")
)
_NUMERIC = compile_lazily(
    r"\d{4}[-/._] ?\d{1,2}(?!\d)|\d[-/.] ?\d{1,2}[-/.] ?\d{4}|\d{8}|[年月년월]"
)
"""What a date without the name of a month has."""

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
    """Return the date that a text is, None when it is none or may be another; a month its first."""
    text = " ".join(text.split()).strip("[]")
    if not 7 <= len(text) <= _MAX_CHARS:  # noqa: PLR2004 - `2024-01` is the shortest
        return None
    if match := _MONTH_OF_YEAR.fullmatch(text):
        month = _write_month(match)
        return month and f"{month}-01"
    for pattern in _VALUES:
        match = pattern.fullmatch(text)
        if match:
            return _build(match, _YEARS)
    if epoch := _EPOCH.match(text):  # seconds or milliseconds since 1970
        return _format_time(datetime.fromtimestamp(int(epoch[1]), UTC))
    return _parse_either_order(text)


_AGE = re.compile(r"(\d{1,6}) ?([a-z]+)(?: ago)?")
_SECONDS = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800, "y": 31_557_600}
_UNITS = {
    **dict.fromkeys(("min", "minute", "minutes"), "m"),
    **dict.fromkeys(("hour", "hours"), "h"),
    **dict.fromkeys(("day", "days"), "d"),
    **dict.fromkeys(("week", "weeks"), "w"),
    **dict.fromkeys(("mo", "month", "months"), "month"),
    **dict.fromkeys(("year", "years"), "y"),
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
        count, unit = int(age[1]), _UNITS.get(age[2], age[2])
        if unit == "month":
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


def find_date_in_path(path: str) -> str | None:
    """Return the date in the name of a file, else that of its folders `YYYY/MM/DD`."""
    name = path.rpartition("/")[2]
    return _find_first(name) or next(
        filter(None, (_build(match, _NAME_YEARS) for match in _FOLDERS.finditer(path))), None
    )


def iter_dates(text: str, years: range = _YEARS) -> Iterator[tuple[int, int, str]]:
    """Yield the whole dates of a text as [start, end) and `YYYY-MM-DD`, form by form."""
    for pattern in _NAMES:
        for match in pattern.finditer(text):
            if found := _build(match, years):
                yield match.start(), match.end(), found


class WrittenDate(NamedTuple):
    """A date in a text at [start, end): `YYYY-MM-DD`, `--MM-DD` without a year, or `YYYY-MM`."""

    start: int
    end: int
    value: str

    @property
    def token(self) -> str:
        """The token of the date in the index, which no word has."""
        return f"date{self.value.replace('-', '')}"


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
    if not _NUMERIC.search(text) and _MONTHS.keys().isdisjoint(words):
        return []
    found = [WrittenDate(*one) for one in iter_dates(text)]
    readers: list[tuple[re.Pattern[str], Callable[[re.Match[str]], str | None]]] = [
        (_EITHER, lambda match: _parse_either_order(match[0])),
        (
            _EASTERN,
            lambda match: _format_day(
                _read_year(match["year"] or "0"),
                _read_eastern(match["month"]),
                _read_eastern(match["day"]),
            ),
        ),
        (_MONTH_OF_YEAR, _write_month),
    ]
    if not whole:
        readers += [
            (one, lambda match: _format_day(0, _read_month(match), int(match["day"])))
            for one in _DAYS_OF_MONTHS
        ]
    for pattern, build in readers:
        dates = ((match.span(), build(match)) for match in pattern.finditer(text))
        found += [WrittenDate(*span, value) for span, value in dates if value]
    kept: list[WrittenDate] = []
    for one in sorted(found, key=lambda one: (-len(one.value), one.start)):
        if all(one.end <= other.start or other.end <= one.start for other in kept):
            kept.append(one)
    return sorted(kept)


def write_dates(text: str) -> str:
    """Return a text with its dates as the names of files have them: `YYYY-MM-DD`, `MM-DD`."""
    for one in reversed(find_written_dates(text)):
        text = text[: one.start] + one.value.lstrip("-") + text[one.end :]
    return text


def _read_month(match: re.Match[str]) -> int:
    return _MONTHS[match["month"].lower()]


def _write_month(match: re.Match[str]) -> str | None:
    month = match["iso"] or f"{match['year']}-{_read_month(match):02}"
    return month if "01" <= month[5:] <= "12" else None


def _format_day(year: int, month: int, day: int) -> str | None:
    """Return `YYYY-MM-DD`, or `--MM-DD` for the year 0; None when there is no such day."""
    try:
        known = date(year or 2000, month, day).isoformat()  # a leap year
    except ValueError:
        return None
    return known if year else f"-{known[4:]}"


def _read_year(year: str) -> int:
    """Return a year that is written in digits or in Chinese, place by place."""
    return int("".join(str(_KANJI.index(one)) if one in _KANJI else one for one in year))


def _read_eastern(number: str) -> int:
    """Return a number up to 99 that is written in digits or in Chinese."""
    if number.isdecimal():
        return int(number)
    tens, ten, ones = number.rpartition("十")
    high = (_KANJI.find(tens) if tens else 1) if ten else 0
    return 10 * high + max(0, _KANJI.find(ones or _KANJI[0]))


def _find_first(text: str) -> str | None:
    return next((found for _, _, found in iter_dates(text, _NAME_YEARS)), None)


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
