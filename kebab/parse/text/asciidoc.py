"""Reads AsciiDoc by its lines; an `include` is a link, and its file is not read.

Titles, delimited blocks and what is left out are found; all other lines are paragraphs.
"""

import re
from collections.abc import Iterator

from kebab.core.documents import BlockKind, ParsedDocument
from kebab.parse.blocks import MAX_HEADING_LEVEL, Lines, Span, build_line_document
from kebab.parse.encoding import decode, find_references
from kebab.parse.metadata import read_metadata
from kebab.text.sentences import measure_width

_TITLE = re.compile(r"(={1,6}|#{1,6})\s+(\S.*?)(?:(?<!\s)\s++\1)?\Z")
_ATTRIBUTE = re.compile(r":!?([\w-]+)!?:(?:\s+(.*)|\Z)")
_AUTHOR = re.compile(r"[^\W\d_][^:<>\[\]]{0,120}(?:\s<[^<>]+>)?(?:;\s.*)?\Z")
_REVISION = re.compile(r"(?:v?\d[^:]{0,80})(?::.*)?\Z")
_FENCE = re.compile(r"(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}+|\+{4,}|/{4,}|`{3}|--|[|,:!]={3,})(\w*)\Z")
_MACRO = re.compile(r"(include|ifdef|ifndef|ifeval|endif|toc)::([^\s\[]*)\[.*\]\Z")
_LEFT_OUT = re.compile(r"//(?!/)|\[[\[#.%].*\]\Z|\'{3,}\Z|<{3,}\Z|(?:- ?){3}\Z|(?:\* ?){3}\Z")
"""Comments, anchors and roles of blocks, rules."""
_UNDERLINES = "=-~^+"
_LINK = re.compile(r"(?:xref|link):([^\s\[\]:]{1,400})\[|<<([^<>,#\n]{1,400}\.a(?:doc|sc)\w*)")
_LABEL_LINK = re.compile(r"(?:xref|link|https?|mailto):[^\s\[]{1,400}+\[([^\]]{0,400})\]")
_REFERENCE = re.compile(r"<<[^<>,]{1,400},\s*([^<>]{1,400})>>")
_INLINE_ANCHOR = re.compile(r"\[\[[^\[\]]{0,200}\]\]|\[#[^\[\]]{0,200}\]")
_EMPHASIS = re.compile(r"(?<![\w*_`#+])([*_`#+]{1,2})(\S(?:.{0,300}?\S)?)\1(?!\w)")
_NAME = re.compile(r"\{([\w-]{1,80})\}")
_SETEXT_SLACK = 2
_TRANSPARENT = "=*"
"""The delimiters of blocks whose text is left out, and of blocks that are read like other text."""


class AsciiDocParser:
    """Parses AsciiDoc."""

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document, with its header as metadata."""
        decoded = decode(data)
        scanner = AsciiDocScanner(decoded.text)
        spans = [*scanner.scan()]
        targets = ((link[1] or link[2]).partition("#")[0] for link in _LINK.finditer(decoded.text))
        links = (*scanner.links, *(target for target in targets if "." in target))
        metadata = read_metadata(scanner.fields)
        return build_line_document(decoded, path, spans, metadata, links, find_references)


class AsciiDocScanner:
    """Finds the blocks of AsciiDoc, and what its header says; call `scan` once."""

    def __init__(self, text: str) -> None:
        self.fields: dict[str, str] = {}
        self.links: list[str] = []
        self._lines = Lines(text)

    def scan(self) -> Iterator[Span]:
        """Yield the blocks that are no paragraphs."""
        has_title, number = False, 0
        while number < self._lines.count:
            span = self._read_block(number) if self._lines.text[number] else None
            if span is None:
                number = self._skip_paragraph(number)
                continue
            number = max(span.last, number + 1)
            if span.level == 1 and not has_title:
                has_title, number = True, self._read_header(number)
                yield self._read_title(span.first) or span  # it may use attributes below it
                yield Span(None, span.last, number)
            else:
                yield span

    def _skip_paragraph(self, number: int) -> int:
        """Return the line behind a paragraph that begins at a line, at most to a delimiter."""
        number += 1
        while number < self._lines.count and self._lines.text[number - 1]:
            bare = self._lines.text[number]
            if not bare or _FENCE.match(bare) or _LEFT_OUT.match(bare):
                break
            number += 1
        return number

    def _read_header(self, first: int) -> int:
        """Read the lines below the title, and return the line behind the header.

        When a line is neither author, revision, attribute nor comment, the lines are a paragraph.
        """
        texts, number = self._lines.text, first
        end = self._lines.find_blank(first, self._lines.count)
        before = dict(self.fields)
        for name, pattern in (("author", _AUTHOR), ("date", _REVISION)):
            if number == end or not pattern.match(texts[number]):
                break
            self.fields.setdefault(name, texts[number])
            number += 1
        while number < end and texts[number].startswith((":", "//")):
            self._read_attribute(texts[number])
            number += 1
        if number < end:
            self.fields = before
            return first
        return end

    def _read_block(self, number: int) -> Span | None:
        """Return the block that begins at a line, None for a paragraph."""
        bare = self._lines.text[number]
        if title := self._read_title(number):
            return title
        if fence := _FENCE.match(bare):
            return self._read_fenced(number, fence[1])
        if macro := _MACRO.match(bare):
            self.links += [macro[2]] if macro[1] == "include" else []
        if macro or _LEFT_OUT.match(bare) or self._read_attribute(bare):
            return Span(None, number, number + 1)
        if self._lines.indents[number] > 0:
            return Span(BlockKind.CODE, number, self._lines.find_blank(number, self._lines.count))
        return None

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
        if abs(measure_width(bare) - len(below)) > _SETEXT_SLACK or bare[0] in ".[":
            return None
        level = min(_UNDERLINES.index(mark) + 1, MAX_HEADING_LEVEL)
        return Span(BlockKind.HEADING, number, number + 2, level, self._to_label(bare))

    def _read_fenced(self, number: int, fence: str) -> Span:
        """Return a delimited block; of one that is transparent or not closed, its delimiter."""
        mark = fence[:1]
        if mark in _TRANSPARENT or fence == "--":
            return Span(None, number, number + 1)
        end = self._lines.find_close(number, fence, fence.__eq__)
        if end == number or mark in "+/":
            return Span(None, number, end + 1)
        if fence.endswith("==="):
            return Span(BlockKind.TABLE, number, end + 1)
        return Span(BlockKind.QUOTE if mark == "_" else BlockKind.CODE, number, end + 1)

    def _to_label(self, source: str) -> str:
        """Return a title on one line without its inline markup."""
        plain = _INLINE_ANCHOR.sub("", source[:1000])
        plain = _NAME.sub(lambda name: self.fields.get(name[1].lower()) or name[0], plain)
        plain = _REFERENCE.sub(r"\1", _LABEL_LINK.sub(r"\1", plain))
        return " ".join(_EMPHASIS.sub(r"\2", plain).split())
