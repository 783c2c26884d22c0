"""Reads the comments that ignore findings.

`<!-- kebab-ignore RULE, RULE: reason -->` means its own line, and the next one when nothing else
stands in its line. `kebab-ignore-start` … `kebab-ignore-end` mean the lines between, and
`kebab-ignore-file` the whole file. A rule of a linter has its id, such as `rumdl:MD011`; a blank
follows the colon before a reason. Without a rule all findings are meant. Comments of MDX
(`{/* … */}`) and Obsidian (`%% … %%`) count too, and in text without Markdown those that begin a
line with `#`, `//`, `%`, `;`, `--` or `..`.
"""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple, cast

from kebab.core.media import MARKDOWN
from kebab.core.review import Span
from kebab.review.document import ReviewDocument

_WORD = "kebab-ignore"


def _write_pattern(start: str, end: str) -> str:
    """Return the pattern of a comment: the word, its scope and the names; a reason may follow."""
    opening = start.partition("\\s")[0]  # from each of them the line would be read again
    names, reason = (rf"(?:(?!{sign}{end}|{opening})[^\n])*+" for sign in (rf":(?:\s|{end})|", ""))
    return rf"{start}(kebab-ignore(-start|-end|-file)?)(?![\w-])({names})(?::{reason})?{end}"


_IN_MARKDOWN = re.compile(
    "|".join(
        (
            _write_pattern(r"<!--\s*+", "-->"),
            _write_pattern(r"\{/\*\s*+", r"\*/\}"),
            _write_pattern(r"%%[ \t]*+", "%%"),
        )
    )
)
_IN_TEXT = re.compile(
    _write_pattern(r"^[ \t]*+(?:#++|//++|%++|;++|--|\.\.)[ \t]*+", "$"), re.MULTILINE
)
_GROUPS = (1, 4, 7)
"""The group of the word in each form of a comment."""
_NAME = re.compile(r"[^\s,]+")
_ONLY_SIGNS = re.compile(r"[\s>*+|-]*")
"""What may stand beside a comment that is alone in its line."""

Scope = Literal["", "-start", "-end", "-file"]


class IgnoreComment(NamedTuple):
    """A comment that ignores findings in the lines [first, last], from 1.

    `names` are rules or kinds with their places; without one every finding is ignored. `place` is
    the word that makes the comment.
    """

    names: tuple[tuple[str, Span], ...]
    place: Span
    first: int
    last: int


class _Raw(NamedTuple):
    scope: Scope
    names: tuple[tuple[str, Span], ...]
    place: Span
    line: int
    is_alone: bool


def read_ignores(document: ReviewDocument) -> list[IgnoreComment]:
    """Return the comments of a document that ignore findings, in order.

    A block without an end reaches to the end of the file; an end closes the last block with the
    same names, without names the last one.
    """
    if _WORD not in document.text:
        return []
    end = len(document.line_starts)
    found: list[IgnoreComment] = []
    opened: list[_Raw] = []
    for raw in _list_comments(document):
        if raw.scope == "-file":
            found.append(IgnoreComment(raw.names, raw.place, 1, end))
        elif raw.scope == "-start":
            opened.append(raw)
        elif raw.scope == "-end":
            names = {name for name, _ in raw.names}
            for at in range(len(opened) - 1, -1, -1):
                if not names or {name for name, _ in opened[at].names} == names:
                    start = opened.pop(at)
                    found.append(IgnoreComment(start.names, start.place, start.line, raw.line))
                    break
        else:
            last = _find_next_line(document, raw.line) if raw.is_alone else raw.line
            found.append(IgnoreComment(raw.names, raw.place, raw.line, last))
    found += [IgnoreComment(one.names, one.place, one.line, end) for one in opened]
    return sorted(found, key=lambda one: one.place)


def _list_comments(document: ReviewDocument) -> Iterator[_Raw]:
    text = document.text
    is_markdown = document.source.media == MARKDOWN
    for found in (_IN_MARKDOWN if is_markdown else _IN_TEXT).finditer(text):
        start, end = found.span()
        if is_markdown and _is_code(document, start, end):
            continue
        group = next(one for one in _GROUPS if found[one] is not None)
        line, _ = document.find_line(start)
        bounds = document.line_starts[line - 1], text.find("\n", end)
        before, after = text[bounds[0] : start], text[end : bounds[1] if bounds[1] >= 0 else None]
        names = tuple(
            (one[0], one.span())
            for one in _NAME.finditer(text, found.start(group + 2), found.end(group + 2))
        )
        is_alone = all(_ONLY_SIGNS.fullmatch(part) for part in (before, after))
        last_line, _ = document.find_line(end - 1)
        scope = cast("Scope", found[group + 1] or "")
        yield _Raw(scope, names, found.span(group), last_line if is_alone else line, is_alone)


def _is_code(document: ReviewDocument, start: int, end: int) -> bool:
    """Return whether a comment is shown as code, such as in the documentation of comments."""
    markup, text = document.markup, document.text
    return any(low <= start and end <= high for low, high in markup.code_blocks) or any(
        low < start and end <= high and text[low] == "`" for low, high in markup.code
    )


def _find_next_line(document: ReviewDocument, line: int) -> int:
    """Return the next line that is not empty."""
    for number in range(line + 1, len(document.line_starts) + 1):
        start = document.line_starts[number - 1]
        end = document.text.find("\n", start)
        if document.text[start : end if end >= 0 else None].strip():
            return number
    return line
