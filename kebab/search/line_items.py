"""Reads lines to be ranked: plain text, the output of ripgrep, and JSON objects."""

import base64
import binascii
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from kebab.wire.record import DECODE_ERRORS

_COLOR = re.compile(r"\x1b\[[0-9;]*m|\x1b\]8;[^\x1b\x07]*(?:\x1b\\|\x07)")
_PLACE = re.compile(r"(?:(?P<path>[^\0\n]*?[^\0\n:]):)?(?P<line>\d+):(?:(?P<column>\d+):)?")
_CONTEXT = re.compile(r"(?P<path>[^\0\n]*?)-?(?P<line>\d+)-")
_SEPARATOR = "--"

_PLACED_SHARE = 0.5
"""When at least this share of the text lines begins with a place, it is no part of the texts."""

_TEXT_KEYS = ("text", "snippet", "content", "body", "message", "line", "title")
"""The keys of the text of an object, the first that it has."""


class LineItem(NamedTuple):
    """One line: its number in the input, its text, its place in a file, and its object."""

    number: int
    text: str
    path: str | None = None
    line: int | None = None
    item: dict[str, Any] | None = None


def read_items(lines: Sequence[str]) -> list[LineItem]:
    """Return the lines that have a text to compare."""
    found: list[LineItem] = []
    plain: list[LineItem] = []
    for index, raw in enumerate(lines):
        line = _COLOR.sub("", raw).strip("\r\n")
        fields = _parse_object(line)
        if fields is not None:
            found += _read_object(index, fields)
        elif line.strip() and line != _SEPARATOR:
            plain.append(LineItem(index, line))
    found += _split_places(plain)
    return sorted((item for item in found if item.text.strip()), key=lambda item: item.number)


def _parse_object(line: str) -> dict[str, Any] | None:
    if not line.lstrip().startswith("{"):
        return None
    try:
        fields = msgspec.json.decode(line.encode("utf-8", "replace"))
    except DECODE_ERRORS:
        return None
    return fields if isinstance(fields, dict) else None


def _read_object(index: int, fields: dict[str, Any]) -> Iterable[LineItem]:
    """Yield the item of an object; of the events of ripgrep only matches have one."""
    data = fields.get("data")
    if isinstance(data, dict) and fields.get("type") in ("begin", "end", "context", "summary"):
        return
    if isinstance(data, dict) and fields.get("type") == "match":
        number = data.get("line_number")
        yield LineItem(
            index,
            _read_text(data.get("lines")).rstrip("\r\n"),
            _read_text(data.get("path")) or None,
            number if isinstance(number, int) else None,
            fields,
        )
        return
    yield LineItem(index, _find_text(fields), item=fields)


def _read_text(value: Any) -> str:
    """Return a text of ripgrep, which is plain or, when it is not UTF-8, in base64."""
    if not isinstance(value, dict):
        return ""
    if isinstance(value.get("text"), str):
        return str(value["text"])
    try:
        return base64.b64decode(str(value.get("bytes", "")), validate=True).decode(
            "utf-8", "replace"
        )
    except binascii.Error:
        return ""


def _find_text(fields: dict[str, Any]) -> str:
    """Return the text of an object: that of a known key, else all its texts."""
    for key in _TEXT_KEYS:
        if isinstance(fields.get(key), str) and fields[key].strip():
            return str(fields[key])
    return " ".join(value for value in fields.values() if isinstance(value, str))


def _split_places(items: Sequence[LineItem]) -> Iterable[LineItem]:
    """Return items with their places cut off, if most of them begin with one."""
    matches = [_PLACE.match(item.text) for item in items]
    if sum(map(bool, matches)) < _PLACED_SHARE * len(items):
        return items
    return [
        _cut_place(item, match or _CONTEXT.match(item.text))
        for item, match in zip(items, matches, strict=True)
    ]


def _cut_place(item: LineItem, match: re.Match[str] | None) -> LineItem:
    if match is None:
        return item
    return item._replace(
        text=item.text[match.end() :], path=match["path"] or None, line=int(match["line"])
    )
