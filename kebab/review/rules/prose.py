"""Contains the rules about prose: marks, the glossary, passed dates and copied paragraphs."""

import calendar
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from functools import lru_cache
from typing import ClassVar, NamedTuple

from kebab.core.media import MARKDOWN
from kebab.core.review import Finding, Fix, GlossaryTerm, Surroundings
from kebab.review.document import ReviewDocument
from kebab.review.rules.rule import build_finding, is_literal, is_record, is_template
from kebab.wire.review import SeverityName

_MARK = re.compile(r"\b(?:TODO|FIXME|XXX|TBD)\b(?![-_/.]\w|\w)")
_ADDRESS = re.compile(r"(?:\([^()\n]{1,40}\))?:?[ \t]*<?https?://[^\s<>]+>?[ \t]*(?:-->|\n|\Z)")
"""What follows a mark when there is nothing but the address of an issue."""
_OPENS = re.compile(r"(?:^|[\n|(\[*_:>]|<!--|[-*+]|\d[.)]|\[[ xX]\])[ \t*_>#(\[-]*\Z")
_COMMENT_OF_CODE = re.compile(r"(?:#|//|[ \t]{4}[ \t]*+(?:#|//|/\*|\*))[ \t]*\Z")
_TASKS = re.compile(r"[:*_ \t]*(?:\n[ \t]*)+(?:[-*+]|\d+[.)])[ \t]")
"""What follows the title of a list of tasks."""
_FILLED = re.compile(r"[#:*_ \t]*(?:\n[ \t]*)+[^\s#]")
"""What follows a mark that is the whole title of a section with text."""
_CALLED = re.compile(r"(?:\([^()\n]{1,40}\))?[*_\]]*:")
_CLOSES = re.compile(r"[*_)\].]*[ \t]*(?:\n|\||-->|\Z)")
_NOUN = re.compile(
    r"[ \t]+(?:lists?|apps?|applications?|items?|comments?|files?|tasks?|notes?|marks?|markers?"
    r"|tags?|tools?|extensions?|directives?|example|examples|entries|entry|MVC|EL|LO|LA|s\b)|['’]s\b|\?",
)
_PERHAPS = re.compile(r"\b(?:potential|possible|maybe|perhaps|future)[ ]\Z", re.IGNORECASE)
_LISTED = re.compile(r"[`*_\"']*(?:[ \t]*[,/][ \t]*|[ \t]+(?:and|or)[ \t]+)[`*_\"']*[A-Z]{3,}\b")
"""What follows a mark that is one of several words."""

_WORD_ITEM = re.compile(
    r"[ \t]*+(?:[-*+|][ \t]*+|\d++[.)][ \t]*+)?+[`*_\"']*+[^\W_][\w./-]*+[`*_\"',]*+[ \t|]*+"
)
_TOTAL = frozenset({"es", "gl", "it", "pt"})
"""Languages in which `TODO` is the word for everything."""


