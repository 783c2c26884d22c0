"""Finds what CommonMark does not know: anchors, shortcodes, addresses, and the parts of HTML."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from kebab.core.review import AnchorUse, FootnoteUse, LinkUse, Span

_ADDRESS_SIGNS = ("://", "www.", "mailto:", "@")
_SCHEMES = ("https", "http", "ftp", "file")
_ADDRESS_END = re.compile(r"[^\s<>\"`|]*")
_MAIL_END = re.compile(r"@[\w-]+(?:\.[\w-]+)+", re.ASCII)
_MAIL_START = re.compile(r"[\w.+-]*\Z", re.ASCII)
_MAX_MAIL_NAME = 64
_BRACES = re.compile(
    r"\{\{[^{}\n]*(?:\n[^{}\n]*){0,20}\}\}"  # Hugo, Jinja, Liquid
    r"|\{%[^{}\n]*(?:\n[^{}\n]*){0,20}%\}"
    r"|\{:?[ \t]*[#.:/][^{}\n]*\}"  # attributes of kramdown and Pandoc
)
_OBSIDIAN_COMMENT = re.compile(r"%%[^\n%]+%%")
_LINE_MARK = re.compile(
    r"^[ \t]*(?::{3,}|!!!|\?\?\?\+?)[ \t]*[\w{}.-]*"  # containers, admonitions
    r"|^[ \t>]*\[![\w-]+\][+-]?",  # callouts
    re.MULTILINE,
)
_LINE_SIGNS = (":::", "!!!", "???", "[!")
_CODE_SHORTCODE = re.compile(r"\{(?:\{[<%][ \t]*|%-?[ \t]*)(highlight|mermaid|raw)\b[^{}]*\}+")
_CODE_END = r"\{{(?:\{{[<%][ \t]*/|%-?[ \t]*end)[ \t]*{}\b[^{{}}]*\}}+"
_TAG = re.compile(r"<([A-Za-z][\w.-]*)(\s[^<>]*)>")
_ATTRIBUTE = re.compile(
    r"\b(id|name|href|src)\s*=\s*(?:\"([^\"<>{}\n]*)\"|'([^'<>{}\n]*)')", re.IGNORECASE
)
_HTML_PART = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(script|style|pre|svg|math|textarea)\b.*?(?:</\1\s*>|\Z)"
    r"|</?[A-Za-z][^<>]*>|&#?\w{1,32};",
    re.DOTALL | re.IGNORECASE,
)
_BLOCK_ID = re.compile(r"(?:^|[ \t])(\^([A-Za-z0-9-]+))[ \t]*$", re.MULTILINE)
_LABEL = re.compile(r"^[ \t>]*\(([^()\s]+)\)=[ \t]*$", re.MULTILINE)
_ATTRIBUTE_ID = re.compile(r"\{:?[^{}\n#]*#([\w.:-]+)[^{}\n]*\}")
_FOOTNOTE = re.compile(r"(?<!\\)\[\^([^\]\[\s^]{1,100})\](?!\()")


class SpanSet:
    """Spans, merged and in order."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self.spans: list[Span] = []
        for start, end in sorted(spans):
            if self.spans and start <= self.spans[-1][1]:
                if end > self.spans[-1][1]:
                    self.spans[-1] = (self.spans[-1][0], end)
            elif end > start:
                self.spans.append((start, end))
        self._starts = [start for start, _ in self.spans]

    def __contains__(self, offset: int) -> bool:
        index = bisect_right(self._starts, offset) - 1
        return index >= 0 and offset < self.spans[index][1]


def find_addresses(text: str) -> Iterator[Span]:
    """Yield the spans of addresses of the web and of mail."""
    for sign in _ADDRESS_SIGNS:
        at = text.find(sign)
        while at >= 0:
            start, end = _find_address(text, sign, at)
            if start < end:
                yield start, end
            at = text.find(sign, max(end, at + 1))


