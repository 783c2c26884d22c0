"""Puts translated segments into their document, and checks that its structure is the same."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from kebab.core.media import MARKDOWN
from kebab.core.review import Finding, Markup
from kebab.review.document import ReviewDocument
from kebab.review.segments import Segment, find_table_spans, split_segments, split_table

_LINE_SIGN = re.compile(
    r"[ \t]*(?:>[ \t]?)*(?P<indent>[ \t]*)"
    r"(?P<sign>\#{1,6}(?=\s|$)|[-*+](?=\s|$)|\d{1,9}[.)](?=\s|$)|(?:=+|-{2,})[ \t]*$)?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TranslatedDocument:
    """A translated document.

    Attributes:
        text: The document with the line ends of its file.
        segments: The number of its segments.
        translated: How many of them are translated.
        findings: The translations that were left out because they change the structure.
    """

    text: str
    segments: int
    translated: int
    findings: tuple[Finding, ...] = ()


class _Shape:
    """The structure of a text: what is in order, and what may have moved within a sentence."""

    def __init__(self, text: str, markup: Markup, *, is_markdown: bool) -> None:
        front = markup.front_matter
        tables = [
            [len(list(split_table(text, row))) for row in _split_rows(text, span)]
            for span in (find_table_spans(text) if is_markdown else ())
        ]
        self.ordered = (
            front and text[front.start : front.end],
            [heading.level for heading in markup.headings],
            [text[start:end] for start, end in markup.code_blocks],
            tables,
            _list_signs(text, markup) if is_markdown else [],
        )
        self.inline = (
            Counter((link.target, link.kind, link.is_image) for link in markup.links),
            Counter((note.label, note.is_definition) for note in markup.footnotes),
            Counter(text[start:end] for start, end in markup.code),
        )

    def __eq__(self, other: object) -> bool:
        """Return whether two structures are the same."""
        if not isinstance(other, _Shape):
            return NotImplemented
        return self.ordered == other.ordered and self.inline == other.inline

    __hash__ = None  # type: ignore[assignment]


def _split_rows(text: str, table: tuple[int, int]) -> list[tuple[int, int]]:
    lines = text[slice(*table)].split("\n")
    ends = list(accumulate(len(line) + 1 for line in lines))
    return [
        (table[0] + end - len(line) - 1, table[0] + end - 1)
        for end, line in zip(ends, lines, strict=True)
    ]


def _list_signs(text: str, markup: Markup) -> list[str]:
    """Return the signs of headings and items with their depth, line by line, outside code."""
    starts = [start for start, _ in markup.code_blocks]
    found, offset = [], 0
    for line in text.split("\n"):
        index = bisect_left(starts, offset + 1) - 1
        is_code = index >= 0 and offset < markup.code_blocks[index][1]
        match = None if is_code else _LINE_SIGN.match(line)
        if match and match["sign"]:
            quotes = line[: match.start("indent")].count(">")
            found.append(f"{quotes} {len(match['indent'])} {match['sign'].strip()}")
        offset += len(line) + 1
    return found


class TranslationBuilder:
    """Builds the translation of a document.

    Args:
        document: The source.
        read_markup: Reads the markup of a text of the same format.
    """

    def __init__(self, document: ReviewDocument, read_markup: Callable[[str], Markup]) -> None:
        self._document = document
        self._segments = split_segments(document)
        self._read_markup = read_markup
        self._is_markdown = document.source.media == MARKDOWN
        self._shape = self._read_shape(document.text)

    def build(self, targets: Mapping[str, str]) -> TranslatedDocument:
        """Return the document with these texts by `cid`; the others stay as they are.

        Texts that change the structure are left out.
        """
        given = [one for one in self._segments if one.cid in targets]
        kept = tuple(given)
        if not self._keeps_shape(kept, targets):
            # Most faults show in the segment alone, which is read much faster than the document.
            kept = self._select((), [one for one in given if self._is_alike(one, targets)], targets)
        chosen = {one.cid for one in kept}
        return TranslatedDocument(
            text=self._write(self._document.source.raw, kept, targets, is_raw=True),
            segments=len(self._segments),
            translated=len(kept),
            findings=tuple(_build_finding(one) for one in given if one.cid not in chosen),
        )

    def _select(
        self, base: tuple[Segment, ...], more: Sequence[Segment], targets: Mapping[str, str]
    ) -> tuple[Segment, ...]:
        """Return `base` with those of some segments that leave the structure as it is.

        The segments are halved until the faulty ones are found, so few texts are read when few
        are faulty.
        """
        if not more or self._keeps_shape((*base, *more), targets):
            return (*base, *more)
        if len(more) == 1:
            return base
        middle = len(more) // 2
        return self._select(self._select(base, more[:middle], targets), more[middle:], targets)

    def _keeps_shape(self, segments: Sequence[Segment], targets: Mapping[str, str]) -> bool:
        text = self._write(self._document.text, segments, targets, is_raw=False)
        return self._read_shape(text) == self._shape

    def _is_alike(self, segment: Segment, targets: Mapping[str, str]) -> bool:
        """Return whether a translation alone has the structure of its source alone."""
        source = self._document.text[segment.start : segment.end]
        return self._read_shape(source) == self._read_shape(targets[segment.cid])

    def _read_shape(self, text: str) -> _Shape:
        return _Shape(text, self._read_markup(text), is_markdown=self._is_markdown)

    def _write(
        self, text: str, segments: Sequence[Segment], targets: Mapping[str, str], *, is_raw: bool
    ) -> str:
        """Return a text with these segments replaced; raw offsets count CR LF as two."""
        doubles = self._double_ends if is_raw else []
        parts, done = [], 0
        for one in segments:
            start = one.start + bisect_left(doubles, one.start)
            parts += [text[done:start], targets[one.cid]]
            done = one.end + bisect_left(doubles, one.end)
        return "".join([*parts, text[done:]])

    @property
    def _double_ends(self) -> list[int]:
        """The offsets of the line ends that are CR LF in the file."""
        raw = self._document.source.raw
        return [found.start() - index for index, found in enumerate(re.finditer("\r\n", raw))]


def _build_finding(segment: Segment) -> Finding:
    """Return the finding about a translation that changes the structure of its document."""
    return Finding(
        kind="structure",
        severity="error",
        reason="the source text stays: its translation changes the structure of the document",
        start=segment.start,
        end=segment.end,
        side="both",
        cid=segment.cid,
    )
