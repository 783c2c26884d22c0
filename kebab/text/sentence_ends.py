"""Finds the ends and starts of sentences in any script.

`find_sentence_ends` reads a paragraph, `find_sentence_starts` a raw text with its lines. A possible
abbreviation ends no sentence, because half a sentence costs a reader more than a long one.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator

from kebab.text.normalize import split_names

_WIDE_STOPS = "\u3002\uff01\uff1f\uff61\uff0e"
_WIDE = frozenset(_WIDE_STOPS)
"""Stops of scripts without blanks; a blank follows any other stop."""

_STOPS = ".!?\u2026\u203c\u2047\u2048\u2049\u0964\u0965\u061f\u06d4" + _WIDE_STOPS
_find_stops = re.compile(f"[{_STOPS}][{_STOPS}]*(?:(?![A-Za-z0-9])|(?<=[{_WIDE_STOPS}]))").finditer
"""Runs of stops, without the points in numbers and file names."""

_CLOSERS = "[\"'\u201d\u2019\u00bb)\\]*_}]*"
_NOTES = r"(?:\s?\[\d{1,3}\])*"
_match_closing = re.compile(
    rf"{_CLOSERS}(?:\s?\[\d{{1,3}}\]|\[(?!\d{{1,3}}\])[^\[\]\n]{{1,24}}\])*(?=\s|$)"
    r"(?=[\s\"'\u201c\u2018\u00ab(\[*_{\u00bf\u00a1]*+(\S?))"
).match
"""Closing signs after a stop, notes in brackets, and the first sign of the next sentence."""

_WIDE_CLOSERS = "[\u300d\u300f\uff09\u3011\u3009\u300b\uff3d\u201d\u2019\"')\\]*_]"
_match_wide_closing = re.compile(
    rf"(?:{_WIDE_CLOSERS}++(?![\u3041-\u309f\u3001\uff0c,])|(?!{_WIDE_CLOSERS})){_NOTES}"
).match
"""The same after a full-width stop; a particle after a quotation continues the sentence."""

_find_unsplit = re.compile(
    r"`[^`\n]{1,200}`|\]\([^()\s]{1,500}\)"
    r"|\u300c[^\u300c\u300d]{0,300}\u300d|\u300e[^\u300e\u300f]{0,300}\u300f"
    r"|\uff08[^\uff08\uff09]{0,300}\uff09"
).finditer
"""Spans that contain no sentence end: code, link targets, quotations and full-width brackets."""

_SPACE = re.compile(r"\s+")
_CAPITAL_START = r"[.!?]\s+[A-Z\u00c0-\u00de\u0410-\u042f]"

_WRAPPED = 50
"""A line of this many code points without a final stop is taken to be wrapped."""

_find_newlines = re.compile("\n[\\s]*").finditer
_opens_block = re.compile(r"\s*(?:[-*+>]\s|[#|]|```|~~~|\d{1,3}[.)]\s)").match
_ends_line = re.compile(f"[{_STOPS}:|][\"'\u201d\u2019\u00bb)\\]*_\\s]*$").search


_NEVER_LAST = split_names(
    "dr mr mrs ms prof st gen col lt sgt capt cmdr maj adm rev hon sen rep gov pres messrs mme"
    " mlle mt ft vs viz cf resp approx ca al e.g i.e eg ie z.b d.h bzw usw evtl ggf inkl sog"
    " bspw \u0433 \u0433\u0433 \u0443\u043b \u0434\u0440"
    " \u0442.\u0435 \u0442.\u0434 \u0441\u043c"
)
_BEFORE_NUMBERS = split_names(
    "no nos nr fig figs eq eqs p pp vol vols ch sec sect art para ref refs ver v c s bd tab"
    " jan feb mar apr jun jul aug sep sept oct nov dec n\u00ba"
)
_SOMETIMES_LAST = split_names("inc ltd co corp llc bros jr sr etc dept univ est assn ave blvd rd")
_DEPENDING = _BEFORE_NUMBERS | _SOMETIMES_LAST
_STARTERS = split_names(
    "the a an in on at it he she they we i you this that these those his her its their there"
    " however but and when while after before during since although as for from by with if not"
    " some many most other one two three both each all no also today later another what who"
    " how der die das ein eine er sie es im le la les il elle el los las"
)
_MONTHS = split_names(
    "januar februar m\u00e4rz april mai juni juli august september oktober november dezember"
)
_REACH = 40
"""How many code points around a full stop are read."""

_LONGEST_MARK = 3
"""The most digits of the number of a list item; a line may begin with a year."""

_find_word_before = re.compile(r"[\w.\u00b0\u00ba'-]{1,24}$").search
_match_word_after = re.compile(r"[\W_]*([^\W\d_]+)").match


def find_sentence_ends(part: str) -> Iterator[int]:
    """Yield the ends of the sentences of a paragraph, after closing signs and notes.

    The end of the paragraph is yielded only if it follows a stop.
    """
    wholes = [found.span() for found in _find_unsplit(part)]
    uncased = part.lstrip()[:1].islower() and not re.search(_CAPITAL_START, part)
    for stop in _find_stops(part):
        end = _find_end(part, stop, uncased=uncased)
        if end is not None and not (wholes and _is_inside(wholes, stop.start(), end)):
            yield end


def find_sentence_starts(text: str) -> list[int]:
    """Return the starts of the sentences of a text in rising order, beginning with 0.

    Markdown is not parsed: a line break starts a sentence, unless the line looks wrapped.
    """
    starts = {found.end() for found in _find_newlines(text) if not _line_goes_on(text, found)}
    starts.update(_skip_space(text, end) for end in find_sentence_ends(text))
    starts.discard(len(text))
    return sorted({0, *starts})


def _skip_space(text: str, position: int) -> int:
    """Return the position after white space."""
    found = _SPACE.match(text, position)
    return found.end() if found else position


def _find_end(part: str, stop: re.Match[str], *, uncased: bool) -> int | None:
    """Return the end of the sentence of a stop; None when the stop ends none.

    Args:
        part: A paragraph.
        stop: A run of stops in it.
        uncased: Whether its sentences start without capitals.
    """
    signs, end = stop[0], stop.end()
    if not _WIDE.isdisjoint(signs):
        begin = stop.start()
        is_decimal = (
            signs == "\uff0e"
            and part[begin - 1 : begin].isdigit()
            and part[end : end + 1].isdigit()
        )
        found = None if is_decimal else _match_wide_closing(part, end)
        return found and found.end()
    found = _match_closing(part, end)
    if found is None or _continues(signs, found[1], uncased=uncased):
        return None
    abbreviated = signs == "." and found[1] and is_abbreviation(part, stop.start(), end)
    return None if abbreviated else found.end()


def _continues(signs: str, following: str, *, uncased: bool) -> bool:
    """Return whether a small letter after stops continues the sentence."""
    ellipsis = signs[-1] == "\u2026" or signs.endswith("..")
    return following.islower() and (ellipsis or not uncased)


def _is_inside(wholes: list[tuple[int, int]], start: int, end: int) -> bool:
    """Return whether a span lies strictly inside of one of some spans in order."""
    before = bisect_left(wholes, (start,)) - 1
    return before >= 0 and end < wholes[before][1]


def _line_goes_on(text: str, newline: re.Match[str]) -> bool:
    """Return whether a sentence continues after a line break and its blanks."""
    start, end = newline.span()
    begin = text.rfind("\n", 0, start) + 1
    if end - start > 1 or start - begin < _WRAPPED or text[begin] == "#":
        return False
    if end == len(text) or _opens_block(text, end):
        return False
    ended = _ends_line(text, begin, start)
    return not ended or (ended[0][0] == "." and is_abbreviation(text, ended.start(), end))


def is_abbreviation(text: str, stop: int, after: int) -> bool:
    """Return whether the full stop at a position belongs to the word before it.

    Args:
        text: The text.
        stop: The position of the full stop.
        after: The position after the stop and its closing signs.
    """
    word = _read_word(text, stop)
    if word in _NEVER_LAST:
        return True
    if not (word in _DEPENDING or word.isdigit() or _is_initials(word)):
        return False
    following = text[after : after + _REACH].lstrip()
    named = _match_word_after(following)
    start = named[1].lower() if named else ""
    if word.isdigit():
        return start in _MONTHS or _marks_item(text, stop - len(word), word)
    if word in _BEFORE_NUMBERS and following[:1].isdigit():
        return True
    return (word in _SOMETIMES_LAST or _is_initials(word)) and start not in _STARTERS


def _marks_item(text: str, start: int, number: str) -> bool:
    """Return whether a number begins a line, as those of list items do."""
    begin = text.rfind("\n", 0, start) + 1
    return len(number) <= _LONGEST_MARK and not text[begin:start].strip(" \t>(")


def _read_word(text: str, end: int) -> str:
    """Return the word that ends at a position, in lower case."""
    word = text[max(0, end - _REACH) : end].rpartition(" ")[2]
    if not word.isalpha():
        found = _find_word_before(word)
        word = found[0].strip("'") if found else ""
    return word.lower()


def _is_initials(word: str) -> bool:
    """Return whether a lower-case word is letters with full stops between: `j`, `u.s`, `p.m`."""
    return (len(word) == 1 or word[1:2] == ".") and all(
        len(letter) == 1 and letter.islower() for letter in word.split(".")
    )
