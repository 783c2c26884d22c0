"""Contains the rule about statements whose date has passed."""

import calendar
import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import ClassVar, NamedTuple

from kebab.core.review import Finding, Surroundings
from kebab.review.document import ReviewDocument
from kebab.review.rules.rule import build_finding
from kebab.wire.review import SeverityName

_YEARS = tuple(
    re.compile(century + r"\d\d(?![A-Za-z0-9_%])(?<![\w-]\d{4})(?<!\w\.\d{4})")
    for century in ("19", "20")
)
"""One pattern each, since a search for fixed text is fast."""

_MONTH_NAMES = {
    name.lower(): number
    for number in range(1, 13)
    for name in (calendar.month_name[number], calendar.month_abbr[number])
}
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DATE = re.compile(
    rf"(?P<y1>(?:19|20)\d\d)(?P<sep>[-/])(?P<m1>\d\d?)(?:(?P=sep)(?P<d1>\d\d?))?(?![\w-])"
    rf"|(?P<y2>(?:19|20)\d\d)\.[ ]?(?P<m2>\d\d?)\.[ ]?(?P<d2>\d\d?)\.?(?!\w)"
    rf"|(?P<y3>(?:19|20)\d\d)[\ub144\u5e74](?:[ ]?(?P<m3>\d\d?)[\uc6d4\u6708](?:[ ]?(?P<d3>\d\d?)"
    rf"[\uc77c\u65e5])?)?"
    rf"|(?P<n4>{_MONTH})[ ](?P<d4>\d\d?)(?:st|nd|rd|th)?,?[ ](?P<y4>(?:19|20)\d\d)(?!\w)"
    rf"|(?:(?P<d5>\d\d?)(?:st|nd|rd|th)?[ ](?:of[ ])?)?(?P<n5>{_MONTH}),?[ ](?P<y5>(?:19|20)\d\d)"
    r"(?!\w)"
    rf"|(?:Q(?P<q6>[1-4])[ /-]?)?(?P<y6>(?:19|20)\d\d)(?![\w%]|[./-]\d)",
    re.IGNORECASE,
)
_LEAD = (
    r"(?:the[ ])?(?:(?:end|beginning|start|middle|close)[ ]of[ ](?:the[ ]year[ ])?"
    r"|early[ ]|late[ ]|mid[- ])?"
)
_AS_OF = re.compile(
    rf"\b(?:as of|as at|last (?:checked|verified|reviewed) (?:on|in))[ ]{_LEAD}\Z", re.IGNORECASE
)
_UNTIL = re.compile(
    r"\b(?:(?:is|are|remains?|stays?)[ ](?:\w+[ ]){0,3}?|will[ ]be[ ](?:\w+[ ]){0,3}?"
    r"|(?P<bare>valid|effective|open|available|supported)[ ])(?:until|till|through)[ ]"
    rf"(?:at[ ]least[ ])?{_LEAD}\Z",
    re.IGNORECASE,
)
_PLAN = re.compile(
    r"\b(?:(?:is|are)[ ](?:currently[ ]|now[ ])?(?:planned|scheduled|slated|due|expected|targeted)"
    r"|(?:planned|scheduled|slated)(?=[ ]for))[ ]"
    rf"(?:to[ ](?:\w+[ ]){{1,4}}?)?(?:for|in|by|on)[ ]{_LEAD}\Z"
    r"|\bwill[ ](?!have\b)(?:\w+[ ]){1,7}?"
    rf"(?:in|by|on|until|from|after|before|starting|beginning)[ ]{_LEAD}\Z"
    rf"|\b(?:expires?|ends)[ ](?:on|in)[ ]{_LEAD}\Z",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:was|were|had|said|announced|originally|at that time|would)\b", re.IGNORECASE
)
_AS_OF_AFTER = re.compile(
    r"[ ]?(?:\uae30\uc900|\ud604\uc7ac|\u6642\u70b9|\u73fe\u5728|\u65f6\u70b9)"
)
_UNTIL_AFTER = re.compile(
    r"[ ]?(?:\ub9d0|\uc911|\u672b)?[ ]?(?:\uae4c\uc9c0[ ]?(?:\S+[ ]){0,2}?"
    r"(?:\uc9c0\uc6d0(?:\ub429\ub2c8\ub2e4|\ub41c\ub2e4|\ud569\ub2c8\ub2e4|\ud55c\ub2e4)"
    r"|\uc720\ud6a8|\uac00\ub2a5\ud569\ub2c8\ub2e4|\uac00\ub2a5\ud558\ub2e4"
    r"|\uc9c4\ud589\ub429\ub2c8\ub2e4|\uc9c4\ud589\ub41c\ub2e4)"
    r"|\u307e\u3067(?:\u6709\u52b9|\u30b5\u30dd\u30fc\u30c8\u3055\u308c\u307e\u3059"
    r"|\u5229\u7528\u3067\u304d\u307e\u3059|\u5229\u7528\u53ef\u80fd))"
)
_PLAN_AFTER = re.compile(
    r"[^.\u3002\n]{0,30}?(?:\uc608\uc815(?:\uc785\ub2c8\ub2e4|\uc774\ub2e4|\b)"
    r"|\u4e88\u5b9a(?:\u3067\u3059|\u3067\u3042\u308b|\u3002))"
)
_BEFORE_CHARS, _AFTER_CHARS = 90, 60
_SENTENCE = re.compile(r"[.!?;:]\s|\n[ \t]*\n|[\u3002|]|\ub2e4\.")
_RECORD = re.compile(
    r"(?:^|[/_.-])(?:change-?log|changes|history|news|releases?|release-?notes?|blog|posts?|archives?"
    r"|minutes|meetings?|licen[cs]e|copying|notice|journal|diary|daily)(?:[/_.-]|$)"
    r"|(?:19|20)\d\d[-_/]?\d\d",
    re.IGNORECASE,
)
"""Paths of texts that record what was true on a day."""

