"""Measures the width of text on a terminal, and removes control characters."""

import re
import unicodedata

_ELLIPSIS = "…"
_CLOSING = frozenset("、。，．！？：；）］｝」』】〉》〕ー～…")  # noqa: RUF001 - the full-width ones are meant
"""Wide signs that never begin a line."""


def measure_width(text: str) -> int:
    """Return how many cells a line of text takes."""
    return len(text) if text.isascii() else sum(map(measure_character, text))


def measure_character(character: str) -> int:
    """Return how many cells one code point takes."""
    if character < "\u0300":
        return 1
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def truncate(text: str, width: int) -> str:
    """Return text of at most `width` cells; an ellipsis stands for what was cut off."""
    if measure_width(text) <= width:
        return text
    kept, used = [], 1
    for character in text:
        used += measure_character(character)
        if used > width:
            break
        kept.append(character)
    return "".join(kept).rstrip() + _ELLIPSIS


def truncate_left(text: str, width: int) -> str:
    """Return text of at most `width` cells, cut at its beginning: the end of a path tells most."""
    if measure_width(text) <= width:
        return text
    kept: list[str] = []
    used = 1
    for character in reversed(text):
        used += measure_character(character)
        if used > width:
            break
        kept.append(character)
    return _ELLIPSIS + "".join(reversed(kept))


def pad(text: str, width: int) -> str:
    """Return text filled up with spaces to `width` cells."""
    return text + " " * (width - measure_width(text))


def wrap_text(text: str, width: int) -> list[tuple[int, int]]:
    """Return the [start, end) of each line when text is broken to `width` cells.

    Lines break at spaces, and before a wide letter where its script uses no spaces.
    """
    lines: list[tuple[int, int]] = []
    start = used = 0
    seam = 0
    for place, character in enumerate(text):
        if character == " " or _may_begin(character):
            seam = place
        used += measure_character(character)
        while used > width and place > start:
            end = seam if seam > start else place
            lines.append((start, end))
            start = end + (text[end] == " ")
            used = measure_width(text[start : place + 1])
            seam = start
    lines.append((start, len(text)))
    return [(first, last) for first, last in lines if last > first]


def _may_begin(character: str) -> bool:
    """Return whether a line may begin with a letter although no space precedes it."""
    wide = measure_character(character) == 2  # noqa: PLR2004 - two cells
    return wide and not "\uac00" <= character <= "\ud7a3" and character not in _CLOSING


_BLANKS = "\t\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029"
_DANGERS = re.compile(
    "[\x00-\x08\x0e-\x1b\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)
_BLANK = dict.fromkeys(map(ord, _BLANKS), " ")


def clean(text: str) -> str:
    """Return text for one line: blanks are spaces, what could steer a terminal is `U+FFFD`."""
    return _DANGERS.sub("\ufffd", text.translate(_BLANK))


def clean_lines(text: str) -> str:
    """Return text whose lines and tabs stay, and nothing else that could steer a terminal."""
    return "\n".join(
        "\t".join(clean(cell) for cell in line.split("\t")) for line in text.split("\n")
    )
