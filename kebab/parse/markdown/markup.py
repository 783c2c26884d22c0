"""Finds the parts of a Markdown document that a review looks at, with exact positions.

The library gives ranges of UTF-8 bytes. They are kept while its events are read and converted to
code points at the end, in one pass over the text.
"""

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Any, TypeAlias, TypeVar

from kebab.core.review import (
    FootnoteUse,
    FrontMatterUse,
    Heading,
    LinkUse,
    Markup,
    Span,
    UndefinedLabel,
)
from kebab.parse.markdown.body_parts import BodyParts, read_body_parts
from kebab.parse.markdown.frontmatter import FrontBlock, read_front_block
from kebab.parse.markdown.noise import find_noise_lines, hide_lines
from kebab.parse.markdown.text_marks import (
    SpanSet,
    find_addresses,
    find_anchors,
    find_code_shortcodes,
    find_html_links,
    find_shortcodes,
    find_undefined_footnotes,
)

_MAX_VALUE_CHARS = 500

_Placed: TypeAlias = Heading | LinkUse | FootnoteUse | UndefinedLabel
_Item = TypeVar("_Item", Heading, LinkUse, FootnoteUse, UndefinedLabel)


def read_markup(text: str, *, is_mdx: bool = False) -> Markup:
    r"""Return the parts of a document with `\n` line ends.

    Raises:
        RuntimeError: The library failed.
    """
    text = _replace_surrogates(text)
    block = read_front_block(text)
    body = _blank(text, [(0, block.end)] if block else [])
    shortcodes = list(find_code_shortcodes(body))
    body = _blank(body, shortcodes)
    noise = find_noise_lines(body, is_mdx=is_mdx)
    found = _read_body(hide_lines(body, noise))
    found.code_blocks.extend(shortcodes)
    hidden = SpanSet([*found.code_blocks, *found.code, *_list_line_spans(body, noise)])
    footnotes = [*found.footnotes, *find_undefined_footnotes(body, found.footnotes, hidden)]
    titles = SpanSet((one.start, one.end) for one in found.headings if one.anchor)
    code = [*hidden.spans, *found.marks, *find_shortcodes(body), *find_addresses(body)]
    return Markup(
        headings=tuple(found.headings),
        links=tuple(sorted([*found.links, *find_html_links(body, hidden)], key=_get_start)),
        footnotes=tuple(sorted(footnotes, key=_get_start)),
        anchors=tuple(one for one in find_anchors(body, hidden) if one.start not in titles),
        undefined=tuple(found.undefined),
        front_matter=_build_front_matter(text, block) if block else None,
        code=tuple(SpanSet(code).spans),
        code_blocks=tuple(sorted(found.code_blocks)),
    )


def read_plain_markup(text: str) -> Markup:
    """Return the parts of a text without markup: its addresses."""
    return Markup(code=tuple(SpanSet(find_addresses(text)).spans))


def _get_start(item: LinkUse | FootnoteUse) -> int:
    return item.start


def _replace_surrogates(text: str) -> str:
    """Return a text of the same length that can be encoded."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return re.sub("[\ud800-\udfff]", "\ufffd", text)
    return text


def _blank(text: str, spans: Iterable[Span]) -> str:
    """Return a text of the same length with blanks in spans, which are in order."""
    parts, done = [], 0
    for start, end in spans:
        parts += [text[done:start], re.sub(r"[^\n]", " ", text[start:end])]
        done = end
    return "".join([*parts, text[done:]])


def _build_front_matter(text: str, block: FrontBlock) -> FrontMatterUse:
    end = block.end or text.find("\n")
    fields = tuple((str(name), _to_value(value)) for name, value in block.fields.items())
    return FrontMatterUse(0, end, fields, block.fault or None)


def _to_value(value: Any) -> str:
    """Return the value of a field as text; empty when it has none."""
    return "" if value is None or value in ("", [], {}) else str(value)[:_MAX_VALUE_CHARS]


def _list_line_spans(text: str, numbers: set[int]) -> Iterable[Span]:
    """Yield the spans of the lines with these numbers."""
    if not numbers:
        return
    offset = 0
    for number, line in enumerate(text.split("\n")):
        if number in numbers:
            yield offset, offset + len(line)
        offset += len(line) + 1


def _read_body(body: str) -> BodyParts:
    """Return the parts of a body in code points."""
    found = read_body_parts(body)
    return found if body.isascii() else _convert_offsets(found, body.encode())


def _convert_offsets(found: BodyParts, source: bytes) -> BodyParts:
    """Return what was found with offsets of code points in place of bytes."""
    spans = [*found.code_blocks, *found.code, *found.marks]
    spans += [one.target_span for one in found.links]
    items: list[_Placed] = [*found.headings, *found.links, *found.footnotes, *found.undefined]
    spans += [(one.start, one.end) for one in items]
    offsets = sorted({0, *(offset for span in spans for offset in span)})
    points, count = {0: 0}, 0
    for start, end in pairwise(offsets):
        count += len(source[start:end].decode(errors="replace"))
        points[end] = count

    def convert(span: Span) -> Span:
        return points[span[0]], points[span[1]]

    def move(item: _Item) -> _Item:
        return item._replace(start=points[item.start], end=points[item.end])

    links = [move(one)._replace(target_span=convert(one.target_span)) for one in found.links]
    return BodyParts(
        list(map(move, found.headings)),
        links,
        list(map(move, found.footnotes)),
        list(map(move, found.undefined)),
        list(map(convert, found.code_blocks)),
        list(map(convert, found.code)),
        list(map(convert, found.marks)),
    )
