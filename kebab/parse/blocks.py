"""Builds blocks and documents from line numbers, and chooses the title of a document."""

from collections.abc import Container, Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple, TypeAlias

from kebab.core.documents import Block, BlockKind, Metadata, ParsedDocument
from kebab.parse.encoding import Decoded, normalize_text
from kebab.text.language import detect_document_language

Range: TypeAlias = tuple[int, int]
"""The lines [first, last), 0-based."""


class Span(NamedTuple):
    """The lines [first, last) of a block in the body, 0-based.

    Lines of no kind are left out of the document.
    """

    kind: BlockKind | None
    first: int
    last: int
    level: int = 0
    label: str = ""
    ends: int = 0


def build_blocks(text: str, body: int, spans: Iterable[Span]) -> tuple[Block, ...]:
    """Return the spans as blocks of `text`, whose body starts at offset `body`.

    Outer blank lines are cut off. Lines without a span become paragraphs, so every line with text
    belongs to a block.
    """
    lines = text[body:].split("\n")
    offsets = [body]
    for line in lines:
        offsets.append(offsets[-1] + len(line) + 1)
    blocks = []
    for span in _fill_gaps(lines, spans):
        last = span.last - 1
        end = offsets[last] + len(lines[last].rstrip())
        if span.kind is not None:
            blocks.append(Block(span.kind, offsets[span.first], end, *span[3:]))
    return tuple(blocks)


def build_line_document(
    decoded: Decoded,
    path: str,
    spans: Iterable[Span],
    metadata: Metadata,
    links: Iterable[str] = (),
) -> ParsedDocument:
    """Return the document whose text is the decoded file."""
    text = decoded.text
    blocks = build_blocks(text, 0, spans)
    return ParsedDocument(
        text=text,
        title=choose_title(metadata, blocks, path),
        blocks=blocks,
        metadata=metadata,
        lang=metadata.lang or detect_document_language(text, blocks),
        encoding=decoded.encoding,
        warnings=decoded.warnings,
        links=tuple(dict.fromkeys(links)),
    )


def shift_spans(spans: Iterable[Span], lines: int) -> Iterator[Span]:
    """Yield the spans moved down by a number of lines."""
    for span in spans:
        yield span._replace(first=span.first + lines, last=span.last + lines) if lines else span


def group_lines(numbers: Iterable[int]) -> Iterator[Range]:
    """Yield the runs of consecutive numbers of lines, which are sorted."""
    first = last = -1
    for number in numbers:
        if number != last:
            if first >= 0:
                yield first, last
            first = number
        last = number + 1
    if first >= 0:
        yield first, last


def exclude_lines(spans: Iterable[Span], ranges: Sequence[Range]) -> Iterator[Span]:
    """Yield the spans without the lines of sorted ranges; a span with some inside is split."""
    return (span for span, is_within in _split_spans(spans, ranges) if not is_within)


def isolate_lines(spans: Iterable[Span], ranges: Sequence[Range]) -> Iterator[Span]:
    """Yield the spans with the lines of sorted ranges as spans of their own."""
    return (span for span, _ in _split_spans(spans, ranges))


def _split_spans(spans: Iterable[Span], ranges: Sequence[Range]) -> Iterator[tuple[Span, bool]]:
    """Yield the parts of spans, each with whether it lies within a range."""
    index = 0
    for span in spans:
        first = span.first
        while index < len(ranges) and ranges[index][1] <= first:
            index += 1
        at = index
        while at < len(ranges) and ranges[at][0] < span.last:
            start, end = max(ranges[at][0], first), min(ranges[at][1], span.last)
            if first < start:
                yield span._replace(first=first, last=start), False
            yield span._replace(first=start, last=end), True
            first, at = end, at + 1
        if first < span.last:
            yield span._replace(first=first), False


def omit_gaps(spans: Iterable[Span], lines: int) -> Iterator[Span]:
    """Yield the spans, with one that makes no block for all lines between them."""
    done = 0
    for span in spans:
        yield Span(None, done, span.first)
        yield span
        done = span.last
    yield Span(None, done, lines)


def find_paragraphs(lines: list[str], first: int, last: int) -> Iterator[Span]:
    """Yield the runs of lines with text between two line numbers."""
    start = None
    for number in range(first, last):
        if lines[number].strip():
            start = number if start is None else start
        elif start is not None:
            yield Span(BlockKind.PARAGRAPH, start, number)
            start = None
    if start is not None:
        yield Span(BlockKind.PARAGRAPH, start, last)


def _fill_gaps(lines: list[str], spans: Iterable[Span]) -> Iterator[Span]:
    """Yield the spans without outer blank lines, and the gaps between them as paragraphs."""
    done = 0
    for span in spans:
        first, last = max(span.first, done), span.last
        yield from find_paragraphs(lines, done, first)
        done = max(done, last)
        while first < last and not lines[first].strip():
            first += 1
        while first < last and not lines[last - 1].strip():
            last -= 1
        if first < last:
            same = first == span.first and last == span.last
            yield span if same else span._replace(first=first, last=last)
    yield from find_paragraphs(lines, done, len(lines))


def format_file_name(path: str, vague_stems: Container[str]) -> str:
    """Return the name of a file, with its folder where its stem alone says little."""
    file = PurePosixPath(path)
    folder = file.parent.name
    return f"{folder}/{file.name}" if folder and file.stem.lower() in vague_stems else file.name


MAX_TITLE_CHARS = 160
"""The longest title; it is embedded with every chunk of its document."""


def choose_title(metadata: Metadata, blocks: Iterable[Block], path: str) -> str:
    """Return the title from front matter, else the first heading, else the file's stem."""
    headings = (block.label for block in blocks if block.kind is BlockKind.HEADING)
    for candidate in (metadata.title or "", *headings):
        title = _to_one_line(candidate)
        if title:
            return title
    return _to_one_line(PurePosixPath(path).stem) or _to_one_line(path) or "untitled"


def _to_one_line(text: str) -> str:
    """Return printable text on one line, cut at the longest title."""
    visible = "".join(max(char, " ") for char in normalize_text(text))
    line = " ".join(visible.split())
    return shorten_line(line, MAX_TITLE_CHARS)


def shorten_line(line: str, most: int) -> str:
    """Return a line of at most so many characters, with a mark where its end is cut off."""
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}\u2026"
