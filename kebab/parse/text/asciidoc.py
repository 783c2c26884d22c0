"""Reads AsciiDoc by its lines; an `include` is a link, and its file is not read.

A `Span` is the lines [first, last) of a block. Lines of a span without a kind are left out, and
lines without a span become paragraphs.
"""

import re
from collections.abc import Generator, Iterator

from kebab.core.documents import BlockKind, ParsedDocument
from kebab.parse.blocks import MAX_HEADING_LEVEL, Lines, Span, build_line_document, shift_spans
from kebab.parse.encoding import decode
from kebab.parse.escapes import find_references
from kebab.parse.metadata import read_front_matter, read_metadata
from kebab.text.sentences import measure_width

_TITLE = re.compile(r"(={1,6}|#{1,6})\s+(\S.*?)(?:(?<!\s)\s++\1)?\Z")
_ATTRIBUTE = re.compile(r":!?([\w-]+)!?:(?:\s+(.*)|\Z)")
_AUTHOR = re.compile(r"[^\W\d_][^:<>\[\]]{0,120}(?:\s<[^<>]+>)?(?:;\s.*)?\Z")
_REVISION = re.compile(r"(?:v?\d[^:]{0,80})(?::.*)?\Z")
_FENCE = re.compile(r"(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}+|\+{4,}|/{4,}|`{3}|--|[|,:!]={3,})(\w*)\Z")
_BLOCK_LINE = re.compile(r"\[.*\]\Z|\.[^\s.].*\Z")
_MACRO = re.compile(r"(include|ifdef|ifndef|ifeval|endif|toc)::([^\s\[]*)\[.*\]\Z")
_ITEM = re.compile(
    r"(?:\*{1,5}|-|\.{1,5}|\d{1,9}\.|[A-Za-z]\.|<\d{1,3}>)\s+\S|\S.*?(?:::|;;)(?:\s|\Z)"
)
_RULE = re.compile(r"'{3,}\Z|<{3,}\Z|(?:- ?){3}\Z|(?:\* ?){3}\Z")
_UNDERLINES = "=-~^+"
_LINK = re.compile(r"(?:xref|link):([^\s\[\]:]{1,400})\[|<<([^<>,#\n]{1,400}\.a(?:doc|sc)\w*)")
_LABEL_LINK = re.compile(r"(?:xref|link|https?|mailto):[^\s\[]{1,400}+\[([^\]]{0,400})\]")
_REFERENCE = re.compile(r"<<[^<>,]{1,400},\s*([^<>]{1,400})>>")
_INLINE_ANCHOR = re.compile(r"\[\[[^\[\]]{0,200}\]\]|\[#[^\[\]]{0,200}\]")
_EMPHASIS = re.compile(r"(?<![\w*_`#+])([*_`#+]{1,2})(\S(?:.{0,300}?\S)?)\1(?!\w)")
_NAME = re.compile(r"\{([\w-]{1,80})\}")
_MAX_LABEL = 1000
_SETEXT_SLACK = 2
_LEFT_OUT = "+/"
_TRANSPARENT = "=*"
"""The delimiters of blocks whose text is left out, and of blocks that are read like other text."""


