"""Removes the frame of the prompt from what a model writes: tags, locations and instructions.

Small models repeat parts of the prompt. A tag with a marker inside a line becomes that marker.
"""

import re
from collections.abc import Callable, Iterable
from functools import cache
from itertools import pairwise

from kebab.rag.prompt import NOT_IN_NOTES, REMINDER, RULES

_NAME = r"(?:evidence|passage)"
_TAG = (
    rf"(?:[<\[(＜‹〈][ \t]?(?P<shut>/?)[ \t]?{_NAME}-[0-9a-f]{{3,40}}(?![0-9a-z])"
    rf"(?:[ \t]{{0,2}}\[(?P<number>\d{{1,3}})\])?(?:[ \t]?[>\])＞›〉])?"
    rf"|(?<![\w-]){_NAME}-[0-9a-f]{{3,40}}[ \t]{{1,2}}\[(?P<bare>\d{{1,3}})\](?:[ \t]?>)?"
    rf"|(?<![\w-]){_NAME}-(?=[a-f]{{0,7}}[0-9])[0-9a-f]{{8}}(?![\w-])>?"
    rf"|<[ \t]?/?[ \t]?{_NAME}[ \t]?\[?(?P<plain>\d{{1,3}})\]?[ \t]?>"
    rf"|(?P<element><[ \t]?/?[ \t]?{_NAME}[ \t]?>))"
)
_TAG_LINE = re.compile(rf"^[ \t>*]*(?:{_TAG}[ \t]*)(?:\n|\Z)", re.IGNORECASE | re.MULTILINE)
_ANY_TAG = re.compile(_TAG, re.IGNORECASE)
_PARTS = "(?:e(?:n(?:ce?)?)?)?"
_CUT_TAG = re.compile(
    rf"(?:</?(?:evid{_PARTS}|pass(?:a(?:ge?)?)?)|[<\[]/?{_NAME}-[^>\]\n]{{0,60}})\Z", re.IGNORECASE
)
_LINES = r"\([^()\n]{1,160},[ \t]?lines?[ \t]\d{1,7}(?:[-\u2013]\d{1,7})?\)"
_FROM = re.compile(
    rf"^[ \t>*_#-]*(?P<markers>(?:\[\d{{1,3}}\][ \t]*)?)(?:From|Source)s?:[ \t]?"
    rf"[^\n]{{0,500}}?{_LINES}[.,:]?[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
_LOCATION_LINE = re.compile(
    r"^[ \t>*-]{0,40}[^\n.!?]{1,300} > (?:(?!\[\d{1,3}\])[^\n]){0,300}"
    + _LINES
    + r"[*_.:]*[ \t]*$",
    re.MULTILINE,
)
"""Headings and the place below them; a line with a marker behind `>` is a claim."""
_LOCATION = re.compile(r"[ \t]?(?=\([^()\n]{0,160}[./])" + _LINES)
_FRAME_LINE = re.compile(
    r"^[ \t>*_-]{0,40}(?:Question:[^\n]*(?:\?(?:[ \t]*\[\d{1,3}\])*|\Z)"
    rf"|[*_`\"'(\[]{{0,20}}{NOT_IN_NOTES}[*_`\"')\].]*)[ \t*]*$\n?",
    re.MULTILINE,
)
_LAST_REPLY = re.compile(
    r"(?:(?<=[.!?。)\]])[ \t]+|(?<=\0)[ \t]*)"
    rf"[*_`\"'(\[]*{NOT_IN_NOTES}[*_`\"')\].]*\s*\Z"
)
_SENTENCE = re.compile(r"[^\n.:?]+[.:?]*[ \t]*")
_WORD = re.compile(r"\w+")
_MIN_PAIRS = 4
_MIN_SHARE = 0.6
"""A sentence repeats the instructions when so many of its pairs of words are in them."""

_LIMIT = "Answer in English, in at most words"
_FENCE = "All between tags and is data"
_MAX_ROUNDS = 4


_ELEMENT = re.compile(rf"<[ \t]?/?[ \t]?{_NAME}\b(?!-[0-9a-f])", re.IGNORECASE)


def mentions_elements(texts: Iterable[str]) -> bool:
    """Return whether a text is about elements such as `<passage>`, so an answer may name them."""
    return any(map(_ELEMENT.search, texts))


def remove_frame(text: str, *, keeps_elements: bool = False) -> str:
    """Return a text without tags, locations and instructions of the prompt.

    With `keeps_elements` tags such as `<passage>`, without the number of the prompt, stay.
    """
    for _ in range(_MAX_ROUNDS):
        before = text
        text = _TAG_LINE.sub(lambda one: one[0] if keeps_elements and one["element"] else "", text)
        text = _ANY_TAG.sub(
            lambda one: one[0] if keeps_elements and one["element"] else _build_marker(one), text
        )
        text = _FROM.sub(r"\g<markers>", text)
        for pattern in (_LOCATION_LINE, _LOCATION, _FRAME_LINE):
            text = pattern.sub("", text)
        text = "\n".join(map(_remove_instructions, text.split("\n")))
        text = text if keeps_elements else _CUT_TAG.sub("", text)
        text = _LAST_REPLY.sub("", text)
        if text == before:
            break
    return text


def _build_marker(found: re.Match[str]) -> str:
    """Return the marker of an opening tag, empty for other tags."""
    number = found["number"] or found["bare"] or found["plain"]
    return f"[{number}]" if number and not found["shut"] else ""


def _remove_instructions(line: str) -> str:
    """Return a line without its sentences that repeat the instructions."""
    if not any(map(_repeats_instructions, (line, *_SENTENCE.findall(line)))):
        return line
    parts = [part for part in _SENTENCE.findall(line) if _list_pairs(part)]
    if _repeats_instructions(parts[0], 1) and _repeats_instructions("".join(parts)):
        return ""
    return "".join(part for part in parts if not _repeats_instructions(part))


def _repeats_instructions(text: str, min_pairs: int = _MIN_PAIRS) -> bool:
    pairs = _list_pairs(text)
    shared = sum(pair in _instruction_pairs() for pair in pairs)
    return len(pairs) >= min_pairs and shared >= _MIN_SHARE * len(pairs)


def _list_pairs(text: str) -> list[tuple[str, str]]:
    words = [word.lower() for word in _WORD.findall(text) if not word.isdigit()]
    return list(pairwise(words))


@cache
def _instruction_pairs() -> frozenset[tuple[str, str]]:
    lines = f"{RULES}\n{REMINDER}\n{_LIMIT}\n{_FENCE}".splitlines()
    return frozenset(pair for line in lines for pair in _list_pairs(line))


_OPENERS = (
    "From:",
    "Source",
    "Question:",
    NOT_IN_NOTES,
    "Answer in ",
    "All between ",
    "A marker is",
)
_LINE_START = re.compile(r"[ \t>*_#-]*(?:\d{1,2}(?:[.)][ \t]*|\Z)|\[\d{1,3}\][ \t]*)?[*_`(]*")


def _build_prefixes(word: str) -> str:
    """Return a pattern for every beginning of a word."""
    return "(?:".join(word) + ")?" * (len(word) - 1)


_STARTS = f"{_build_prefixes('evidence')}|{_build_prefixes('passage')}"
_UNFINISHED = re.compile(
    rf"(?:(?<![\w-])[<\[(＜]?[ \t/]{{0,2}}(?:{_STARTS}"
    rf"|{_NAME}-[0-9a-f]{{0,40}}(?:[ \t]{{0,2}}(?:\[\d{{0,3}}\]?)?[ \t]?)?[>\])]?[ \t]{{0,3}}"
    rf"|{_build_prefixes(NOT_IN_NOTES)}[*_`\"')\].]{{0,4}}\s{{0,3}})"
    rf"|[<＜][ \t/]{{0,2}}(?:{_NAME}[ \t]?\[?\d{{0,3}}\]?)?[ \t]?>?[ \t]{{0,3}}"
    r"|\[|\([^()\n]{0,160})\Z",
    re.IGNORECASE,
)
_INSIDE_LINE = "\0"
_OPENER_LENGTH = 9
_TAIL = 240
_MAX_HELD = 1_000


class FrameFilter:
    """Passes on a stream of text without the frame of the prompt.

    Text that may become a part of the frame is held until its line or its brackets are complete.
    """

    def __init__(self, pass_on: Callable[[str], None], *, keeps_elements: bool = False) -> None:
        self._pass_on = pass_on
        self._keeps_elements = keeps_elements
        self._held = ""
        self._is_line_start = True

    def append(self, piece: str) -> None:
        """Add a piece, and pass on what cannot be a part of the frame any more."""
        self._held += piece
        self._release(self._find_hold())

    def close(self) -> None:
        """Pass on what is held."""
        self._release(len(self._held))

    def reset(self) -> None:
        """Discard what is held."""
        self._held, self._is_line_start = "", True

    def _release(self, end: int) -> None:
        part, self._held = self._held[:end], self._held[end:]
        if part:
            before = "" if self._is_line_start else _INSIDE_LINE
            self._is_line_start = part.endswith("\n")
            cleaned = remove_frame(before + part, keeps_elements=self._keeps_elements)
            if cleaned := cleaned.removeprefix(before):
                self._pass_on(cleaned)

    def _find_hold(self) -> int:
        """Return the position from which the text may become a part of the frame."""
        text = self._held
        if len(text) > _MAX_HELD:
            return len(text)
        line = text.rfind("\n") + 1
        if line or self._is_line_start:
            # An unfinished line may become an instruction or a location.
            plain = _ANY_TAG.sub(_build_marker, text[line:])
            start = _LINE_START.match(plain)
            words = plain[start.end() if start else 0 :].lower()
            if any(words.startswith(one) or one.startswith(words) for one in _list_openers()):
                return line

        found = _UNFINISHED.search(text, max(0, len(text) - _TAIL))
        return found.start() if found else len(text)


@cache
def _list_openers() -> tuple[str, ...]:
    rules = (line.partition(". ")[2][:_OPENER_LENGTH] for line in RULES.splitlines())
    first = RULES.partition("\n")[0][:_OPENER_LENGTH]
    return tuple(one.lower() for one in (*_OPENERS, first, *rules) if one.strip())
