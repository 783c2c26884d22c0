"""Finds encoded and minified data in text, which nobody searches for.

A line is data when most of it is base64 or hexadecimal, or when it is very long and has hardly any
space; so are eight or more lines in a row that are nothing but base64.
"""

import re

from kebab.parse.blocks import group_lines

_LONG_LINE_CHARS = 400
_RUN_CHARS = 300
_ENCODED = re.compile(
    rf"(?:data:[\w.+/;=-]{{0,100}},)?[A-Za-z0-9+/=_%-]{{{_RUN_CHARS},}}", re.ASCII
)
_ENCODED_LINE_CHARS = 60
_ENCODED_LINE = re.compile(r"[A-Za-z0-9+/]+={0,2}", re.ASCII)
_MIN_ENCODED_LINES = 8
_MIN_CHARACTERS = 16
_DIGIT_SHARE = 0.02
_MAX_ESCAPE_SHARE = 0.2
_MINIFIED_CHARS = 2_000
_MAX_SPACE_SHARE = 0.08
_ASCII_SHARE = 0.9
_MARK_SHARE = 0.1
_MARKS = re.compile(r"[{}()\[\];:=\"'<>&|]")
_ESCAPES = re.compile(r"%[0-9A-Fa-f]{2}")


def find_blob_lines(text: str) -> set[int]:
    """Return the numbers of the lines, from 0, that are encoded or minified data."""
    lines = text.split("\n")
    wide = [number for number, line in enumerate(lines) if len(line) >= _ENCODED_LINE_CHARS]
    found = {
        number
        for number in wide
        if len(lines[number]) >= _LONG_LINE_CHARS
        and (_is_encoded(lines[number]) or _is_minified(lines[number]))
    }
    encoded = (number for number in wide if _is_encoded_part(lines[number]))
    for first, last in group_lines(encoded):
        if last - first >= _MIN_ENCODED_LINES and _is_random("".join(lines[first:last])):
            found.update(range(first, last))
    return found


def _is_encoded_part(line: str) -> bool:
    """Return whether a line can be one of many lines of base64."""
    line = line.strip(" \t>")
    return " " not in line and _ENCODED_LINE.fullmatch(line) is not None


def _is_encoded(line: str) -> bool:
    """Return whether at least half of a line is base64, hexadecimal or alike."""
    if max(map(len, line.split()), default=0) < _RUN_CHARS:
        return False
    runs = [run for run in _ENCODED.findall(line) if _is_random(run)]
    return sum(map(len, runs)) * 2 >= len(line)


def _is_random(run: str) -> bool:
    """Return whether a run has the characters of data: many, and not those of an escaped URL."""
    escaped = 3 * len(_ESCAPES.findall(run)) if "%" in run else 0
    digits = sum(map(run.count, "0123456789"))
    return (
        len(set(run)) >= _MIN_CHARACTERS
        and escaped < _MAX_ESCAPE_SHARE * len(run)
        and digits > _DIGIT_SHARE * len(run)
    )


def _is_minified(line: str) -> bool:
    """Return whether a line is code or markup without space."""
    size = len(line)
    if size < _MINIFIED_CHARS or line.lstrip().startswith("|"):
        return False
    return (
        sum(map(line.count, " \t")) < _MAX_SPACE_SHARE * size
        and len(line.encode("ascii", "ignore")) > _ASCII_SHARE * size
        and len(_MARKS.findall(line)) > _MARK_SHARE * size
    )
