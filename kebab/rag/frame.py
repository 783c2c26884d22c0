"""Removes the frame of the prompt from what a model writes: tags and locations.

Small models repeat parts of the prompt. A tag with a marker inside a line becomes that marker.
"""

import re

from kebab.rag.prompt import NOT_IN_NOTES

_NAME = r"(?:evidence|passage)"
_TAG = (
    rf"(?:[<\[(＜‹〈][ \t]?(?P<shut>/?)[ \t]?{_NAME}-[0-9a-f]{{3,40}}(?![0-9a-z])"
    rf"(?:[ \t]{{0,2}}\[(?P<number>\d{{1,3}})\])?(?:[ \t]?[>\])＞›〉])?"
    rf"|(?<![\w-]){_NAME}-[0-9a-f]{{3,40}}[ \t]{{1,2}}\[(?P<bare>\d{{1,3}})\](?:[ \t]?>)?"
    rf"|(?<![\w-]){_NAME}-(?=[a-f]{{0,7}}[0-9])[0-9a-f]{{8}}(?![\w-])>?"
    rf"|<[ \t]?/?[ \t]?{_NAME}[ \t]?\[?(?P<plain>\d{{1,3}})\]?[ \t]?>"
    r")"
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
_MAX_ROUNDS = 4


def remove_frame(text: str) -> str:
    """Return a text without tags and locations of the prompt."""
    for _ in range(_MAX_ROUNDS):
        before = text
        text = _ANY_TAG.sub(_build_marker, _TAG_LINE.sub("", text))
        text = _FROM.sub(r"\g<markers>", text)
        for pattern in (_LOCATION_LINE, _LOCATION, _FRAME_LINE):
            text = pattern.sub("", text)
        text = _CUT_TAG.sub("", text)
        text = _LAST_REPLY.sub("", text)
        if text == before:
            break
    return text


def _build_marker(found: re.Match[str]) -> str:
    """Return the marker of an opening tag, empty for other tags."""
    number = found["number"] or found["bare"] or found["plain"]
    return f"[{number}]" if number and not found["shut"] else ""
