"""Contains the rules about what documents say: copies of other notes, and dates that passed."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from typing import ClassVar, NamedTuple

from kebab.review.document import Finding, ReviewDocument
from kebab.review.rules import Rule, Surroundings
from kebab.text.dates import find_written_dates, list_days
from kebab.wire.review import SeverityName

_LEAST_WORDS = 40
_LEAST_CHARS = 160
"""A shorter paragraph has too few words, so counting them is saved."""

_MOST = 20
"""The most findings in a document: a document that is a copy as a whole is one fault."""

_NO_PARAGRAPH = re.compile(r"\s*(?:\||>|#|<)")
_DENSE_LETTER = re.compile("[\u3040-ヿ\u3400-\u9fff가-\ud7af]")
_DENSE_SHARE = 0.3
_CHARS_PER_WORD = 3


class NearDuplicate(Rule):
    """A paragraph is nearly the same as a passage of another note.

    When one of the two is changed, the other one is out of date. Only the notes of the index are
    compared. Short paragraphs, tables, quotations, and text that stands in many notes, such as a
    licence, are not reported. Keep one of them, and refer to it in the other note.
    """

    id: ClassVar[str] = "near-duplicate"
    kind: ClassVar[str] = "duplicate"
    severity: ClassVar[SeverityName] = "suggestion"
    example: ClassVar[str] = (
        "The backup runs every night at two o'clock and copies the notes, the pictures and the"
        " settings to the second disk. It keeps the last seven copies and deletes the older ones."
        " When the disk is not connected, the backup waits for it, and reminds you once a day."
    )

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the paragraphs that another note has too."""
        found = 0
        for start, end in document.paragraphs if surroundings.has_index else ():
            if end - start < _LEAST_CHARS or _NO_PARAGRAPH.match(document.text, start):
                continue
            text = document.text[start:end]
            prose = document.prose[start:end]
            words = len(prose.split())
            dense = 0 if prose.isascii() else len(_DENSE_LETTER.findall(prose))
            if dense > len(prose) * _DENSE_SHARE:
                words = max(words, dense // _CHARS_PER_WORD)  # no blanks separate them
            if words < _LEAST_WORDS:
                continue
            similar = surroundings.find_similar(document.source, text.strip())
            if similar is None:
                continue
            first = start + len(text) - len(text.lstrip())
            place = f"{similar.chunk.path}:{similar.chunk.start_line}"
            reason = f"the paragraph is nearly the same as in another note: {place}"
            finding = self.build(first, start + len(text.rstrip()), reason)
            yield replace(finding, conf=round(similar.similarity, 2))
            found += 1
            if found == _MOST:
                return


_RECORD = re.compile(
    r"(?:^|[/_.-])(?:change-?log|changes|history|news|releases?|release-?notes?|blog|posts?|archives?"
    r"|minutes|meetings?|licen[cs]e|copying|notice|journal|diary|daily)(?:[/_.-]|$)"
    r"|(?:19|20)\d\d[-_/]?\d\d",
    re.IGNORECASE,
)
"""Paths of texts that record what was true on a day."""

_DATE_FIELDS = frozenset({"date", "published", "publishdate", "publish_date", "pubdate", "created"})


_YEARS = tuple(
    re.compile(century + r"\d\d(?![A-Za-z0-9_%])(?<![\w-]\d{4})(?<!\w\.\d{4})")
    for century in ("19", "20")
)
"""One pattern each, since a search for fixed text is fast."""

_SHORT_DATE = re.compile(r"(?P<year>(?:19|20)\d\d)(?:[년年]|(?![\w%]|[./-]\d))")
"""A year by itself."""
_BEFORE_YEAR, _AFTER_YEAR = 20, 16
"""The characters around a year in which the rest of its date stands."""
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
    r"|\bwill[ ](?!(?:have|query|match|find|return|show|list|select|include|print|give)\b)"
    r"(?:\w+[ ]){1,7}?"
    rf"(?:in|by|on|until|after|before|starting|beginning)[ ]{_LEAD}\Z"
    rf"|\b(?:expires?|ends)[ ](?:on|in)[ ]{_LEAD}\Z",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:was|were|had|said|announced|originally|at that time|would)\b", re.IGNORECASE
)
_EVENT = re.compile(
    r"\b(?:fixed|released|removed|deprecated|changed|added|closed|resolved|renamed|merged)[ ]"
    r"(?:as of|as at)[ ]",
    re.IGNORECASE,
)
_STATE = re.compile(
    r"\b(?:current(?:ly)?|latest|newest|most|available|there|still|yet|only|up[- ]to[- ]date"
    r"|accurate|versions?|at least|about|around|writing|has|have|modes?|under|in progress|works?"
    r"|known)\b"
    r"|\b(?:two|three|four|five|six|seven|eight|nine|ten|(?<![\d,.])\d[\d,.]*+)[ ](?!of\b)[a-z]",
    re.IGNORECASE,
)
"""What a sentence has that tells a state at a date, and not what is so since then."""

_SINCE = re.compile(
    r"[ ]?,?[ ](?:(?!(?:is|are|has|have|can|does|do|there|remains?|supports?)\b)"
    r"[^\s.;:!?]+[ ]){0,6}?"
    r"(?:was|were|had|became|began|made|took|changed|\w{3,}ed)\b"
)
"""What follows `as of <date>` when it tells since when something is so."""