_DATE_FIELDS = frozenset({"date", "published", "publishdate", "publish_date", "pubdate", "created"})


class _Period(NamedTuple):
    """A day, a month or a year in a text at [start, end), and its last day."""

    start: int
    end: int
    last: date


class StaleDate:
    """A statement is tied to a date that has passed.

    `as of <date>` is reported when it is older than `review.stale_days`; `valid until`, `planned
    for` and `will ... in` when their date is over. Readers cannot tell what holds now. Stories in
    the past tense, changelogs, and texts with a date of their own, such as posts, are not reported.
    Check the statement, and change it or its date.
    """

    id: ClassVar[str] = "stale-date"
    kind: ClassVar[str] = "stale"
    severity: ClassVar[SeverityName] = "suggestion"
    example: ClassVar[str] = "The certificate is valid until March 2021."

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the dates that have passed."""
        if _is_record(document):
            return
        prose, today, done = document.prose, surroundings.today, 0
        years = sorted(found.span() for pattern in _YEARS for found in pattern.finditer(prose))
        for start, end in years:
            if start < done:
                continue
            period = _find_period(prose, start, end)
            if period is None:
                continue
            done = period.end
            if period.last >= today:
                continue
            reason = _judge(prose, period, today, surroundings.stale_days)
            if reason is not None:
                words = " ".join(prose[period.start : period.end].split())
                yield build_finding(self, period.start, period.end, f"{reason}: {words}")


def _is_record(document: ReviewDocument) -> bool:
    """Return whether a text says what was true on its own date."""
    front = document.markup.front_matter
    if front is not None and any(name.lower() in _DATE_FIELDS for name, _ in front.fields):
        return True
    return bool(_RECORD.search(document.source.doc_path))


def _find_period(prose: str, start: int, end: int) -> _Period | None:
    """Return the date around a year."""
    for found in _DATE.finditer(prose, max(0, start - 20), min(len(prose), end + 16)):
        if found.start() <= start and end <= found.end():
            last = _find_last_day({key: value for key, value in found.groupdict().items() if value})
            return None if last is None else _Period(found.start(), found.end(), last)
    return None


def _find_last_day(parts: dict[str, str]) -> date | None:
    """Return the last day of a date, a month, a quarter or a year."""
    values = {name[0]: value for name, value in parts.items() if name != "sep"}
    year = int(values["y"])
    month = int(values["m"]) if "m" in values else None
    if "n" in values:
        month = _MONTH_NAMES[values["n"].rstrip(".").lower()[:3]]
    if "q" in values:
        month = int(values["q"]) * 3
    try:
        if "d" in values and month is not None:
            return date(year, month, int(values["d"]))
        month = month or 12
        return date(year, month, calendar.monthrange(year, month)[1])
    except ValueError:
        return None


def _judge(prose: str, period: _Period, today: date, stale_days: int) -> str | None:
    """Return what is stale about a date; None when nothing is."""
    before = prose[max(0, period.start - _BEFORE_CHARS) : period.start]
    ends = [found.end() for found in _SENTENCE.finditer(before)]
    before = " ".join(before[ends[-1] if ends else 0 :].split()) + " "
    after = prose[period.end : period.end + _AFTER_CHARS].replace("\n", " ")
    if _AS_OF.search(before) or _AS_OF_AFTER.match(after):
        old = stale_days and period.last < today - timedelta(days=stale_days)
        return "the statement may be out of date" if old else None
    if _PAST.search(before):
        return None
    if _UNTIL.search(before) or _UNTIL_AFTER.match(after):
        return "the date has passed"
    if _PLAN.search(before) or _PLAN_AFTER.match(after):
        return "the planned date has passed"
    return None
