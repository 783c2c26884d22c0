"""Renders snippets and answers as HTML, with their marks and citation markers."""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from kebab.core.media import MARKDOWN
from kebab.server.markup import Html, escape
from kebab.server.rendering import RenderTask, clean_html, render_blocks


class TextToRender(Struct, frozen=True, forbid_unknown_fields=True):
    """A snippet or an answer.

    `marks` are the ranges of code points to mark, and `labels` their classes, `hit` unless given.
    `headings` are lines that the page shows elsewhere. With `markers` these citation markers become
    buttons, as `[1]` does.
    """

    text: str
    media: str = MARKDOWN
    marks: list[tuple[int, int]] = []
    labels: list[str] = []
    headings: list[str] = []
    markers: list[int] = []


_MOST_TEXT = 100_000
_OPEN, _CLOSE = "\ue000", "\ue001"
"""Stand for the ends of a mark while the text is rendered; the text itself loses them."""
_SIGNS = str.maketrans(dict.fromkeys(map(ord, (_OPEN, _CLOSE)), " "))
_BLOCK_SIGNS = re.compile(
    r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)]|#{1,6}|>)[ \t]+)*(?:\[!\w+\][+-]?[ \t]*)?"
)
_MARKER = re.compile(r"\[(\d{1,3})\]")
_HEADING_TAG = re.compile(r"<(/?)h[1-6]\b[^>]*>")


def render_text(wanted: TextToRender) -> Html:
    """Return the HTML of a snippet or an answer, with its marks.

    Headings become paragraphs, because the page has an outline of its own.
    """
    text, shown = _insert_marks(wanted.text[:_MOST_TEXT].translate(_SIGNS), wanted.marks)
    if wanted.headings:
        text = "\n".join(_drop_headings(text.split("\n"), {*wanted.headings}))
        # Links that the snippet cut lose their brackets.
        text = _CUT_START.sub(r"\2", _CUT_END.sub(r"\1", text))
    html: str = render_blocks(RenderTask("", "", wanted.media, text))
    html = _HEADING_TAG.sub(lambda tag: f"<{tag[1]}p>", html)
    return clean_html(_replace_signs(html, wanted, shown))


_UNDERLINE = re.compile(r"[ \t]*(?:={2,}|-{2,})[ \t]*")
_DELIMITER = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_CUT_END = re.compile(r"!?\[\[(?:[^\[\]\n|]*\|)?([^\[\]\n]*)\Z")
_CUT_START = re.compile(r"\A([^\[\]\n]*\|)?([^\[\]\n]*)\]\]")


def _drop_headings(lines: Sequence[str], elsewhere: set[str]) -> Iterator[str]:
    """Yield lines without those headings, and with a head for the rows of a table without one."""
    before = ""
    for index, line in enumerate(lines):
        bare = line.replace(_OPEN, "").replace(_CLOSE, "").strip()
        after = lines[index + 1] if index + 1 < len(lines) else ""
        is_heading = bare.startswith("#") or _UNDERLINE.fullmatch(after)
        is_rule = _UNDERLINE.fullmatch(line) and not before
        if is_rule or (is_heading and bare.strip("#").strip() in elsewhere):
            before = ""
            continue
        if bare.startswith("|") and not before.startswith("|"):
            yield from _build_head(bare, after)
        before = bare
        yield line


def _build_head(row: str, after: str) -> Iterator[str]:
    """Yield the lines that make rows a table; the snippet may begin in the middle of one."""
    if not _DELIMITER.fullmatch(after):
        columns = max(1, row.strip("|").count("|") + 1)
        yield "|" + "  |" * columns
        if not _DELIMITER.fullmatch(row):
            yield "|" + "---|" * columns


def _insert_marks(text: str, marks: Sequence[tuple[int, int]]) -> tuple[str, list[int]]:
    """Return text with a sign at both ends of marks, and which marks these are, in their order.

    None stands before the sign of a block. A mark that another one covers is left out.
    """
    parts, shown, done = list[str](), list[int](), 0
    for index, (start, end) in sorted(enumerate(marks), key=lambda item: item[1]):
        block = _BLOCK_SIGNS.match(text, text.rfind("\n", 0, start) + 1)
        first = max(start, done, block.end() if block else 0)
        if first < end <= len(text):
            parts += [text[done:first], _OPEN, text[first:end], _CLOSE]
            shown.append(index)
            done = end
    return "".join([*parts, text[done:]]), shown


def _replace_signs(html: str, wanted: TextToRender, shown: Sequence[int]) -> str:
    """Return HTML with marks in place of their signs, each within one element, and buttons."""
    known, opened, is_open, is_code = set(wanted.markers), 0, False, False

    def build_button(match: re.Match[str]) -> str:
        number = match[1]
        if is_code or int(number) not in known:
            return match[0]
        return f'<button type="button" class="marker" data-marker="{number}">{number}</button>'

    parts = []
    for piece in _TAG_OR_SIGN.split(html):
        if piece == _OPEN:
            opened, is_open = opened + 1, True
        elif piece == _CLOSE:
            is_open = False
        elif piece.startswith("<"):
            is_code = piece.startswith("<code") or (is_code and not piece.startswith("</code"))
            parts.append(piece.replace(_OPEN, "").replace(_CLOSE, ""))
        elif is_open and piece.strip() and opened <= len(shown):
            index = shown[opened - 1]
            name = wanted.labels[index] if index < len(wanted.labels) else "hit"
            inner = _MARKER.sub(build_button, piece)
            parts.append(f'<mark class="{escape(name)}" data-mark="{index}">{inner}</mark>')
        else:
            parts.append(_MARKER.sub(build_button, piece))
    return "".join(parts)


_TAG_OR_SIGN = re.compile(f"(<[^<>]*>|{_OPEN}|{_CLOSE})")
