"""Parses references: text that names a document, and perhaps lines of it.

Every form that kebab or another tool prints is a reference: `a.md#L5-L9`, `a.md:5-9`, `a.md:5:2`,
`a.md:5:text`, a percent-encoded URI, the URI of an MCP resource, an id, a path. A reference may
have several readings, because `#` and `:` may be part of a file's name. `kebab.app.references`
tries them in order, and the document that exists decides.
"""

import re
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from kebab.core.files import MEMBER_MARK
from kebab.text.normalize import escape_undecodable


class Lines(NamedTuple):
    """The lines that a reference names, 1-based and inclusive."""

    first: int
    last: int


class Reading(NamedTuple):
    """One meaning of a reference: a name, and what follows the name.

    `place` is a fragment without line numbers, such as `page=3` or a heading; None without one.
    `bare` numbers stand behind a colon or alone, as in `:5` or `#2024`: in a document with pages
    they are pages, and a heading may consist of them.
    """

    name: str
    lines: Lines | None = None
    place: str | None = None
    bare: bool = False


_LINES = re.compile(r"L?(\d{1,9})(?:C\d+)?(?:-L?(\d{1,9})(?:C\d+)?)?", re.IGNORECASE)
"""A fragment such as `L5`, `5-9` or `L5C2-L9C4`; the columns behind `C` are ignored."""
_MEMBERS = frozenset({"message", "attachment"})
_PARTS = re.compile(r"(?:message=\d{1,9}|attachment=.)")
"""A fragment that names a message of a mailbox or an attachment, as some mail programs write it."""
_COLON = re.compile(r":(?=L?\d)")
_AFTER_COLON = re.compile(r"L?(\d{1,9})(?:-L?(\d{1,9}))?(?::.*)?", re.IGNORECASE | re.DOTALL)
_FILE = "file://"
_RESOURCE = "kebab://"
ID_AUTHORITY = "id"
"""The authority of the URI of a resource that is named by the id of its document."""
_MAX_COLONS = 8
_MARK = re.compile("#")
_MAX_MARKS = 8  # these limits keep the readings of a long text few


def read_reference(text: str) -> list[Reading]:
    """Return the readings of a reference, the one that wins first.

    The whole text as a name comes first. A fragment is read as part of a URI, whose escapes are
    decoded, before it is read behind a plain name.
    """
    plain = escape_undecodable(text)
    if plain.startswith(_FILE):
        _, _, path = plain.removeprefix(_FILE).partition("/")
        return _read_uri(f"/{path}")
    if plain.startswith(_RESOURCE):
        authority, _, path = plain.removeprefix(_RESOURCE).partition("/")
        return _read_uri(path if authority == ID_AUTHORITY else f"/{path}")
    readings = [Reading(plain), *_read_fragment(plain), *_read_line_numbers(plain)]
    decoded = decode_percent(plain)
    if decoded != plain:
        readings += [Reading(decoded), *_read_line_numbers(decoded)]
    return list(dict.fromkeys(readings))


def _read_uri(uri: str) -> list[Reading]:
    return [*_read_fragment(uri), Reading(decode_percent(uri))]


def _read_fragment(text: str) -> list[Reading]:
    """Return the readings of a text that ends in `#` and a fragment, longest name first.

    A heading may contain `#` too.
    """
    starts = [match.start() for match in _MARK.finditer(text)][:_MAX_MARKS]
    return [
        reading
        for start in reversed(starts)
        if start and text[start + 1 :]
        for reading in _build_readings(text[:start], text[start + 1 :])
    ]


def _build_readings(name: str, fragment: str) -> list[Reading]:
    decoded = decode_percent(name)
    if _PARTS.match(fragment):
        pairs = [part.partition("=") for part in fragment.split("&")]
        members = [pair for pair in pairs if pair[0] in _MEMBERS]
        for kind, _, value in members:
            decoded += MEMBER_MARK + decode_percent(value) + (".eml" if kind == "message" else "")
        rest = "&".join("".join(pair) for pair in pairs if pair not in members)
        return _build_readings(decoded, rest) if rest else [Reading(decoded)]
    if match := _LINES.fullmatch(fragment):
        lines, bare = _to_lines(match), fragment.isdecimal()
        return [Reading(decoded, lines, bare=bare), Reading(name, lines, bare=bare)]
    place = decode_percent(fragment)
    return [Reading(decoded, place=place), Reading(name, place=place)]


def _read_line_numbers(text: str) -> list[Reading]:
    """Return the readings of a text with `:55`, `:55-60`, `:55:7` or `:55:text`, longest first."""
    starts = [match.start() for match in _COLON.finditer(text)][:_MAX_COLONS]
    readings = []
    for start in reversed(starts):
        match = _AFTER_COLON.fullmatch(text, start + 1)
        if match and start:
            bare = text[start + 1].isdecimal()
            readings.append(Reading(text[:start], _to_lines(match), bare=bare))
    return readings


def _to_lines(match: re.Match[str]) -> Lines:
    first, last = int(match[1]), int(match[2] or match[1])
    return Lines(min(first, last), max(first, last))


def decode_percent(text: str) -> str:
    """Return text with its percent escapes decoded; escapes that are not UTF-8 stay."""
    if "%" not in text:
        return text
    try:
        return unquote_to_bytes(text).decode()
    except UnicodeDecodeError:
        return text
