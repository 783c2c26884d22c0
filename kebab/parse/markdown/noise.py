"""Finds the lines of Markdown that are not text for a reader.

These are, outside code: comments of HTML, MDX and Obsidian, shortcodes of Hugo and tags of Liquid,
`import` and `export` of MDX, and tags of components and of HTML without text. Only whole lines are
left out. A tag or shortcode with text for readers, such as a caption, is kept. Encoded and minified
data is left out everywhere.
"""

import re
from collections.abc import Iterable, Iterator

from kebab.parse.markdown.blocks import find_code_lines

_COMMENTS = (("<!--", "-->"), ("{/*", "*/}"))
_SHORTCODES = re.compile(
    r"^[ \t>]*(?:(?:\{\{[<%][^{}]*[%>]\}\}|\{%[^{}]*%\})[ \t]*)+$", re.MULTILINE
)
_SHORTCODE_MARK = re.compile(r"\{(?:\{[<%]|%)")
_COMPONENT_MARK = re.compile(r"<(?:/?[A-Z]|/?>)")
_COMPONENTS = re.compile(
    r"^[ \t]*(?:</?(?:[A-Z](?=\w*[a-z])[\w.]*(?:\s[^<>]*)?/?)?>[ \t]*)+$", re.MULTILINE
)
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
    """Return the numbers of the lines, from 0, without text for a reader.

    Raises:
        RuntimeError: The library that finds code failed.
    """
    ranges = list(_list_lines(body, sorted(_find_ranges(body, is_mdx=is_mdx))))
    code = find_code_lines(body) if ranges else set()
    return {
        number
        for lines in ranges
        if lines[0] not in code and lines[-1] not in code
        for number in lines
    }


def _list_lines(body: str, ranges: Iterable[tuple[int, int]]) -> Iterator[range]:
    """Yield the numbers of the lines of sorted ranges."""
    line = offset = 0
    for start, end in ranges:
        line += body.count("\n", offset, start)
        offset = start
        yield range(line, line + body.count("\n", start, end) + 1)


def _find_ranges(body: str, *, is_mdx: bool) -> Iterator[tuple[int, int]]:
    """Yield the ranges of noise; each is a run of whole lines."""
    for opening, closing in _COMMENTS:
        yield from _find_comments(body, opening, closing)
    yield from _find_obsidian_comments(body)
    for mark, pattern in ((_SHORTCODE_MARK, _SHORTCODES), (_COMPONENT_MARK, _COMPONENTS)):
        for match in pattern.finditer(body) if mark.search(body) else ():
            if not _TEXT_ATTRIBUTE.search(match[0]):
                yield match.span()
    for word, pattern in (("import", _IMPORTS), ("export", _EXPORTS)):
        if (is_mdx or word == "import") and (f"\n{word} " in body or body.startswith(word)):
            yield from (match.span() for match in pattern.finditer(body))


def _find_comments(body: str, opening: str, closing: str) -> Iterator[tuple[int, int]]:
    """Yield the comments that fill their lines."""
    end = 0
    while (start := body.find(opening, end)) >= 0:
        close = body.find(closing, start + len(opening))
        if close < 0:
            return
        end = close + len(closing)
        line_start = body.rfind("\n", 0, start) + 1
        line_end = body.find("\n", end)
        line_end = len(body) if line_end < 0 else line_end
        if body[line_start:start].isspace() or line_start == start:
            rest = body[end:line_end]
            if not rest.strip():
                yield line_start, line_end


def _find_obsidian_comments(body: str) -> Iterator[tuple[int, int]]:
    """Yield the runs of lines from one that begins with `%%` to one that ends with `%%`."""
    if body.count("%%") < 2:  # noqa: PLR2004 - the begin and the end
        return
    start, offset = -1, 0
    for line in body.split("\n"):
        text = line.strip()
        if start < 0 and (text.startswith("%% ") or text == "%%" or _is_comment(text)):
            start = offset
            text = text[2:]
        if start >= 0 and text.endswith("%%"):
            yield start, offset + len(line)
            start = -1
        offset += len(line) + 1


def _is_comment(line: str) -> bool:
    return len(line) > len("%%%%") and line.startswith("%%") and line.endswith("%%")


def has_visible_text(html: str) -> bool:
    """Return whether a block of HTML shows text, or has some in an attribute."""
    html = html.lower()
    for opening, closing in _HIDDEN_ELEMENTS:
        html = _remove_between(html, opening, closing)
    if "<!--" in html:
        return True  # nobody means to hide the rest of a note
    return _HTML_TEXT.search(html) is not None or _TEXT_ATTRIBUTE.search(html) is not None


def _remove_between(html: str, opening: str, closing: str) -> str:
    """Return HTML without the parts from one mark to another."""
    kept, end = [], 0
    while (start := html.find(opening, end)) >= 0:
        close = html.find(closing, start)
        if close < 0:
            break
        kept.append(html[end:start])
        end = close + len(closing)
    return "".join([*kept, html[end:]])


def hide_lines(body: str, hidden: set[int]) -> str:
    """Return a body of the same length whose hidden lines are blank."""
    if not hidden:
        return body
    lines = body.split("\n")
    for number in hidden:
        lines[number] = " " * len(lines[number])
    return "\n".join(lines)
