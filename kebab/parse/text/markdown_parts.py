"""Finds the parts of a Markdown document that a review looks at, with exact positions.

The library gives ranges of UTF-8 bytes, which are converted to code points as its events are read.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from operator import attrgetter
from typing import Any, Literal, NamedTuple

from kebab.core.review import FrontMatterUse, Heading, LinkUse, Markup, Span
from kebab.parse.metadata import FrontBlock, read_front_block
from kebab.parse.text.markdown_noise import (
    drop_code,
    get_options,
    has_indent,
    list_noise,
    replace_tabs,
    translate_panics,
)
from kebab.text.normalize import blank_spans, merge_spans

_ADDRESS = re.compile(
    r"(?:(?:https?|ftp|file)://|www\.|mailto:)[^\s<>\"`|（）［］「」、。，；：！？]+"
    r"|(?<![\w.+-])[\w.+-]{1,64}@[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+"
)
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
_LINE_SIGN = re.compile(r"\n[ \t>]*(?::::|!!!|\?\?\?|===|\[!)")
"""What begins a line with a mark, or the title of a tab."""
_TAG = re.compile(r"<([A-Za-z][\w.-]*)(\s[^<>]*)>")
_ATTRIBUTE = re.compile(
    r"\b(id|name|href|src)\s*=\s*(?:\"([^\"<>{}\n]*)\"|'([^'<>{}\n]*)'|([^\s\"'<>{}=]++))",
    re.IGNORECASE,
)
_HIDING = "script|style|pre|svg|math|textarea"
_HIDES = re.compile(rf"<(?:!--|(?:{_HIDING})\b)", re.IGNORECASE)
_TAGS = r"(?:</?[A-Za-z][^<>]*+>|&#?[A-Za-z0-9_]{1,32}+;)++"
_HTML_TAGS = re.compile(_TAGS)
_HTML_PART = re.compile(
    r"<!--.*?(?:-->|\Z)"
    rf"|<({_HIDING})\b.*?(?:</\1\s*>|\Z)|{_TAGS.removesuffix('++')}",
    re.DOTALL | re.IGNORECASE,
)
_BLOCK_ID = re.compile(r"(\^(?<![^ \t\n]\^)(?<!\|[ \t]\^)[A-Za-z0-9-]+)[ \t]*$", re.MULTILINE)
_LABEL = re.compile(r"^[ \t>]*\(([^()\s]+)\)=[ \t]*$", re.MULTILINE)
_ATTRIBUTE_ID = re.compile(r"\{:?[^{}\n#]*+#([\w.:+/$@-]++)[^{}\n]*+\}")


class SpanSet:
    """Spans, merged and in order."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self.spans = merge_spans(spans)
        self._starts = [start for start, _ in self.spans]

    def __contains__(self, offset: int) -> bool:
        index = bisect_right(self._starts, offset) - 1
        return index >= 0 and offset < self.spans[index][1]


def find_addresses(text: str) -> Iterator[Span]:
    """Yield the spans of addresses of the web and of mail."""
    for found in _ADDRESS.finditer(text):
        yield found.start(), found.start() + len(found[0].rstrip(".,;:!?)]}*_'"))


def find_shortcodes(text: str) -> Iterator[Span]:
    """Yield the spans of shortcodes and attributes."""
    if "{" in text:
        yield from (match.span() for match in _BRACES.finditer(text))
    if "%%" in text:
        yield from (match.span() for match in _OBSIDIAN_COMMENT.finditer(text))


def find_html_links(text: str, hidden: SpanSet) -> Iterator[LinkUse]:
    """Yield the links and images that are written as HTML."""
    if "href" not in text and "src" not in text:
        return
    for tag, attribute in _list_attributes(text, ("a", "href"), ("img", "src"), hidden=hidden):
        group = attribute.lastindex or 0
        first, last = (tag.start(2) + offset for offset in attribute.span(group))
        is_image = tag[1].lower() == "img"
        yield LinkUse(
            attribute[group].strip(), "inline", *tag.span(), (first, last), is_image=is_image
        )


