"""Rates the form of a sentence: which sentences can stand as a quote.

Labels, badges, images, lists of links, headings and very short sentences say nothing on their own.
A sentence of a passage is replaced by them only when the passage has nothing else.
"""

import re
from enum import Enum

from kebab.text.layout import LayoutKind, measure_width

SHORTEST = 25
"""The fewest columns of a quote; Chinese, Japanese and Korean characters take two."""

_OPEN_ENDS = ("?", "\uff1f", "\u061f", ":", "\uff1a")
_CODE_SPAN = re.compile(r"(?P<ticks>`+)[^`\n]+(?P=ticks)")
_IMAGE = re.compile(r"!\[[^\]\n]*\](?:\([^)\n]*\)|\[[^\]\n]*\])")
_LINK = re.compile(r"\[(?P<label>[^\[\]\n]*)\](?:\([^)\n]*\)|\[[^\]\n]*\])")
_ADDRESS = re.compile(r"<?https?://[^\s<>]+>?")
_NO_SENTENCE = re.compile(
    r"(?:\([\w.:/-]+\)="  # a label of MyST
    r"|\.\.\s+\S.*"  # a label or a directive of reStructuredText
    r"|:[\w-]+:(?:\s.*)?"  # an option of a directive
    r"|`{3,}.*|~{3,}.*|:{3,}.*"  # the border of a block
    r"|(?:!!!|\?\?\?\+?|===\+?)\s\S*(?:\s+\S*)?(?:\s*\".*\")?"  # the border of a note or of a tab
    r"|\{[:#%{].*\}"  # attributes and commands of a page generator
    r"|</?[A-Za-z][^<>]*>(?:\s*</?[A-Za-z][^<>]*>)*"  # tags alone
    r"|\[[^\]\n]+\]:\s*\S+(?:\s+[\"'(].*)?)",  # the definition of a link
    re.DOTALL,
)
_DIRECTIVE = re.compile(r"\.\.\s+[\w:-]+::.*")
_MIN_LETTERS = 12
"""A sentence with links and fewer other letters and digits is a list of links."""


class SentenceForm(Enum):
    """How well a sentence stands alone; the value is the factor of its score."""

    GOOD = 1.0
    POOR = 0.8
    """A question or an announcement."""
    HEADING = 0.3
    EMPTY = 0.1
    """A label, a badge, an image, a list of links, or a tag."""


def classify_form(kind: LayoutKind, text: str) -> SentenceForm:
    """Return the form of a sentence of a block of this kind."""
    if kind is LayoutKind.CODE:
        return SentenceForm.EMPTY if _DIRECTIVE.fullmatch(text) else SentenceForm.GOOD
    letters = 1 if kind is LayoutKind.ROW else _MIN_LETTERS
    if _NO_SENTENCE.fullmatch(text) or _is_link_list(text, letters):
        return SentenceForm.EMPTY
    if kind is LayoutKind.HEADING:
        return SentenceForm.HEADING
    return SentenceForm.POOR if text.endswith(_OPEN_ENDS) else SentenceForm.GOOD


def is_short(text: str) -> bool:
    """Return whether a text is too short for a quote."""
    visible = " ".join(_LINK.sub(r"\g<label>", _IMAGE.sub("", text)).split())
    return len(visible) < SHORTEST and measure_width(visible) < SHORTEST


def _is_link_list(text: str, letters: int) -> bool:
    """Return whether a text holds links, and fewer other letters and digits than this."""
    rest, images = _IMAGE.subn("", _CODE_SPAN.sub("code", text))
    rest, links = _LINK.subn("", rest)
    rest, addresses = _ADDRESS.subn("", rest)
    return images + links + addresses > 0 and sum(map(str.isalnum, rest)) < letters
