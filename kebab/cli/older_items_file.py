"""Reads a file with items of version 1 for `review --import`."""

import sys
from pathlib import Path
from typing import Any

import msgspec

from kebab.errors.catalog import InvalidInput, TooLarge
from kebab.errors.system import translate_os_errors
from kebab.wire.record import DECODE_ERRORS, to_invalid_input
from kebab.wire.review import ItemV1

MAX_BYTES = 8_000_000
_STDIN = "-"


class _File(msgspec.Struct):
    """An object with items; its other fields are ignored."""

    items: list[ItemV1]


def read_older_items(path: str) -> list[ItemV1]:
    """Return the items of a file, or of stdin for `-`.

    The file holds a list, an object with `items`, or one item per line.

    Raises:
        InvalidInput: It holds none of these; `field` is the JSON path.
        IoError: It cannot be read.
        TooLarge: It is too large.
    """
    raw = _read_file(path).removeprefix(b"\xef\xbb\xbf")
    try:
        whole = msgspec.json.decode(raw)
    except DECODE_ERRORS:
        return _decode_lines(raw)
    is_item = isinstance(whole, dict) and "items" not in whole and "evidence" in whole
    return _convert([whole] if is_item else whole)


def _read_file(path: str) -> bytes:
    if path == _STDIN:
        raw = sys.stdin.buffer.read(MAX_BYTES + 1) if sys.stdin else b""
    else:
        with translate_os_errors(path, "read"), Path(path).open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise TooLarge(what="file with items", size=len(raw), limit=MAX_BYTES)
    return raw


def _convert(whole: Any) -> list[ItemV1]:
    """Return the items of a list, or of an object with `items`."""
    try:
        if isinstance(whole, dict):
            return msgspec.convert(whole, _File).items
        return msgspec.convert(whole, list[ItemV1])
    except (msgspec.ValidationError, RecursionError) as fault:
        raise to_invalid_input(fault) from fault


def _decode_lines(raw: bytes) -> list[ItemV1]:
    """Return the items of lines, one each; empty lines do not count."""
    items: list[ItemV1] = []
    for line in filter(None, map(bytes.strip, raw.split(b"\n"))):
        try:
            items.append(msgspec.json.decode(line, type=ItemV1))
        except DECODE_ERRORS as fault:
            found = to_invalid_input(fault)
            field = f"$[{len(items)}]{found.field.removeprefix('$')}"
            raise InvalidInput(field=field, cause=found.cause) from fault
    return items