def find_anchors(text: str, hidden: SpanSet, titles: SpanSet) -> Iterator[str]:
    """Yield the anchors outside headings; `titles` are those that declare their own."""
    if "id=" in text or "name=" in text:
        for tag, one in _list_attributes(text, ("", "id"), ("a", "name"), hidden=hidden):
            if tag.start() not in titles:
                yield one[one.lastindex or 0]
    for sign, pattern in (("^", _BLOCK_ID), (")=", _LABEL), ("#", _ATTRIBUTE_ID)):
        for match in pattern.finditer(text) if sign in text else ():
            if match.start(1) not in hidden and match.start(1) not in titles:
                yield match[1]


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


_HEADING_ID = re.compile(r"(?<![ \t])[ \t]*+\{:?[ \t]*[#.:/][^{}]*\}[ \t]*$")
_ID = re.compile(r"#([^\s{}*/]+)|\{/\*?[ \t]*([\w-]+)[ \t]*\*?/\}")  # the second is that of MDX
_WIKI_DESTINATION = re.compile(r"\(([^()\s]*+)[^()]*+\)")
_DEFINED_TARGET = re.compile(r"\]:\s*<?")
_LINKS = ("Link", "Image")


class BodyParts(NamedTuple):
    """What the events say. `code` has math and comments; `marks` tags and targets of links."""

    headings: list[Heading]
    links: list[LinkUse]
    code_blocks: list[Span]
    code: list[Span]
    marks: list[Span]


def read_body_parts(body: str) -> BodyParts:
    """Return the parts of a body."""
    source = replace_tabs(body) if "\t" in body else body
    found = BodyParts([], [], [], [], [])
    with translate_panics():
        options = get_options()
        from pyromark import Options, events_with_range, reference_definitions

        options |= Options.ENABLE_MATH
        events = events_with_range(source, options=options, merge_text=True)
        definitions = reference_definitions(source, options=options) if "]:" in source else {}
        walk = _Walk(source, found, definitions)
        walk.read(events)
    return found


_IS_FIRST = bytes(byte not in range(0x80, 0xC0) for byte in range(256))
"""For each byte of UTF-8 whether it is the first one of a character."""


