"""Renders excerpts of documents: a terminal gets drawn Markdown, a pipe gets the lines of the text.

What a reader does not need is not drawn: link targets, images, badges, HTML, comments, shortcodes,
and the syntax of wiki links, callouts and heading attributes. Code stays as it is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from kebab.cli.render.canvas import (
    MATCH_END,
    MATCH_SIGN,
    MATCH_START,
    Canvas,
    clean_lines,
    emphasise_matches,
)
from kebab.core.media import MARKDOWN
from kebab.text.normalize import compile_lazily

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_CODE = compile_lazily(
    r"^[ \t>]*(?P<mark>`{3,}|~{3,})[^\n]*$(?:.*?^[ \t>]*(?P=mark)[`~]*[ \t]*$|.*\Z)"
    r"|(?P<ticks>`+)(?!`)[^\n]*?[^`\n](?P=ticks)(?!`)",
    re.MULTILINE | re.DOTALL,
)
_KEPT = compile_lazily("\ufdd3(\\d+)\ufdd3")
"""Stands for a piece of code while noise is removed."""

_TARGET = r"\((?:[^()\s]|\([^()\s]*\))*(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)"
_LINKED = rf"(?:{_TARGET}|\([^()\s]*\Z)"
"""The target of a link; the excerpt may end within it."""
_LABEL = r"(?:[^\[\]\\]|\\.|\[[^\[\]]*\])*"
_BLOCKS = (
    "blockquote|br|caption|center|details|div|dd|dl|dt|figcaption|figure|footer|h[1-6]|header|hr"
    "|iframe|li|main|nav|ol|p|picture|pre|section|summary|table|tbody|tfoot|thead|tr|ul"
)
_INLINE = (
    "a|abbr|b|big|cite|code|col|colgroup|del|em|font|i|img|ins|kbd|mark|q|s|samp|small|source|span"
    "|strike|strong|sub|sup|svg|tt|u|var|video"
)
"""The elements of HTML that are removed; other names in angle brackets are placeholders."""
_NOISE = [
    (compile_lazily(pattern, re.MULTILINE | re.DOTALL), rest)
    for pattern, rest in (
        (r"<!--.*?(?:-->|\Z)|%%[^%\n]+%%", ""),
        # A shortcode such as `{{< glossary_tooltip text="Pod" >}}`.
        (r"\{\{[<%](?:[^}]*?\btext=\"([^\"]*)\")?.*?(?:[%>]\}\}|\Z)", r"\1"),
        # Badges.
        (rf"\[!\[[^\[\]]*\]{_TARGET}\](?:{_TARGET}|\[[^\[\]]*\])", ""),
        (r"!\[[^\[\]]*\]\([^()\s]*(?:shields\.io|badge|/workflows/|codecov)[^()]*\)", ""),
        (rf"!\[([^\[\]]*)\]{_LINKED}", r"\1"),
        # Wiki links; an embedded icon is no text.
        (r"!\[\[[^\[\]|\n#]+\.(?:svg|png)#[^\[\]\n]+\]\][ \t]?", ""),
        (r"!?\[\[(?![\s\[])[^\[\]|\n]+\|([^\[\]\n]+)\]\]", r"\1"),
        (r"!?\[\[#?(?![\s\[])([^\[\]|\n#]+)\]\]", r"\1"),
        (r"!?\[\[(?![\s\[])([^\[\]|\n#]+)#([^\[\]|\n]+)\]\]", r"\1 > \2"),
        (r"^ {0,3}\[(?!\^)[^\[\]\n]+\]:[ \t]+\S+[^\n]*$", ""),
        (r"<((?:https?|mailto|ftp):[^<>\s]+)>", r"\1"),
        (rf"(?i)</?(?:{_BLOCKS})\b[^<>]*(?:>|\Z)", "\n"),
        (r"(?i)</?t[dh]\b[^<>]*(?:>|\Z)", " "),
        (rf"(?i)</?(?:{_INLINE})\b[^<>]*(?:>|\Z)", ""),
        (rf"\[(?!\s*\])({_LABEL})\](?:{_LINKED}|\[[^\[\]\n]*\])", r"\1"),
        # The attributes of a heading.
        (r"(?<![ \t])[ \t]*\{[#:][^{}\n]*\}[ \t]*$", ""),
        (r"(?:(?<![ \t])[ \t]*\n){3,}", "\n\n"),
    )
]
"""What is removed from text beside code, and what remains of it."""
_CALLOUT = compile_lazily(r"^([ \t]*>[ \t]*)\[!(\w+)\][+-]?[ \t]*([^\n]*)", re.MULTILINE)


def clean_markdown(text: str) -> str:
    """Return Markdown without noise."""
    codes: list[str] = []

    def keep(match: re.Match[str]) -> str:
        codes.append(match[0])
        return f"\ufdd3{len(codes) - 1}\ufdd3"

    text = _CODE.sub(keep, _CALLOUT.sub(_format_callout, text.replace("\ufdd3", "\ufffd")))
    for noise, rest in _NOISE:
        text = noise.sub(rest, text)
    return _KEPT.sub(lambda match: codes[int(match[1])], text).strip("\n")


def _format_callout(match: re.Match[str]) -> str:
    """Return the first line of a callout: its kind, its title, and a hard line break."""
    margin, kind, title = match.groups()
    name = kind.capitalize()
    label = f"{name}: {title.rstrip()}" if title.strip() else name
    return f"{margin}**{label}**" + "\\" * match.string.startswith("\n", match.end())


INDENT = "    "
_PAINTED_MATCH = compile_lazily("\x1b\\[1;33m([^\x1b]*)")
"""A match as `emphasise_matches` paints it, whatever is around it."""
MOST_LINES = 6
_FENCE = compile_lazily(r"^[ \t]*(?:`{3,}|~{3,})[ \t]*(\S*)", re.MULTILINE)
_HEADING = compile_lazily(r"#{1,6}[ \t]+((?:[ \t#]*+[^ \t#\n]++)*+)[ \t#]*+(?:\n|\Z)")
_ROW = compile_lazily(r"[ \t]*\|.*")
_RULE = compile_lazily(r"[ \t]*+(?:\|[ \t]*+)?:?-+:?[ \t]*(?:\|[ \t]*+:?-*:?[ \t]*)*")


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
    if canvas.width is None:
        text = _omit_heading(text, headings) if media == MARKDOWN else text
        drawn = clean_lines(text).split("\n")
    else:
        # Colour shows which lines have matches.
        drawn = _draw(_mark_matches(text, highlights), media, headings, canvas.width - len(INDENT))
        if lines is not None and len(drawn) > lines:
            first, last = _select_lines([*map(_PAINTED_MATCH.findall, drawn)], lines)
            before, after = bool(first), last < len(drawn)
            ellipsis = ["\x1b[2m…\x1b[0m"]
            drawn = [*ellipsis * before, *drawn[first:last], *ellipsis * after]
        drawn = drawn if canvas.color else [*map(click.unstyle, drawn)]
    yield from (f"{INDENT}{line}".rstrip() for line in drawn if line.strip())


def _mark_matches(text: str, highlights: Sequence[tuple[int, int]]) -> str:
    """Return text with a sign before and after each match."""
    text = MATCH_SIGN.sub("\ufffd", text)
    parts, last = [], 0
    for start, end in highlights:
        parts += [text[last:start], MATCH_START, text[start:end], MATCH_END]
        last = end
    return "".join(parts) + text[last:]


def _complete_tables(lines: list[str]) -> Iterator[str]:
    """Yield lines with an empty head above each table that has none."""
    in_code = in_table = False
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        in_code ^= bool(_FENCE.match(line))
        is_row = not in_code and bool(_ROW.fullmatch(line))
        if is_row and not in_table and (_RULE.fullmatch(line) or not _RULE.fullmatch(following)):
            columns = max(1, line.strip().strip("|").replace("\\|", "").count("|") + 1)
            yield "|" + " |" * columns
            if not _RULE.fullmatch(line):
                yield "|" + "-|" * columns
        yield line
        in_table = is_row


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
    return re.sub(r"[\W_]+", "", MATCH_SIGN.sub("", heading)).casefold()


def _draw(text: str, media: str, headings: Sequence[str], width: int) -> list[str]:
    """Return the lines of a text in colour, without blank ones."""
    from kebab.source.content import read_front_matter

    canvas = Canvas(color=True)
    properties = read_front_matter(text) if media == MARKDOWN else None
    if media == MARKDOWN and properties is None:
        from kebab.cli.render.markdown import render_markdown

        fences = [match[1] for match in _FENCE.finditer(text)]
        # The beginning of the first block of code is not part of the excerpt.
        is_lost = fences and not fences[0] and (len(fences) % 2 or any(fences[1::2]))
        text = "\n".join(_complete_tables([*["```"] * bool(is_lost), *text.split("\n")]))
        lines = render_markdown(_omit_heading(clean_markdown(text), headings), canvas, width)
    else:
        from rich.text import Text

        lines = canvas.draw(emphasise_matches(Text(clean_lines(properties or text))), width)
    return [line for line in lines if line.strip()]


def _select_lines(matches: Sequence[Sequence[str]], most: int) -> tuple[int, int]:
    """Return the first and the end of the lines with the most different matches.

    Two of the lines are left for the ellipses.
    """
    room = max(1, most - 2)

    def count_matches(first: int) -> int:
        return len({one.casefold() for line in matches[first : first + room] for one in line})

    first = max(range(max(1, len(matches) - room + 1)), key=count_matches)
    first = 0 if first == 1 else first
    last = first + room + (first == 0)
    return (first, len(matches)) if last >= len(matches) - 1 else (first, last)
