"""Yields the events of Markdown, and finds the lines that are no text for a reader.

These are, outside code: comments of HTML, MDX and Obsidian, shortcodes of Hugo and tags of Liquid,
`import` and `export` of MDX, and tags of components and of HTML without text. Only whole lines are
left out. A tag or shortcode with text for readers, such as a caption, is kept.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, AnyStr

from kebab.errors.system import translate_import_errors

if TYPE_CHECKING:
    from pyromark import Markdown, Options

_SPACE_AFTER_FENCE = re.compile(r"([`~]{3})([ \t]+)$", re.MULTILINE)
_TAB_IN_RULE = re.compile(r"[-:|] *\t")
TABLE_RULE = re.compile(r"^[ \t]{0,3}(?=[^\n]*-)(?=[^\n]*\|)[-:| \t]+$", re.MULTILINE)


def read_events(body: str) -> Iterable[tuple[Any, Any]]:
    """Return the events of a body with their ranges of bytes, text in one piece."""
    source = replace_tabs(body) if "\t" in body else body
    return _get_reader().events_with_range(source, merge_text=True)


@contextmanager
def translate_panics() -> Iterator[None]:
    """Turn a panic of native code, which is no `Exception`, into the `RuntimeError` of callers."""
    try:
        yield
    except BaseException as fault:
        if type(fault).__name__ != "PanicException":
            raise
        raise RuntimeError(str(fault)) from fault


def replace_tabs(body: str) -> str:
    """Return a body with spaces for tabs behind fences and in the rules of tables.

    They mean the same, but the library does not accept tabs there.
    """
    if "```" in body or "~~~" in body:
        body = _SPACE_AFTER_FENCE.sub(lambda fence: fence[1] + " " * len(fence[2]), body)
    if "|" in body and _TAB_IN_RULE.search(body):
        return TABLE_RULE.sub(lambda rule: rule[0].replace("\t", " "), body)
    return body


@cache
def _get_reader() -> "Markdown":
    options = get_options()
    from pyromark import Markdown

    return Markdown(options=options)


@cache
def get_options() -> "Options":
    """Return what the library reads besides CommonMark."""
    with translate_import_errors("reading Markdown", "pyromark"):
        from pyromark import Options

    return Options.ENABLE_TABLES | Options.ENABLE_FOOTNOTES | Options.ENABLE_WIKILINKS


_SHORTCODES = re.compile(
    r"^[ \t>]*(?:(?:\{\{[<%][^{}]*[%>]\}\}|\{%[^{}]*%\})[ \t]*)+$", re.MULTILINE
)
_MARK = re.compile(r"\n[ \t>]*(?:\{(?:\{[<%]|%)|</?(?:[A-Z]|/?>))")
"""What begins a line of a shortcode or a component, from the end of the line above."""

_COMPONENTS = re.compile(
    r"^[ \t]*+(?:</?(?:[A-Z](?=\w*[a-z])[\w.]*+(?:\s[^<>]*+)?/?)?>[ \t]*+)++$", re.MULTILINE
)
_COMMENT_DEFINITIONS = re.compile(
    r"^ {0,3}\[[^\[\]\n]+\]:[ \t]*(?:#|<>)[ \t]+(?:\([^\n]*\)|\"[^\n]*\"|'[^\n]*')[ \t]*$",
    re.MULTILINE,
)
"""Comments such as `[//]: # (text)`: definitions of links that lead nowhere."""
_IMPORTS = re.compile(
    r"^import\s(?:[\w*{},$\s]{1,500}\sfrom\s+)?['\"][^'\"\n]+['\"];?[ \t]*$", re.MULTILINE
)
_EXPORTS = re.compile(
    r"^export\s+(?:const|let|var|default|function|async)\b[^\n]*(?:\n[^\n]*\S[^\n]*)*", re.MULTILINE
)
_HIDDEN_ELEMENTS = (("<!--", "-->"), ("<script", "</script>"), ("<style", "</style>"))
_HTML_TEXT = re.compile(r"(?:\A|>)\s*[^\s<]")
_TEXT_ATTRIBUTE = re.compile(
    r"\b(?:alt|caption|content|description|label|summary|text|title)\s*=\s*\{?[\"']\s*[^\"'\s]",
    re.IGNORECASE,
)


def find_noise_lines(body: str, *, is_mdx: bool = False) -> set[int]:
    """Return the numbers of the lines, from 0, without text for a reader."""
    ranges = drop_code(body, list_noise(body, is_mdx=is_mdx))
    return {number for lines in _list_lines(body, "\n", ranges) for number in lines}


def drop_code(body: str, noise: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
    """Return ranges of lines without those in blocks of code."""
    # What is code depends on the lines before alone.
    before = body[: max((end for _, end in noise), default=0)]
    if "```" not in before and "~~~" not in before and not has_indent(before, noise):
        return noise  # all events of a body take much longer
    with translate_panics():
        blocks = [
            (where["start"], where["end"] - 1)
            for event, where in read_events(before)
            if "Start" in event and "CodeBlock" in event["Start"]
        ]
    code = {number for lines in _list_lines(before.encode(), b"\n", blocks) for number in lines}
    return [
        one
        for one, lines in zip(noise, _list_lines(body, "\n", noise), strict=True)
        if lines[0] not in code and lines[-1] not in code
    ]


def has_indent(body: str, ranges: Iterable[tuple[int, int]]) -> bool:
    """Return whether the first or the last line of one of the ranges is indented or quoted."""
    starts = (at for first, end in ranges for at in (first, body.rfind("\n", 0, end) + 1))
    return any(body[at] in " \t>" for at in starts)


def _list_lines(
    body: AnyStr, newline: AnyStr, ranges: Iterable[tuple[int, int]]
) -> Iterator[range]:
    line = offset = 0
    for start, end in ranges:
        line += body.count(newline, offset, start)
        offset = start
        yield range(line, line + body.count(newline, start, end) + 1)


def list_noise(body: str, *, is_mdx: bool = False) -> list[tuple[int, int]]:
    """Return the ranges of whole lines that are noise outside code, in order; they may overlap."""
    found = [*_find_comments(body, "<!--", "-->"), *_find_comments(body, "{/*", "*/}")]
    found += [*_find_obsidian_comments(body), *_find_marked_lines(body)]
    if "]:" in body:
        found += (match.span() for match in _COMMENT_DEFINITIONS.finditer(body))
    for word, pattern in (("import", _IMPORTS), ("export", _EXPORTS)):
        if (is_mdx or word == "import") and (f"\n{word} " in body or body.startswith(word)):
            found += (match.span() for match in pattern.finditer(body))
    return sorted(found)


def _find_marked_lines(body: str) -> Iterator[tuple[int, int]]:
    """Yield the runs of lines of shortcodes or components without text; few lines have a mark."""
    lines, end = f"\n{body}", 0  # a mark has the same offset there as its line in the body
    while opening := _MARK.search(lines, end):
        start = opening.start()
        match = _SHORTCODES.match(body, start) or _COMPONENTS.match(body, start)
        if match and not _TEXT_ATTRIBUTE.search(match[0]):
            yield match.span()
            end = match.end() + 1
        else:
            end = opening.end()


def _find_comments(body: str, opening: str, closing: str) -> Iterator[tuple[int, int]]:
    end = 0
    while (start := body.find(opening, end)) >= 0:
        close = body.find(closing, start + len(opening))
        if close < 0:
            return
        end = close + len(closing)
        line_start = body.rfind("\n", 0, start) + 1
        line_end = body.find("\n", end)
        line_end = len(body) if line_end < 0 else line_end
        if not body[line_start:start].strip() and not body[end:line_end].strip():
            yield line_start, line_end


def _find_obsidian_comments(body: str) -> Iterator[tuple[int, int]]:
    """Yield the runs of lines from one that begins with `%%` to one that ends with `%%`."""
    if body.count("%%") < 2:  # noqa: PLR2004 - the begin and the end
        return
    start, offset = -1, 0
    for line in body.split("\n"):
        text = line.strip()
        if start < 0 and (
            text.startswith("%% ")
            or text == "%%"
            or (len(text) > len("%%%%") and text.startswith("%%") and text.endswith("%%"))
        ):
            start = offset
            text = text[2:]
        if start >= 0 and text.endswith("%%"):
            yield start, offset + len(line)
            start = -1
        offset += len(line) + 1


def has_visible_text(html: str) -> bool:
    """Return whether a block of HTML shows text, or has some in an attribute."""
    html = html.lower()
    for opening, closing in _HIDDEN_ELEMENTS:
        kept, end = [], 0
        while (start := html.find(opening, end)) >= 0:
            close = html.find(closing, start)
            if close < 0:
                break
            kept.append(html[end:start])
            end = close + len(closing)
        html = "".join([*kept, html[end:]])
    if "<!--" in html:
        return True  # nobody means to hide the rest of a note
    return _HTML_TEXT.search(html) is not None or _TEXT_ATTRIBUTE.search(html) is not None