class _Walk:
    def __init__(
        self, source: str, found: BodyParts, definitions: Mapping[str, Mapping[str, Any]]
    ) -> None:
        self._source = source
        self._found = found
        self._points: Sequence[int] = range(len(source) + 1)
        """The offset in code points for each offset in bytes."""
        if not source.isascii():
            self._points = [*accumulate(source.encode().translate(_IS_FIRST), initial=0)]
        self._definitions = {
            _fold_label(label): self.convert(one["span"]) for label, one in definitions.items()
        }
        self._end = 0
        """The offset in bytes behind the last event that may be in the text of a link."""
        self._label: list[str] | None = None
        self._open_links: list[tuple[Mapping[str, Any], int, bool]] = []
        self._wiki_end = -1
        found.marks.extend(self._definitions.values())

    def convert(self, where: Mapping[str, int]) -> Span:
        """Return a range of bytes as one of code points."""
        return self._points[where["start"]], self._points[where["end"]]

    def read(self, events: Iterable[tuple[Any, Any]]) -> None:
        """Read the events; each begins or ends an element, or is text or a mark.

        Most are text outside of headings, of which only the end is kept.
        """
        for event, where in events:
            if type(event) is str:  # a line break or a rule
                if self._label is not None and event != "Rule":
                    self._label.append(" ")
            elif "Text" in event:
                if self._label is not None or self._wiki_end >= 0:
                    self._read_text(event["Text"], self._points[where["start"]])
            elif "Html" in event:
                pass  # the start of the block was read
            elif "Start" in event:
                self._end = where["start"]
                tag = event["Start"]
                if type(tag) is dict or tag == "HtmlBlock":
                    self._open_element(tag, where)
                continue
            elif "End" in event:
                tag = event["End"]
                if tag in _LINKS or "Heading" in tag:
                    self._close_element(tag, where)
            else:
                self._read_mark(event, *self.convert(where))
            self._end = where["end"]

    def _read_text(self, text: str, start: int) -> None:
        if start == self._wiki_end and text.startswith("("):
            text = self._read_destination(text, start)
        if self._label is not None:
            self._label.append(text)

    def _read_mark(self, event: Mapping[str, str], start: int, end: int) -> None:
        ((kind, text),) = event.items()
        if kind == "InlineHtml":
            is_comment = text.startswith("<!--")
            (self._found.code if is_comment else self._found.marks).append((start, end))
        elif kind != "FootnoteReference":
            self._found.code.append((start, end))
            if self._label is not None:
                self._label.append(text)

    def _open_element(self, tag: Any, where: Mapping[str, int]) -> None:
        if tag == "HtmlBlock":
            self._read_html(*self.convert(where))
        elif "Link" in tag or "Image" in tag:
            link = tag.get("Link") or tag["Image"]
            self._open_links.append((link, self._points[where["start"]], "Image" in tag))
            self._end += 2 if "Image" in tag else 1
        elif "Heading" in tag:
            self._label = []
        elif "CodeBlock" in tag:
            self._found.code_blocks.append(self.convert(where))

    def _read_html(self, start: int, end: int) -> None:
        """Read a block of HTML: its tags are marks, its comments and hidden elements are code."""
        source, marks = self._source, self._found.marks
        if not _HIDES.search(source, start, end):
            marks += [tags.span() for tags in _HTML_TAGS.finditer(source, start, end)]
            return
        for part in _HTML_PART.finditer(source, start, end):
            span = part.span()
            if part.lastindex or source.startswith("<!--", span[0]):
                self._found.code.append(span)
            else:
                marks.append(span)

    def _close_element(self, tag: Any, where: Mapping[str, int]) -> None:
        if tag in _LINKS:
            link, begin, is_image = self._open_links.pop()
            self._add_link(link, begin, self._points[where["end"]], is_image=is_image)
        else:
            start, end = self.convert(where)
            text = " ".join("".join(self._label or ()).split())
            end -= len(self._source[start:end]) - len(self._source[start:end].rstrip())
            level = int(tag["Heading"][1:])
            # The attributes at the end of a heading may declare its anchor.
            attributes = _HEADING_ID.search(text) if text.endswith("}") else None
            anchor = None
            if attributes is not None:
                text, anchor = text[: attributes.start()].strip(), _ID.search(attributes[0])
            declared = (anchor[1] or anchor[2]) if anchor else None
            self._found.headings.append(Heading(level, text, start, end, declared))
            self._label = None

    def _add_link(self, link: Mapping[str, Any], start: int, end: int, *, is_image: bool) -> None:
        """Add a link that ends; the end of its text was the end of the last event."""
        found, target, way = self._found, link["dest_url"], link["link_type"]
        kind: Literal["inline", "reference", "wiki", "auto"]
        if isinstance(way, dict):
            target = target.rstrip("\\").strip()
            kind, span = "wiki", self._read_wiki_link(target, start + (3 if is_image else 2), end)
        elif way == "Inline":
            kind, span = "inline", self._find_destination(end)
            found.marks.append(span)
        elif way in {"Reference", "Collapsed", "Shortcut"}:
            found.marks.append((min(self._points[self._end] + 1, end), end))
            defined = self._definitions.get(_fold_label(link["id"]))
            kind, span = "reference", self._find_defined(*defined) if defined else (start, end)
        elif way in {"Autolink", "Email"}:
            found.code.append((start, end))
            kind, span = "auto", (start + 1, end - 1)
        else:
            return
        found.links.append(LinkUse(target, kind, start, end, span, is_image))

    def _read_wiki_link(self, target: str, first: int, end: int) -> Span:
        """Return where the target of a wiki link stands, and mark it when a text follows."""
        self._wiki_end = end
        pipe = self._source.find("|", first, end)
        if pipe >= 0:
            self._found.marks.append((first, pipe + 1))
        found = self._source.find(target, first, end)
        return (found, found + len(target)) if found >= 0 else (first, end - 2)

    def _find_destination(self, end: int) -> Span:
        """Return where the target of an inline link stands that ends at an offset."""
        source = self._source
        start = max(source.find("](", max(self._points[self._end] - 1, 0), end), 0) + 2
        while start < end - 1 and source[start : start + 1].isspace():
            start += 1
        if source[start : start + 1] == "<":
            last = source.find(">", start, end)
            return (start + 1, last) if last > start else (start, end - 1)
        words = source[start : end - 1].split(None, 1)
        return start, start + len(words[0] if words else "")

    def _find_defined(self, start: int, end: int) -> Span:
        opening = _DEFINED_TARGET.search(self._source, start, end)
        if opening is None:
            return start, end
        rest = self._source[opening.end() : end]
        is_quoted = opening[0].endswith("<")
        target = rest.partition(">")[0] if is_quoted else (rest.split(None, 1) or [""])[0]
        return opening.end(), opening.end() + len(target)

    def _read_destination(self, text: str, start: int) -> str:
        """Read `(target)` behind a wiki link: a link whose text has brackets; return the rest."""
        match = _WIKI_DESTINATION.match(self._source, start)
        if match is None:
            return text
        target, span = match[1], match.span(1)
        link = self._found.links.pop()
        self._found.links.append(LinkUse(target, "inline", link.start, match.end(), span))
        self._found.marks.append(span)
        return text[len(match[0]) :]


