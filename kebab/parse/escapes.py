r"""Finds what formats write instead of characters: `&eacute;`, `\u00e9`, `\"` and alike.

Each function yields edits of a part of a text: what a reader sees instead. Line ends in escapes
become blanks, so that the lines stay those of the file.
"""

import re
from collections.abc import Iterator

from kebab.core.documents import Edit
from kebab.text.normalize import split_names

_REFERENCE = re.compile(r"&(?:#(?:[0-9]{1,7}|[xX][0-9A-Fa-f]{1,6})|[A-Za-z][A-Za-z0-9]{1,31});")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_BACKSLASH = re.compile(r"\\([!-/:-@\[-`{}~])")
_PAIR = r"[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}"
_ESCAPE = (
    rf"\\(?:(?P<pair>u{_PAIR})|u(?P<four>[0-9A-Fa-f]{{4}})|u\{{(?P<braced>[0-9A-Fa-f]{{1,6}})\}}"
    r"|U(?P<eight>[0-9A-Fa-f]{8})|x(?P<two>[0-9A-Fa-f]{2})|(?P<sign>[\"\\/bfnrt]))"
)
_ONE = re.compile(_ESCAPE)
_RUN = re.compile(f"(?:{re.sub('[?]P<[a-z]+>', '?:', _ESCAPE)})+")
_STRING = re.compile(r'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"', re.DOTALL)
_SIGNS = {'"': '"', "\\": "\\", "/": "/"}
_SURROGATES = range(0xD800, 0xE000)
_MAX_CODE_POINT = 0x10FFFF
_SOFT_HYPHEN = "\u00ad"


def find_references(text: str, start: int, end: int) -> Iterator[Edit]:
    """Yield the character references of HTML and XML."""
    if text.find("&", start, end) < 0:
        return
    from html import unescape

    for match in _REFERENCE.finditer(text, start, end):
        seen = unescape(match[0])
        if seen != match[0]:
            yield Edit(*match.span(), _clean(seen))


def find_markdown_escapes(text: str, start: int, end: int) -> Iterator[Edit]:
    """Yield the character references and the signs behind a backslash in text of Markdown.

    The sign of a table stays escaped.
    """
    for match in _BACKSLASH.finditer(text, start, end):
        yield from find_references(text, start, match.start())
        yield Edit(*match.span(), match[1])
        start = match.end()
    yield from find_references(text, start, end)


def find_html_edits(text: str, start: int, end: int) -> Iterator[Edit]:
    """Yield the comments of HTML, and the character references outside of them."""
    for comment in _COMMENT.finditer(text, start, end):
        yield from find_references(text, start, comment.start())
        yield Edit(*comment.span())
        start = comment.end()
    yield from find_references(text, start, end)


_XML_TAG = re.compile(
    r"<!--.*?-->|<!DOCTYPE(?:[^<>\[]|\[[^\]]*\])*>|<[/?!]?(?:[\w.-]+:)?([A-Za-z][\w.-]*)[^<>]*>",
    re.DOTALL,
)
_INLINE = split_names(
    "b bold code command emphasis em email filename foreignphrase hi i ital italic link literal"
    " monospace named-content option phrase quote ref replaceable sc styled-content sub subscript"
    " sup superscript term ulink underline userinput varname xref"
)
"""The elements of texts in XML within a line, which end no word."""


def find_tags(text: str, start: int, end: int) -> Iterator[Edit]:
    """Yield the tags and comments of a text in XML, and the character references between them."""
    for tag in _XML_TAG.finditer(text, start, end):
        yield from find_references(text, start, tag.start())
        yield Edit(*tag.span(), "" if tag[1] in _INLINE else " ")
        start = tag.end()
    yield from find_references(text, start, end)


def find_string_escapes(text: str, start: int, end: int) -> Iterator[Edit]:
    """Yield the escapes in strings with double quotes."""
    if text.find("\\", start, end) >= 0:
        for string in _STRING.finditer(text, start, end):
            yield from find_escapes(text, *string.span())


def find_escapes(text: str, start: int, end: int) -> Iterator[Edit]:
    """Yield the escapes of JSON and the languages like it."""
    if text.find("\\", start, end) < 0:
        return
    for run in _RUN.finditer(text, start, end):
        yield Edit(*run.span(), _ONE.sub(_read_escape, run[0]))


def find_code_escapes(text: str, start: int, end: int) -> Iterator[Edit]:
    """Yield the escapes of code that stand for characters beyond ASCII."""
    if text.find("\\u", start, end) >= 0:
        for edit in find_escapes(text, start, end):
            if not edit.text.isascii():
                yield edit


def _read_escape(match: re.Match[str]) -> str:
    """Return the character of an escape; the escape where there is no such character."""
    if match["sign"]:
        return _SIGNS.get(match["sign"], " ")
    if match["pair"]:
        high, low = int(match["pair"][1:5], 16), int(match["pair"][7:], 16)
        return chr(0x10000 + ((high - 0xD800) << 10) + low - 0xDC00)
    point = int(match["four"] or match["braced"] or match["eight"] or match["two"], 16)
    is_character = point not in _SURROGATES and point <= _MAX_CODE_POINT
    return _clean(chr(point)) if is_character else match[0]


def _clean(seen: str) -> str:
    """Return characters without controls and soft hyphens; blanks are plain."""
    return "".join(
        " " if char.isspace() or char < " " or char == "\x7f" else char
        for char in seen
        if char != _SOFT_HYPHEN
    )