class Todo:
    """A mark says that the text is unfinished.

    A mark in capitals, as in the example, is a note to the author, also in a comment, and a reader
    can do nothing with it. A word that only speaks about such marks, a task list `- [ ]` and code
    are not reported. Do what the mark says, or move it to where tasks are kept.
    """

    id: ClassVar[str] = "todo"
    kind: ClassVar[str] = "unfinished"
    severity: ClassVar[SeverityName] = "suggestion"
    example: ClassVar[str] = "TODO: describe the options"

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the marks."""
        del surroundings
        text = document.text
        is_list = "todo" in document.source.file.stem.lower()
        if is_list or not any(mark in text for mark in ("TODO", "FIXME", "XXX", "TBD")):
            return
        for found in _MARK.finditer(text):
            is_link = text[found.start() - 1 : found.start()] == "[" and text.startswith(
                "](", found.end()
            )
            if is_link or is_template(document):
                continue
            if _is_mark(document, found) and _is_visible(document, found.start()):
                reason = f"the text is unfinished: {found[0]}"
                yield build_finding(self, *found.span(), reason)


_ORG_STARS = re.compile(r"\*{2,}[ ]")
"""What stands before the state of a task in a file of Org."""


def _is_mark(document: ReviewDocument, found: re.Match[str]) -> bool:
    """Return whether a word is a mark and not the name of one."""
    text, start, end = document.text, found.start(), found.end()
    line = text.rfind("\n", 0, start) + 1
    if found[0] == "TODO" and document.lang in _TOTAL:
        return bool(_CALLED.match(text, end))
    opens = bool(_OPENS.search(text[max(0, start - 24) : start])) or start == 0
    is_quoted = text[max(0, start - 3) : start].strip("/#* ").endswith(('"', "'", "`", "“"))
    is_code = document.source.media != MARKDOWN and _COMMENT_OF_CODE.match(text[line:start])
    is_name = bool(_ORG_STARS.fullmatch(text, line, start))
    is_name |= text[start - 1 : start] == ">" and text.startswith("<", end)
    is_name |= is_quoted or bool(is_code) or is_literal(document, start)
    is_name |= bool(_NOUN.match(text, end) or _PERHAPS.search(text, max(0, start - 12), start))
    is_title = (opens and _TASKS.match(text, end)) or (
        text[line] == "#" and _FILLED.match(text, end)
    )
    if is_name or is_title or _ADDRESS.match(text, end):
        return False
    if _CALLED.match(text, end):
        return opens or found[0] != "XXX"
    is_named = _LISTED.match(text, end) or _is_word_item(text, start, end)
    if is_named:
        return False
    if found[0] == "TBD":  # in a row and behind a colon it is a value that nobody knows yet
        is_value = text[line] == "|" or text[line:start].rstrip(" *_").endswith(":")
        is_end = bool(_CLOSES.match(text, end)) or (opens and text[end : end + 1] in tuple(".,;"))
        return is_end and not is_value
    return found[0] != "XXX" and opens


def _is_word_item(text: str, start: int, end: int) -> bool:
    """Return whether a mark is alone in its line, and so is the word of a line beside it."""
    before, line = text[:start].rpartition("\n")[0], text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    if last < 0 or not _WORD_ITEM.fullmatch(text, line, last):
        return False
    beside = (before.rpartition("\n")[2], text[last + 1 :].partition("\n")[0])
    return any(map(_WORD_ITEM.fullmatch, beside))


def _is_visible(document: ReviewDocument, offset: int) -> bool:
    """Return whether an offset is in prose or in a comment, not in code."""
    if not document.prose[offset].isspace():
        return True
    spans = document.markup.code
    index = bisect_right(spans, (offset, len(document.text))) - 1
    return index >= 0 and document.text.startswith("<!--", spans[index][0])


class _Glossary(NamedTuple):
    pattern: re.Pattern[str]
    preferred: dict[str, str]
    """The preferred term by the forbidden one; those without capitals stand for any case."""


_DENSE_START = re.compile(
    r"[\u0e00-\u0eff\u1100-\u11ff\u3040-ヿ\u3130-\u318f\u3400-\u9fff가-\ud7af]"
)


class ForbiddenTerm:
    """A term is used for which the glossary has another one.

    The settings name the terms under `review.glossary`. A forbidden term without capitals is found
    in any case, one with capitals only as it is written. Terms are whole words, except in scripts
    without blanks between words. Code, addresses, and forbidden words inside a preferred term are
    not reported. Use the preferred term.
    """

    id: ClassVar[str] = "forbidden-term"
    kind: ClassVar[str] = "terminology"
    severity: ClassVar[SeverityName] = "warning"
    example: ClassVar[str] = "Send an e-mail to the list."

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the forbidden terms."""
        terms = tuple(surroundings.glossary)
        glossary = _compile_glossary(terms, document.lang or "") if terms else None
        if glossary is None:
            return
        for found in glossary.pattern.finditer(document.prose):
            if found["form"] is None:
                continue
            form = " ".join(found["form"].split())
            preferred = glossary.preferred.get(form) or glossary.preferred.get(form.lower())
            if preferred is not None and preferred != form:
                text = _adapt_case(preferred, form)
                yield build_finding(
                    self,
                    *found.span(),
                    f"the glossary has another term: {text}",
                    edit="replace",
                    fix=Fix(text, safe=True),
                )


@lru_cache(maxsize=32)
def _compile_glossary(terms: tuple[GlossaryTerm, ...], lang: str) -> _Glossary | None:
    """Return the terms for a language; None without any."""
    primary = lang.partition("-")[0].lower()
    chosen = [
        term for term in terms if not term.lang or term.lang.partition("-")[0].lower() == primary
    ]
    preferred = {form: term.preferred for term in chosen for form in term.forbidden}
    if not preferred:
        return None
    kept = {term.preferred for term in chosen} - preferred.keys()
    forms = sorted(preferred, key=len, reverse=True)
    pattern = "|".join(
        [
            *(_write_pattern(term) for term in sorted(kept, key=len, reverse=True)),
            f"(?P<form>{'|'.join(map(_write_pattern, forms))})",
        ]
    )
    return _Glossary(re.compile(pattern), preferred)