def _fold_label(label: str) -> str:
    return " ".join(label.split()).casefold()


_SURROGATES = re.compile("[\ud800-\udfff]")


def read_markup(text: str, *, is_mdx: bool = False) -> Markup:
    r"""Return the parts of a document with `\n` line ends."""
    if not text.isascii():
        text = _SURROGATES.sub("\ufffd", text)  # only the others can be encoded
    block = read_front_block(text)
    body = _blank(text, [(0, block.end)] if block else [])
    found, noise = _read_visible(body, list_noise(body, is_mdx=is_mdx))
    hidden = SpanSet([*found.code_blocks, *found.code, *_split_lines(body, noise)])
    titles = SpanSet((one.start, one.end) for one in found.headings if one.anchor)
    code = [*hidden.spans, *found.marks, *find_shortcodes(body), *find_addresses(body)]
    if _LINE_SIGN.search(f"\n{body}"):
        code += [mark.span() for mark in _LINE_MARK.finditer(body)]
    return Markup(
        headings=tuple(found.headings),
        links=tuple(
            sorted([*found.links, *find_html_links(body, hidden)], key=attrgetter("start"))
        ),
        anchors=tuple(find_anchors(body, hidden, titles)),
        front_matter=_build_front_matter(text, block) if block else None,
        code=tuple(SpanSet(code).spans),
        code_blocks=tuple(sorted(found.code_blocks)),
    )


def read_plain_markup(text: str) -> Markup:
    """Return the parts of a text without markup: its addresses."""
    return Markup(code=tuple(SpanSet(find_addresses(text)).spans))


def _read_visible(body: str, ranges: Sequence[Span]) -> tuple[BodyParts, Sequence[Span]]:
    """Return the parts of a body without its noise, and the noise.

    Ranges in blocks of code are no noise. The parts tell whether there are any when no fence can be
    hidden with the noise; mostly there are none, so that the body is read once.
    """
    has_fence = any(sign in body[start:end] for start, end in ranges for sign in ("```", "~~~"))
    if has_fence or has_indent(body, ranges):
        ranges = drop_code(body, ranges)
    noise = SpanSet(ranges).spans
    found = read_body_parts(_blank(body, noise))
    blocks = SpanSet(found.code_blocks)
    if any(start in blocks for start, _ in noise):
        noise = SpanSet(drop_code(body, ranges)).spans
        found = read_body_parts(_blank(body, noise))
    return found, noise


def _blank(text: str, spans: Iterable[Span]) -> str:
    """Return a text of the same length with blanks in spans, which are in order; lines stay."""
    return blank_spans(text, _split_lines(text, spans))


def _build_front_matter(text: str, block: FrontBlock) -> FrontMatterUse:
    end = block.end or text.find("\n")
    fields = tuple(
        (str(name), "" if value in (None, "", [], {}) else str(value)[:500])
        for name, value in block.fields.items()
    )
    return FrontMatterUse(0, end, fields)


def _split_lines(text: str, spans: Iterable[Span]) -> Iterator[Span]:
    for start, end in spans:
        offset = start
        for line in text[start:end].split("\n"):
            yield offset, offset + len(line)
            offset += len(line) + 1