_AS_OF_AFTER = re.compile(r"[ ]?(?:기준|현재|時点|現在|时点)")
_UNTIL_AFTER = re.compile(
    r"[ ]?(?:말|중|末)?[ ]?(?:까지[ ]?(?:\S+[ ]){0,2}?"
    r"(?:지원(?:됩니다|된다|합니다|한다)"
    r"|유효|가능합니다|가능하다"
    r"|진행됩니다|진행된다)"
    r"|まで(?:有効|サポートされます"
    r"|利用できます|利用可能))"
)
_PLAN_AFTER = re.compile(
    r"[^.。\n]{0,30}?(?:(?<!중단 )예정(?:입니다|이다|\b)"
    r"|予定(?:です|である|。))"
)
_BEFORE_CHARS, _AFTER_CHARS = 90, 60
_SENTENCE = re.compile(r"[.!?;:]\s|\n[ \t]*\n|[。|]|다\.")


_MEASURED = re.compile(
    r"\b(?:benchmarks?|measured|milliseconds|seconds on|MB/s)\b"
    r"|\b(?:theoretical|hypothetical|suppose|imagine|for example, if)\b"
    r"|\b(?:can|able to|works?|supported)[ ]as of[ ]",
    re.IGNORECASE,
)
"""What tells a measurement or an invented case, which stay, or since when something is so."""

_IS_NAME = re.compile(
    r"[`*_\"')]*[ -]?(?:(?i:revision|spec|specification|version|edition|release|update)"
    r"|리비전|사양|버전|판|版|[A-Z]{2})"
)
_NAMED = re.compile(r"\b(?:revision|spec|specification|version|edition)[ ]\Z", re.IGNORECASE)
"""What stands beside a date that names a version."""


class _Period(NamedTuple):
    """A day, a month or a year in a text at [start, end), and its last day."""

    start: int
    end: int
    last: date


class StaleDate(Rule):
    """A statement is tied to a date that has passed.

    `as of <date>` is reported when it is older than `review.stale_days` and tells a state, such as
    what is available; `valid until`, `planned for` and `will ... in` when their date is over.
    Readers cannot tell what holds now. Stories in the past tense, changelogs, and texts with a date
    of their own, such as posts, are not reported. Check the statement, and change it or its date.
    """

    id: ClassVar[str] = "stale-date"
    kind: ClassVar[str] = "stale"
    severity: ClassVar[SeverityName] = "suggestion"
    example: ClassVar[str] = "The certificate is valid until March 2021."

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the dates that have passed."""
        front = document.markup.front_matter
        fields = front.fields if front is not None else ()
        is_dated = any(name.lower() in _DATE_FIELDS for name, _ in fields)
        source = document.source
        if is_dated or _RECORD.search(source.doc_path) or source.file.suffix == ".txt":
            return  # it says what was true on its own date
        prose, done = document.prose, 0
        years = sorted(found.span() for pattern in _YEARS for found in pattern.finditer(prose))
        for start, end in years:
            if start < done:
                continue
            period = _find_period(prose, start, end)
            if period is None:
                continue
            done = period.end
            today = surroundings.today
            if period.last >= today:
                continue
            reason = _judge(prose, period, today, surroundings.stale_days)
            if reason is not None:
                words = " ".join(prose[period.start : period.end].split())
                yield self.build(period.start, period.end, f"{reason}: {words}")


def _find_period(prose: str, start: int, end: int) -> _Period | None:
    """Return the date around a year."""
    first = max(0, start - _BEFORE_YEAR)
    for one in find_written_dates(prose[first : end + _AFTER_YEAR], whole=True):
        if first + one.start <= start and end <= first + one.end:
            return _Period(first + one.start, first + one.end, list_days(one.value)[1])
    for found in _SHORT_DATE.finditer(prose, first, end + _AFTER_YEAR):
        if found.start() <= start and end <= found.end():
            return _Period(found.start(), found.end(), list_days(found["year"])[1])
    return None


def _judge(prose: str, period: _Period, today: date, stale_days: int) -> str | None:
    """Return what is stale about a date; None when nothing is."""
    before = prose[max(0, period.start - _BEFORE_CHARS) : period.start]
    ends = [found.end() for found in _SENTENCE.finditer(before)]
    before = " ".join(before[ends[-1] if ends else 0 :].split()) + " "
    after = prose[period.end : period.end + _AFTER_CHARS].replace("\n", " ")
    is_name = _IS_NAME.match(after) or _NAMED.search(before)
    if after.startswith("?") or is_name or _MEASURED.search(before + after):
        return None
    if _AS_OF.search(before) or _AS_OF_AFTER.match(after):
        # A state is out of date one day, and not what is so since then.
        tells_since = _SINCE.match(after) or _EVENT.search(before)
        is_english = before.rstrip().lower().endswith(("as of", "as at"))
        rest = _SENTENCE.split(after, maxsplit=1)[0]
        is_state = not is_english or _STATE.search(before) or _STATE.search(rest)
        is_old = stale_days and period.last < today - timedelta(days=stale_days)
        return (
            "the statement may be out of date" if is_old and is_state and not tells_since else None
        )
    if _PAST.search(before):
        return None
    if _UNTIL.search(before) or _UNTIL_AFTER.match(after):
        return "the date has passed"
    if _PLAN.search(before) or _PLAN_AFTER.match(after):
        return "the planned date has passed"
    return None
