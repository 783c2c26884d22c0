"""Renders excerpts of documents: a terminal gets drawn Markdown, a pipe gets clean lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.layout import MATCH_END, MATCH_START, StyledText
from kebab.cli.render.markup import clean_markdown
from kebab.cli.render.width import clean_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

INDENT = "    "
MARKDOWN = "text/markdown"
_NARROWEST = 20
_COLORED = Canvas(color=True)
_PAINTED_MATCH = re.compile(re.escape(_COLORED.match("|")).replace(r"\|", "([^\x1b]*)"))
_STEM = 5
_REPEATED = 0.1
"""The weight of a repeated match, as a share of a different one."""

MOST_LINES = 6
_SIGNS = re.compile(f"[{MATCH_START}{MATCH_END}]")
_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[ \t]*(\S*)", re.MULTILINE)
_HEADING = re.compile(r"#{1,6}[ \t]+([^\n]*?)[ \t#]*(?:\n|\Z)")
_ROW = re.compile(r"[ \t]*\|.*")
_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)*")


def render_excerpt(
    text: str,
    highlights: Sequence[tuple[int, int]],
    canvas: Canvas,
    *,
    media: str = MARKDOWN,
    headings: Sequence[str] = (),
    lines: int | None = MOST_LINES,
) -> Iterator[str]:
    """Yield the indented lines of an excerpt, on a terminal at most `lines` around the matches.

    First lines that repeat its `headings` are omitted.
    """
    marked = _mark_matches(text, highlights)
    if media == MARKDOWN:
        opening = _find_lost_fence(marked)
        marked = opening + marked
        if canvas.width is not None:
            marked = "\n".join(_complete_tables(marked.split("\n")))
        marked = clean_markdown(marked, emphasis=canvas.is_terminal)
        if canvas.width is None:
            marked = marked.removeprefix(opening)
        marked = _omit_heading(marked, headings)
    if canvas.width is None:
        drawn = clean_lines(_SIGNS.sub("", marked)).split("\n")
    else:
        width = max(_NARROWEST, canvas.width - len(INDENT))
        drawn = _draw(marked, media, canvas, width)
        if lines is not None and len(drawn) > lines:
            # Only a canvas with colour shows which lines have matches.
            painted = drawn if canvas.color else _draw(marked, media, _COLORED, width)
            first, last = _select_lines([_find_matches(line) for line in painted], lines)
            drawn = _cut(drawn, first, last, canvas)
    yield from (f"{INDENT}{line}".rstrip() for line in drawn if line.strip())


def _mark_matches(text: str, highlights: Sequence[tuple[int, int]]) -> str:
    """Return text with a sign before and after each match."""
    text = _SIGNS.sub("\ufffd", text)
    parts, last = [], 0
    for start, end in highlights:
        parts += [text[last:start], MATCH_START, text[start:end], MATCH_END]
        last = end
    return "".join(parts) + text[last:]


def _find_lost_fence(text: str) -> str:
    """Return the opening of the first code block when a cut lost it, otherwise nothing."""
    fences = [match[1] for match in _FENCE.finditer(text)]
    is_lost = fences and not fences[0] and (len(fences) % 2 or any(fences[1::2]))
    return "```\n" if is_lost else ""


def _complete_tables(lines: list[str]) -> Iterator[str]:
    """Yield lines with an empty head above each table that has none."""
    in_code = in_table = False
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        in_code ^= bool(_FENCE.match(line))
        is_row = not in_code and bool(_ROW.fullmatch(line))
        if is_row and not in_table and (_RULE.fullmatch(line) or not _RULE.fullmatch(following)):
            yield _build_head(line)
        yield line
        in_table = is_row


def _build_head(row: str) -> str:
    """Return an empty head for a table that begins with this row, or with its rule."""
    columns = max(1, row.strip().strip("|").replace("\\|", "").count("|") + 1)
    head = "|" + " |" * columns
    return head if _RULE.fullmatch(row) else f"{head}\n|" + "-|" * columns


def _omit_heading(text: str, headings: Sequence[str]) -> str:
    """Return text without first lines that only repeat headings."""
    shown = {_simplify(heading) for heading in headings}
    while match := _HEADING.match(text):
        rest = text[match.end() :].lstrip("\n")
        if not rest or _simplify(match[1]) not in shown:
            break
        text = rest
    return text


def _simplify(heading: str) -> str:
    return re.sub(r"[\W_]+", "", _SIGNS.sub("", heading)).casefold()


def _draw(text: str, media: str, canvas: Canvas, width: int) -> list[str]:
    """Return the lines of a text that are not blank."""
    if media == MARKDOWN:
        from kebab.cli.render.markdown import render_markdown

        lines = render_markdown(text, canvas, width)
    else:
        lines = _wrap_lines(text, canvas, width)
    return [line for line in lines if line.strip()]


def _wrap_lines(text: str, canvas: Canvas, width: int) -> list[str]:
    """Return plain text with its own lines, each wrapped."""
    wrapped = []
    styled = StyledText()
    for line in clean_lines(text).expandtabs(4).split("\n"):
        styled = StyledText(in_match=styled.in_match)
        styled.add(line)
        wrapped += list(styled.lines(width, canvas))
    return wrapped


def _find_matches(line: str) -> list[str]:
    """Return the beginnings of the matches in a painted line, so that forms of a word are one."""
    return [text[:_STEM].casefold() for text in _PAINTED_MATCH.findall(line)]


def _select_lines(matches: Sequence[Sequence[str]], most: int) -> tuple[int, int]:
    """Return the first and the end of the lines with the most different matches.

    Two of the lines are left for the ellipses.
    """
    room = max(1, most - 2)
    best, best_score = 0, -1.0
    for first in range(max(1, len(matches) - room + 1)):
        found = [match for line in matches[first : first + room] for match in line]
        score = len(set(found)) + len(found) * _REPEATED
        if score > best_score:
            best, best_score = first, score
    first = 0 if best == 1 else best
    last = first + room + (first == 0)
    return (first, len(matches)) if last >= len(matches) - 1 else (first, last)


def _cut(lines: list[str], first: int, last: int, canvas: Canvas) -> list[str]:
    """Return a range of lines; an ellipsis replaces those before and those after it."""
    ellipsis = [canvas.dim("…")]
    before, after = (ellipsis if first else []), (ellipsis if last < len(lines) else [])
    return [*before, *lines[first:last], *after]
