"""Measures, cuts and wraps text for a terminal, and replaces control characters."""

import re
import unicodedata

_ELLIPSIS = "…"
_CLOSING = frozenset("、。，．！？：；）］｝」』】〉》〕ー～…")  # noqa: RUF001 - the full-width ones are meant
"""Wide characters that never begin a line."""


def measure_width(text: str) -> int:
    """Return the number of terminal cells of a line of text."""
    return len(text) if text.isascii() else sum(map(measure_character, text))


def measure_character(character: str) -> int:
    """Return the number of terminal cells of one code point."""
    if character < "\u0300":
        return 1
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def truncate(text: str, width: int) -> str:
    """Return text of at most `width` cells; an ellipsis replaces a cut end."""
    if measure_width(text) <= width:
        return text
    return text[: _count_fitting(text, width - 1)].rstrip() + _ELLIPSIS


def truncate_left(text: str, width: int) -> str:
    """Return text of at most `width` cells; an ellipsis replaces a cut beginning.

    This is for paths, whose end is the informative part.
    """
    if measure_width(text) <= width:
        return text
    return _ELLIPSIS + text[len(text) - _count_fitting(text[::-1], width - 1) :]


def truncate_path(path: str, width: int) -> str:
    """Return a path of at most `width` cells; an ellipsis replaces folders in its middle.

    The file name stays whole if it fits, because it is the informative part.
    """
    if measure_width(path) <= width:
        return path
    folders, _, name = path.rpartition("/")
    room = width - measure_width(name) - measure_width(f"{_ELLIPSIS}/")
    if not folders or room < 0:
        return _truncate_middle(name, width)
    head = folders[: _count_fitting(folders, room)]
    whole = head[: head.rfind("/") + 1]
    return f"{whole or head}{_ELLIPSIS}/{name}"


def _truncate_middle(text: str, width: int) -> str:
    """Return text of at most `width` cells; an ellipsis replaces its middle."""
    if measure_width(text) <= width:
        return text
    last = max(0, width - 1) // 2
    tail = text[len(text) - _count_fitting(text[::-1], last) :] if last else ""
    return text[: _count_fitting(text, width - 1 - measure_width(tail))] + _ELLIPSIS + tail


def _count_fitting(text: str, width: int) -> int:
    """Return how many characters at the beginning of a text fit in `width` cells."""
    used = 0
    for position, character in enumerate(text):
        used += measure_character(character)
        if used > width:
            return position
    return len(text)


def pad(text: str, width: int) -> str:
    """Return text padded with spaces to `width` cells."""
    return text + " " * (width - measure_width(text))


def wrap_text(text: str, width: int) -> list[tuple[int, int]]:
    """Return the [start, end) of each line when text is wrapped to `width` cells.

    Lines break at spaces, and before a wide letter of a script without spaces.
    """
    lines: list[tuple[int, int]] = []
    start = used = break_at = 0
    for position, character in enumerate(text):
        if character == " " or _can_start_line(character):
            break_at = position
        used += measure_character(character)
        while used > width and position > start:
            end = break_at if break_at > start else position
            lines.append((start, end))
            start = end + (text[end] == " ")
            used = measure_width(text[start : position + 1])
            break_at = start
    lines.append((start, len(text)))
    return [(first, last) for first, last in lines if last > first]


def _can_start_line(character: str) -> bool:
    """Return whether a line may begin with a letter that no space precedes."""
    wide = measure_character(character) == 2  # noqa: PLR2004 - two cells
    return wide and not "\uac00" <= character <= "\ud7a3" and character not in _CLOSING


_BLANKS = "\t\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029"
_CONTROLS = re.compile(
    "[\x00-\x08\x0e-\x1b\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)
_BLANK = dict.fromkeys(map(ord, _BLANKS), " ")


def clean(text: str) -> str:
    """Return text as one line: every blank is a space, and `U+FFFD` replaces control characters."""
    return _CONTROLS.sub("\ufffd", text.translate(_BLANK))


def clean_lines(text: str) -> str:
    """Return text with its lines and tabs; `U+FFFD` replaces other control characters."""
    return "\n".join(
        "\t".join(clean(cell) for cell in line.split("\t")) for line in text.split("\n")
    )