def _write_pattern(term: str) -> str:
    """Return the pattern of a term as a whole word; blanks stand for line breaks too."""
    pattern = r"[ \t]*[ \n][ \t]*".join(map(re.escape, term.split()))
    if term == term.lower():
        pattern = f"(?i:{pattern})"
    before = "" if _DENSE_START.match(term[0]) else r"(?<!\w)"
    after = "" if _DENSE_START.match(term[-1]) else r"(?![^\W\u0e00-\uffff])"
    return before + pattern + after


def _adapt_case(preferred: str, form: str) -> str:
    """Return the preferred term with a capital where the form has one at its start."""
    if form[:1].isupper() and preferred == preferred.lower():
        return preferred[:1].upper() + preferred[1:]
    return preferred


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
    rf"|(?P<y3>(?:19|20)\d\d)[년年](?:[ ]?(?P<m3>\d\d?)[월月](?:[ ]?(?P<d3>\d\d?)"
    rf"[일日])?)?"
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
    r"|리비전|사양|버전|판|版|[A-Z]{2})",
)
_NAMED = re.compile(r"\b(?:revision|spec|specification|version|edition)[ ]\Z", re.IGNORECASE)
"""What stands beside a date that names a version."""


class _Period(NamedTuple):
    """A day, a month or a year in a text at [start, end), and its last day."""

    start: int
    end: int
    last: date


class StaleDate:
    """A statement is tied to a date that has passed.

    `as of <date>` is reported when it is older than `review.stale_days` and tells a state, such as
    what is available; `valid until`, `planned for` and `will ... in` when their date is over.
    Readers cannot tell what holds now. Stories in the past tense, changelogs, and texts with a date
    of their own, such as posts, are not reported.
    Check the statement, and change it or its date.
    """

    id: ClassVar[str] = "stale-date"
    kind: ClassVar[str] = "stale"
    severity: ClassVar[SeverityName] = "suggestion"
    example: ClassVar[str] = "The certificate is valid until March 2021."

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the dates that have passed."""
        if is_record(document) or document.source.file.suffix == ".txt":
            return
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
                yield build_finding(self, period.start, period.end, f"{reason}: {words}")


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


def _is_state(before: str, after: str) -> bool:
    """Return whether `as of` a date tells a state, and not what is so since then."""
    if _SINCE.match(after) or _EVENT.search(before):
        return False
    is_english = before.rstrip().lower().endswith(("as of", "as at"))
    return not is_english or bool(
        _STATE.search(before) or _STATE.search(_SENTENCE.split(after, maxsplit=1)[0])
    )


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
        old = (
            stale_days
            and _is_state(before, after)
            and period.last < today - timedelta(days=stale_days)
        )
        return "the statement may be out of date" if old else None
    if _PAST.search(before):
        return None
    if _UNTIL.search(before) or _UNTIL_AFTER.match(after):
        return "the date has passed"
    if _PLAN.search(before) or _PLAN_AFTER.match(after):
        return "the planned date has passed"
    return None


_LEAST_WORDS = 40
_LEAST_CHARS = 160
"""A shorter paragraph has too few words, so counting them is saved."""

_MOST = 20
"""The most findings in a document: a document that is a copy as a whole is one fault."""

_NO_PARAGRAPH = re.compile(r"\s*(?:\||>|#|<)")
_DENSE_LETTER = re.compile("[\u3040-ヿ\u3400-\u9fff가-\ud7af]")
_DENSE_SHARE = 0.3
_CHARS_PER_WORD = 3


class NearDuplicate:
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
            if _count_words(document.prose[start:end]) < _LEAST_WORDS:
                continue
            similar = surroundings.find_similar(document.source, text.strip())
            if similar is None:
                continue
            first = start + len(text) - len(text.lstrip())
            place = f"{similar.chunk.path}:{similar.chunk.start_line}"
            reason = f"the paragraph is nearly the same as in another note: {place}"
            finding = build_finding(self, first, start + len(text.rstrip()), reason)
            yield replace(finding, cites=similar.chunk, conf=round(similar.similarity, 2))
            found += 1
            if found == _MOST:
                return


def _count_words(block: str) -> int:
    """Return the number of words; where words are not separated, three characters count as one."""
    words = len(block.split())
    if block.isascii():
        return words
    dense = len(_DENSE_LETTER.findall(block))
    return max(words, dense // _CHARS_PER_WORD) if dense > len(block) * _DENSE_SHARE else words