class AsciiDocParser:
    """Parses AsciiDoc."""

    version = "asciidoc-v4"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document, with its header as metadata."""
        decoded = decode(data, path, self.version)
        text = decoded.text
        front = read_front_matter(text)
        hidden = text.count("\n", 0, front.searched)  # the lines of front matter that was read
        scanner = AsciiDocScanner(text[front.searched :])
        spans = [Span(BlockKind.PROPERTIES, 0, hidden), *shift_spans(scanner.scan(), hidden)]
        declared = read_metadata(scanner.fields)
        known = {name: value for name, value in front.metadata._asdict().items() if value}
        targets = ((link[1] or link[2]).partition("#")[0] for link in _LINK.finditer(text))
        links = (*scanner.links, *(target for target in targets if "." in target))
        metadata = declared._replace(**known)
        return build_line_document(decoded, path, spans, metadata, links, find_references)


class AsciiDocScanner:
    """Finds the blocks of AsciiDoc, and what its header says; call `scan` once."""

    def __init__(self, text: str) -> None:
        self.fields: dict[str, str] = {}
        self.links: list[str] = []
        self._lines = Lines(text)
        self._pending: int | None = None
        """The first of the lines with attributes or a caption above a block."""

    def scan(self) -> Iterator[Span]:
        """Yield the blocks that are no paragraphs."""
        number = yield from self._read_header()
        while number < self._lines.count:
            bare = self._lines.text[number]  # without outer space, as everywhere here
            if _BLOCK_LINE.match(bare) and not self._lines.indents[number]:
                self._pending = number if self._pending is None else self._pending
                number += 1
                continue
            span = self._read_block(number, bare) if bare else None
            if span is None:
                self._pending = None
                number = self._skip_paragraph(number)
                continue
            number = max(span.last, number + 1)
            above, self._pending = self._pending, None
            if above is None or span.kind is None:
                yield span
            elif span.kind is BlockKind.HEADING:
                yield Span(None, above, span.first)
                yield span
            else:
                yield span._replace(first=above)

    def _skip_paragraph(self, number: int) -> int:
        """Return the line behind a paragraph that begins at a line, at most to a delimiter."""
        number += 1
        while number < self._lines.count and self._lines.text[number - 1]:
            bare = self._lines.text[number]
            if not bare or _FENCE.match(bare) or _BLOCK_LINE.match(bare) or bare.startswith("//"):
                break
            number += 1
        return number

    def _read_header(self) -> Generator[Span, None, int]:
        """Yield the spans of the header and record its fields; return the line behind it."""
        lines = self._lines
        number = lines.skip_blank(0, lines.count)
        while number < lines.count and lines.text[number].startswith(("//", ":")):
            span = self._read_block(number, lines.text[number])
            if span is None:
                break
            yield span
            number = lines.skip_blank(span.last, lines.count)
        title = self._read_title(number) if number < lines.count else None
        if title is None or title.level > 1:
            return number
        end = self._read_header_lines(title.last)
        yield self._read_title(number) or title  # its label may use attributes below it
        yield Span(None, title.last, end)
        return end

    def _read_header_lines(self, first: int) -> int:
        """Read the lines below the title, and return the line behind the header.

        When a line is neither author, revision, attribute nor comment, the lines are a paragraph.
        """
        texts, number = self._lines.text, first
        end = self._lines.find_blank(first, self._lines.count)
        for name, pattern in (("author", _AUTHOR), ("date", _REVISION)):
            if number == end or not pattern.match(texts[number]):
                break
            self.fields.setdefault(name, texts[number])
            number += 1
        while number < end and texts[number].startswith((":", "//")):
            self._read_attribute(texts[number])
            number += 1
        if number == end:
            return end
        self.fields.pop("author", None)
        return first

    def _read_block(self, number: int, bare: str) -> Span | None:
        """Return the block that begins at a line, None for a paragraph."""
        title = self._read_title(number)
        if title is not None:
            return title
        fence = _FENCE.match(bare)
        if fence is not None:
            return self._read_fenced(number, fence[1])
        if self._is_left_out(bare):
            return Span(None, number, number + 1)
        if _ITEM.match(bare):
            return self._read_list(number)
        if self._lines.indents[number] > 0:
            return Span(BlockKind.CODE, number, self._lines.find_blank(number, self._lines.count))
        return None

    def _is_left_out(self, bare: str) -> bool:
        """Return whether a line is a comment, an attribute, an anchor, a rule or a directive."""
        macro = _MACRO.match(bare)
        if macro and macro[1] == "include":
            self.links.append(macro[2])
        comment = bare.startswith("//") and not bare.startswith("///")
        rule = _RULE.match(bare) is not None
        return comment or rule or macro is not None or self._read_attribute(bare)

    def _read_attribute(self, bare: str) -> bool:
        """Record an attribute, and return whether the line is one."""
        match = _ATTRIBUTE.match(bare)
        if match is None:
            return False
        name = {"revdate": "date"}.get(match[1].lower(), match[1].lower())
        self.fields.setdefault(name, (match[2] or "").strip())
        return True

    def _read_title(self, number: int) -> Span | None:
        """Return the heading at a line, of one line or underlined."""
        texts, bare = self._lines.text, self._lines.text[number]
        if self._lines.indents[number]:
            return None
        match = _TITLE.match(bare)
        if match is not None:
            label = self._to_label(match[2])
            return Span(BlockKind.HEADING, number, number + 1, len(match[1]), label)
        below = texts[number + 1] if number + 1 < self._lines.count else ""
        mark = below[:1]
        if not mark or mark not in _UNDERLINES or below.strip(mark) or not re.search(r"\w", bare):
            return None
        if abs(measure_width(bare) - len(below)) > _SETEXT_SLACK or _BLOCK_LINE.match(bare):
            return None
        level = min(_UNDERLINES.index(mark) + 1, MAX_HEADING_LEVEL)
        return Span(BlockKind.HEADING, number, number + 2, level, self._to_label(bare))

    def _read_fenced(self, number: int, fence: str) -> Span:
        """Return a delimited block; of one that is transparent or not closed, its delimiter."""
        mark = fence[:1]
        if mark in _TRANSPARENT or fence == "--":
            return Span(None, number, number + 1)
        end = self._lines.find_close(number, fence, fence.__eq__)
        if end == number or mark in _LEFT_OUT:
            return Span(None, number, end + 1)
        if fence.endswith("==="):
            return Span(BlockKind.TABLE, number, end + 1)
        return Span(BlockKind.QUOTE if mark == "_" else BlockKind.CODE, number, end + 1)

    def _read_list(self, number: int) -> Span:
        """Return a list with what `+` attaches to its items."""
        lines, first, end = self._lines, number, number
        while number < lines.count:
            end = self._skip_item(number)
            number = lines.skip_blank(end, lines.count)
            more = number < lines.count and _ITEM.match(lines.text[number])
            if not more or self._read_title(number):
                break
        return Span(BlockKind.LIST, first, end)

    def _skip_item(self, number: int) -> int:
        """Return the line behind the lines of an item and the blocks that are attached to it."""
        lines = self._lines
        while number < lines.count and lines.text[number]:
            fence = _FENCE.match(lines.text[number])
            attached = lines.text[number - 1] == "+" or _BLOCK_LINE.match(lines.text[number - 1])
            if fence and not attached:
                break
            if fence:
                number = lines.find_close(number, fence[1], fence[1].__eq__)
            number += 1
        return number

    def _to_label(self, source: str) -> str:
        """Return a title on one line without its inline markup."""
        plain = _INLINE_ANCHOR.sub("", source[:_MAX_LABEL])
        plain = _NAME.sub(lambda name: self.fields.get(name[1].lower()) or name[0], plain)
        plain = _REFERENCE.sub(r"\1", _LABEL_LINK.sub(r"\1", plain))
        return " ".join(_EMPHASIS.sub(r"\2", plain).split())