def _find_address(text: str, sign: str, at: int) -> Span:
    """Return the span of the address with a sign at an offset; an empty one when it is none."""
    start, ends = at, _ADDRESS_END
    if sign == "://":
        scheme = next((one for one in _SCHEMES if text.endswith(one, 0, at)), "")
        start = at - len(scheme)
    elif sign == "@":
        name = _MAIL_START.search(text, max(0, at - _MAX_MAIL_NAME), at)
        start, ends = name.start() if name else at, _MAIL_END
    if start == at and sign in ("://", "@"):
        return at, at
    found = ends.match(text, at)
    return (start, at + len(found[0].rstrip(".,;:!?)]}*_'"))) if found else (at, at)


def find_shortcodes(text: str) -> Iterator[Span]:
    """Yield the spans of shortcodes, attributes, and the marks of containers and callouts."""
    if "{" in text:
        yield from (match.span() for match in _BRACES.finditer(text))
    if "%%" in text:
        yield from (match.span() for match in _OBSIDIAN_COMMENT.finditer(text))
    if any(sign in text for sign in _LINE_SIGNS):
        yield from (match.span() for match in _LINE_MARK.finditer(text))


def find_code_shortcodes(text: str) -> Iterator[Span]:
    """Yield the spans of shortcodes around code; one that is not closed is none."""
    end, unclosed = 0, set()
    for opening in _CODE_SHORTCODE.finditer(text) if "{" in text else ():
        if opening.start() < end or opening[1] in unclosed:
            continue
        closing = re.compile(_CODE_END.format(opening[1])).search(text, opening.end())
        if closing is None:
            unclosed.add(opening[1])
        else:
            end = closing.end()
            yield opening.start(), end


def find_html_parts(html: str) -> Iterator[tuple[Span, bool]]:
    """Yield the spans of a block of HTML that are no prose, and whether they are tags.

    The others are comments and hidden elements such as scripts.
    """
    for match in _HTML_PART.finditer(html):
        yield match.span(), not match[1] and not match[0].startswith("<!--")


def find_html_links(text: str, hidden: SpanSet) -> Iterator[LinkUse]:
    """Yield the links and images that are written as HTML."""
    if "href" not in text and "src" not in text:
        return
    for tag, attribute in _list_attributes(text, ("a", "href"), ("img", "src"), hidden=hidden):
        group = 2 if attribute[2] is not None else 3
        first, last = (tag.start(2) + offset for offset in attribute.span(group))
        is_image = tag[1].lower() == "img"
        yield LinkUse(
            attribute[group].strip(), "inline", *tag.span(), (first, last), is_image=is_image
        )


def find_anchors(text: str, hidden: SpanSet) -> list[AnchorUse]:
    """Return the anchors outside headings, in order."""
    found = []
    if "id=" in text or "name=" in text:
        for tag, one in _list_attributes(text, ("", "id"), ("a", "name"), hidden=hidden):
            found.append(AnchorUse(one[2] or one[3] or "", *tag.span()))
    for sign, pattern in (("^", _BLOCK_ID), (")=", _LABEL), ("#", _ATTRIBUTE_ID)):
        if sign in text:
            matches = (one for one in pattern.finditer(text) if one.start(1) not in hidden)
            found += [AnchorUse(match[1], *match.span(1)) for match in matches]
    return sorted(found, key=lambda one: one.start)


def _list_attributes(
    text: str, *wanted: tuple[str, str], hidden: SpanSet
) -> Iterator[tuple[re.Match[str], re.Match[str]]]:
    """Yield the tags outside code that have one of these attributes, with the attribute.

    An empty name of a tag means any.
    """
    for tag in _TAG.finditer(text):
        if tag.start() in hidden:
            continue
        for attribute in _ATTRIBUTE.finditer(tag[2]):
            name, key = tag[1].lower(), attribute[1].lower()
            if any(key == one and element in ("", name) for element, one in wanted):
                yield tag, attribute
                break


def find_undefined_footnotes(
    text: str, known: Iterable[FootnoteUse], hidden: SpanSet
) -> Iterator[FootnoteUse]:
    """Yield the uses of footnotes that nothing defines; the library takes them for text."""
    if "[^" not in text:
        return
    starts = {one.start for one in known}
    for match in _FOOTNOTE.finditer(text):
        if match.start() not in starts and match.start() not in hidden:
            yield FootnoteUse(match[1], *match.span(), is_definition=False)
