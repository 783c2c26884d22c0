"""Builds documents with blocks: from the lines of a file, or from parts written one by one.

The text of parts is Markdown, which people and models read: `#` headings, `- ` items, `|` rows,
fences. The blocks and places are recorded while the text is written, so no text is parsed a second
time. Encoded and minified data, which nobody searches for, makes no block: a line is data when most
of it is base64 or hexadecimal, or when it is very long and has hardly any space or characters; so
are eight or more lines in a row that are nothing but base64.
"""

import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import accumulate, chain, pairwise
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from kebab.core.chunks import Place
from kebab.core.documents import (
    Block,
    BlockKind,
    Edit,
    Metadata,
    Omission,
    ParsedDocument,
    apply_edits,
)
from kebab.parse.encoding import Decoded, normalize_text
from kebab.parse.metadata import choose_title
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
    offsets = [*accumulate((len(line) + 1 for line in lines), initial=body)]
    blocks = []
    for span in _fill_gaps(lines, spans):
        last = span.last - 1
        end = offsets[last] + len(lines[last].rstrip())
        if span.kind is not None:
            blocks.append(Block(span.kind, offsets[span.first], end, *span[3:]))
    return tuple(blocks)


_SHORTEST_GAP = 2
"""A longer text between two blocks may have a word: two line ends part most of them."""
_HAS_LETTER = re.compile(r"[^\W\d_]")


def join_edits(text: str, blocks: Sequence[Block], edits: Iterable[Edit] = ()) -> tuple[Edit, ...]:
    """Return edits in order, with one for each text between blocks, which is left out.

    Numbers and marks alone, such as the times of subtitles, stay.
    """
    gaps = (
        Edit(before.end, after.start)
        for before, after in pairwise(blocks)
        if after.start - before.end > _SHORTEST_GAP
        and _HAS_LETTER.search(text, before.end, after.start)
    )
    return tuple(sorted([*edits, *gaps]))


_MARKUP = re.compile(r"[&\\]|</?\w")


def list_omissions(
    text: str,
    blocks: Sequence[Block],
    edits: Iterable[Edit] = (),
    blobs: Collection[int] = (),
    others: Mapping[str, Collection[int]] = MappingProxyType({}),
) -> tuple[Omission, ...]:
    """Return the words of a text in no passage: outside of its blocks, and what edits remove.

    `blobs` are lines of encoded and minified data; `others` are lines that are left out for
    another reason.
    """
    lines = text.split("\n") if blobs or others else []
    found = {BLOBS: join_data_words(lines[number] for number in sorted(blobs))}
    for reason, numbers in others.items():
        found[reason] = " ".join(lines[number] for number in sorted(numbers))
    rest = hide_lines(text, {*blobs, *chain.from_iterable(others.values())})
    ends = (0, *(block.end for block in blocks))
    starts = (*(block.start for block in blocks), len(text))
    hidden = [rest[end:start] for end, start in zip(ends, starts, strict=True)]
    hidden += (
        text[edit.start : edit.end]
        for edit in edits
        if not edit.text and not _MARKUP.match(text, edit.start)
    )
    found["comments and markup"] = " ".join(filter(_HAS_LETTER.search, hidden))
    return tuple(
        Omission(reason, words) for reason, words in found.items() if words or reason in others
    )


def hide_lines(text: str, hidden: Collection[int]) -> str:
    """Return a text of the same length whose hidden lines are blank."""
    if not hidden:
        return text
    lines = text.split("\n")
    for number in hidden:
        lines[number] = " " * len(lines[number])
    return "\n".join(lines)


def build_line_document(
    decoded: Decoded,
    path: str,
    spans: Iterable[Span],
    metadata: Metadata,
    links: Iterable[str] = (),
    find_edits: Callable[[str, int, int], Iterable[Edit]] | None = None,
) -> ParsedDocument:
    """Return the document whose text is the decoded file, without encoded and minified data.

    `find_edits` yields the edits of a part of the text; blocks of code have none.
    """
    text = decoded.text
    blobs = find_blob_lines(text)
    if blobs:
        dropped = list(group_lines(sorted(blobs)))
        gaps = (Span(None, *where) for where in dropped)
        spans = sorted([*exclude_lines(spans, dropped), *gaps], key=lambda span: span.first)
    blocks = build_blocks(text, 0, spans)
    prose = (block for block in blocks if block.kind is not BlockKind.CODE)
    found = [edit for one in prose if find_edits for edit in find_edits(text, one.start, one.end)]
    edits = join_edits(text, blocks, found)
    return ParsedDocument(
        text=text,
        title=choose_title(metadata, blocks, path),
        blocks=blocks,
        metadata=metadata,
        lang=metadata.lang or detect_document_language(text, blocks),
        encoding=decoded.encoding,
        warnings=(*decoded.warnings, *describe_left_out(BLOBS, text, blobs)),
        links=tuple(dict.fromkeys(links)),
        edits=edits,
        omissions=list_omissions(text, blocks, found, blobs),
    )


def cut_text(text: str, most: int) -> tuple[str, tuple[str, ...]]:
    """Return the beginning of a text that is too long, up to a line end, and what it lacks."""
    if len(text) <= most:
        return text, ()
    end = text.rfind("\n", most // 2, most)
    if end < 0:
        return text[:most], (f"only the first {most:,} of {len(text):,} characters are searched",)
    first, count = text.count("\n", 0, end) + 1, len(text.rstrip("\n").split("\n"))
    return text[:end], (f"only the first {first:,} of {count:,} lines are searched",)


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
    index = 0
    for span in spans:
        first = span.first
        while index < len(ranges) and ranges[index][1] <= first:
            index += 1
        at = index
        while at < len(ranges) and ranges[at][0] < span.last:
            if first < ranges[at][0]:
                yield span._replace(first=first, last=ranges[at][0])
            first, at = min(ranges[at][1], span.last), at + 1
        if first < span.last:
            yield span if first == span.first else span._replace(first=first)


def omit_gaps(spans: Iterable[Span], lines: int) -> Iterator[Span]:
    """Yield the spans, with one that makes no block for all lines between them."""
    done = 0
    for span in spans:
        yield Span(None, done, span.first)
        yield span
        done = span.last
    yield Span(None, done, lines)


def find_paragraphs(lines: list[str], first: int, last: int) -> Iterator[Span]:
    """Return the runs of lines with text between two line numbers."""
    numbers = (number for number in range(first, last) if lines[number].strip())
    return (Span(BlockKind.PARAGRAPH, *run) for run in group_lines(numbers))


def _fill_gaps(lines: list[str], spans: Iterable[Span]) -> Iterator[Span]:
    """Yield the spans without outer blank lines, and the gaps between them as paragraphs."""
    done = 0
    for span in spans:
        first, last = max(span.first, done), span.last
        if any(lines[done:first]):
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


MAX_HEADING_LEVEL = 6
_WORD_MARKS = ".,;:!?()[]<>\"'*_#|-\u2061"
_MOST_CHECKED_CHARS = 500_000_000
_first_builder: ContextVar["TextBuilder | None"] = ContextVar("first_builder", default=None)


@contextmanager
def watch_builder() -> Iterator[Callable[[], "TextBuilder | None"]]:
    """Yield a function that returns the first builder of the block, that of the whole document."""
    token = _first_builder.set(None)
    try:
        yield _first_builder.get
    finally:
        _first_builder.reset(token)


class TextBuilder:
    """Collects the parts of a document in reading order.

    Parts without visible text are dropped, and so are encoded and minified data.
    """

    def __init__(self) -> None:
        if _first_builder.get() is None:
            _first_builder.set(self)
        self._data_chars = 0
        self._left_out: dict[str, list[str]] = {}
        self._parts: list[str] = []
        self.length = 0
        """The code points of the text so far."""
        self._blocks: list[Block] = []
        self._places: list[Place] = []
        self._pending: Place | None = None
        self._items: list[tuple[int, str]] = []
        self._code: list[str] = []
        self._following: list[Callable[[], object]] = []

    def begin_place(self, place: Place) -> None:
        """Begin a page, slide or cell; its `start` is set here. A place without text is dropped."""
        self.end_run()
        self._pending = place

    def add_heading(self, level: int, text: str) -> None:
        """Add a heading of a level from 1; deeper levels than 6 become 6."""
        label = _join_lines(text)
        level = max(1, min(level, MAX_HEADING_LEVEL))
        self._add(BlockKind.HEADING, f"{'#' * level} {label}" if label else "", level, label)

    def add_paragraph(self, text: str) -> None:
        """Add a paragraph; its line ends are kept."""
        self._add(BlockKind.PARAGRAPH, text)

    def add_list(self, items: Iterable[tuple[int, str]]) -> None:
        """Add a list; each item is its depth from 0 and its text, with a marker such as `1.`."""
        lines = (
            f"{'  ' * depth}{text if _has_marker(text) else f'- {text}'}"
            for depth, text in ((depth, _join_lines(text)) for depth, text in items)
            if text
        )
        self._add(BlockKind.LIST, "\n".join(lines))

    def add_item(self, depth: int, text: str) -> None:
        """Add an item to the open list, or begin one; what else is added ends it."""
        if self._code:
            self.end_run()
        self._items.append((depth, text))

    def add_code_line(self, text: str) -> None:
        """Add text to the open block of code, or begin one; what else is added ends it."""
        if self._items:
            self.end_run()
        self._code.append(text)

    def add_behind(self, write: Callable[[], object]) -> None:
        """Call what writes a part when the open list or block of code ends; now without one."""
        self._following.append(write)
        if not self._items and not self._code:
            self.end_run()

    def end_run(self) -> None:
        """Write the open list or block of code, and what was to follow it."""
        items, self._items = self._items, []
        lines, self._code = self._code, []
        self.add_list(items)
        self.add_code("\n".join(lines))
        following, self._following = self._following, []
        for write in following:
            write()

    def add_table(self, rows: Iterable[Sequence[str]], *, header: bool = True) -> None:
        """Add a table, one line for each row; with `header` the first row is followed by a rule."""
        lines = [f"| {' | '.join(map(_escape_cell, row))} |" for row in rows if any(row)]
        if header and len(lines) > 1:
            columns = lines[0].count("|") - lines[0].count("\\|") - 1
            lines.insert(1, "|" + "---|" * columns)
        self._add(BlockKind.TABLE, "\n".join(lines))

    def add_rows(self, rows: Iterable[Sequence[str]]) -> None:
        """Add rows of a sheet, one line for each row, also for rows that are empty."""
        self._add(BlockKind.TABLE, "\n".join(" | ".join(map(_escape_cell, row)) for row in rows))

    def add_code(self, text: str, language: str = "") -> None:
        """Add a block of code in a fence."""
        body = normalize_text(text).strip("\n")
        if body.strip():
            fence = "```" if "```" not in body else "~~~~"
            self._add(BlockKind.CODE, f"{fence}{language}\n{body}\n{fence}")

    def add_quote(self, text: str) -> None:
        """Add a quotation."""
        lines = normalize_text(text).strip().split("\n")
        self._add(BlockKind.QUOTE, "\n".join(f"> {line}" for line in lines) if any(lines) else "")

    def leave_out(self, reason: str, text: str) -> None:
        """Keep what text of the file is in no passage, and what it is, such as `hidden text`."""
        if text.strip():
            self._left_out.setdefault(reason, []).append(text)

    def leave_out_unknown(self, reason: str, texts: Iterable[str]) -> None:
        """Keep the words of texts that are neither in the text so far nor left out already."""
        text = " ".join([self.read_text(), *chain.from_iterable(self._left_out.values())])
        known = {word.strip(_WORD_MARKS) for word in text.split()}
        words = dict.fromkeys(word.strip(_WORD_MARKS) for word in " ".join(texts).split())
        others = [word for word in words if word not in known]
        # Parts of words, as files of Office have them, are checked one by one, which takes long.
        are_few = len(others) * len(text) <= _MOST_CHECKED_CHARS
        self.leave_out(reason, " ".join(one for one in others if not (are_few and one in text)))

    def leave_out_unread(self, reason: str) -> None:
        """Keep that text of the file is not read, so that nobody knows its words."""
        self._left_out.setdefault(reason, [])

    def read_text(self) -> str:
        """Return the text so far."""
        self.end_run()
        return "".join(self._parts)

    def add_blocks(self, document: ParsedDocument) -> None:
        """Add the blocks of a document, such as the Markdown of a cell, and what it leaves out."""
        for one in document.omissions:
            self.leave_out(one.reason, one.text)
        for block in document.blocks:
            text = apply_edits(document.text, block.start, block.end, document.edits)
            self._add(block.kind, text, block.level, block.label)

    def build(
        self,
        path: str,
        metadata: Metadata = Metadata(),  # noqa: B008 - immutable
        *,
        title: str | None = None,
        warnings: Sequence[str] = (),
        links: Sequence[str] = (),
    ) -> ParsedDocument:
        """Return the document; `title` is the title that the format itself declares."""
        self.end_run()
        text = "".join(self._parts)
        blocks = tuple(self._blocks)
        metadata = metadata if metadata.title else metadata._replace(title=title)
        noise = (f"left out as {BLOBS}: {self._data_chars:,} characters",)
        return ParsedDocument(
            text=text,
            title=choose_title(metadata, blocks, path),
            blocks=blocks,
            metadata=metadata,
            lang=metadata.lang or detect_document_language(text, blocks),
            warnings=(*warnings, *noise * bool(self._data_chars)),
            places=tuple(self._places),
            links=tuple(dict.fromkeys(links)),
            omissions=tuple(Omission(one, " ".join(it)) for one, it in self._left_out.items()),
        )

    def build_part(self, path: str, cause: str) -> ParsedDocument | None:
        """Return the document of what was added before the work was cut off; None for nothing."""
        if not self._blocks:
            return None
        end = self._blocks[-1].end
        self._parts = ["".join(self._parts)[:end]]
        self._places = [place for place in self._places if place.start < end]
        last = self._places[-1] if self._places else None
        pages = f" ({last.number} of {last.of} pages)" if last and last.of else ""
        warning = f"only the first {end:,} characters{pages} are searched: {cause}"
        return self.build(path, warnings=[warning])

    def _add(self, kind: BlockKind, text: str, level: int = 0, label: str = "") -> None:
        body = normalize_text(text).strip("\n").rstrip()
        if len(body) >= _LONG_LINE_CHARS and (blobs := find_blob_lines(body)):
            lines = body.split("\n")
            self._data_chars += sum(len(lines[number]) for number in blobs)
            self.leave_out(BLOBS, join_data_words(lines[number] for number in sorted(blobs)))
            body = "\n".join(line for at, line in enumerate(lines) if at not in blobs).strip("\n")
        if not body:
            return
        if self._items or self._code:
            self.end_run()
        if self._parts:
            self._parts.append("\n\n")
            self.length += 2
        if self._pending is not None:
            self._places.append(self._pending._replace(start=self.length))
            self._pending = None
        start = self.length
        self._parts.append(body)
        self.length += len(body)
        self._blocks.append(Block(kind, start, self.length, level, label))


def _join_lines(text: str) -> str:
    return " ".join(normalize_text(text).split())


def _has_marker(item: str) -> bool:
    head = item.partition(" ")[0]
    return head in {"-", "*", "+"} or (head[:-1].isalnum() and len(head) <= 4 and head[-1] in ".)")  # noqa: PLR2004 - `iii.`


def _escape_cell(cell: str) -> str:
    return _join_lines(cell).replace("|", "\\|")


_LONG_LINE_CHARS = 400
_RUN_CHARS = 300
_ENCODED = re.compile(
    rf"(?:data:[\w.+/;=-]{{0,100}},)?[A-Za-z0-9+/=_%-]{{{_RUN_CHARS},}}", re.ASCII
)
_ENCODED_LINE_CHARS = 60
_ENCODED_LINE = re.compile(r"[A-Za-z0-9+/]+={0,2}", re.ASCII)
_MIN_ENCODED_LINES = 8
_MIN_CHARACTERS = 16
_MINIFIED_CHARS = 2_000
_REPEATED_CHARS = 20_000
_MARKS = re.compile(r"[{}()\[\];:=\"'<>&|]")
_ESCAPES = re.compile(r"%[0-9A-Fa-f]{2}")

BLOBS = "encoded, minified or repeated data"
"""What a person reads of the lines that `find_blob_lines` finds."""


def find_blob_lines(text: str) -> set[int]:
    """Return the numbers of the lines, from 0, that are encoded or minified data."""
    lines = text.split("\n")
    wide = [number for number, line in enumerate(lines) if len(line) >= _ENCODED_LINE_CHARS]
    found = {
        number
        for number in wide
        if len(lines[number]) >= _LONG_LINE_CHARS
        and any(is_blob(lines[number]) for is_blob in (_is_encoded, _is_minified, is_repeated))
    }
    encoded = (number for number in wide if _is_encoded_part(lines[number]))
    for first, last in group_lines(encoded):
        if last - first >= _MIN_ENCODED_LINES and _is_random("".join(lines[first:last])):
            found.update(range(first, last))
    return found


def join_data_words(lines: Iterable[str]) -> str:
    """Return what may be words in lines of data: nothing that is encoded."""
    plain = (_ENCODED.sub(" ", line) for line in lines if not _is_encoded_part(line))
    return " ".join(line for line in plain if len(set(line)) >= _MIN_CHARACTERS)


def describe_left_out(what: str, text: str, numbers: Collection[int]) -> tuple[str, ...]:
    """Return the warning about lines without value, empty when there are none."""
    if not numbers:
        return ()
    lines = text.split("\n")
    return (f"left out as {what}: {sum(len(lines[one]) for one in numbers):,} characters",)


def _is_encoded_part(line: str) -> bool:
    """Return whether a line can be one of many lines of base64."""
    line = line.strip(" \t>")
    return " " not in line and _ENCODED_LINE.fullmatch(line) is not None


def _is_encoded(line: str) -> bool:
    """Return whether at least half of a line is base64, hexadecimal or alike."""
    if max(map(len, line.split()), default=0) < _RUN_CHARS:
        return False
    runs = [run for run in _ENCODED.findall(line) if _is_random(run)]
    return sum(map(len, runs)) * 2 >= len(line)


def _is_random(run: str) -> bool:
    """Return whether a run has the characters of data: many, and not those of an escaped URL."""
    escaped = 3 * len(_ESCAPES.findall(run)) if "%" in run else 0
    digits = sum(map(run.count, "0123456789"))
    return (
        len(set(run)) >= _MIN_CHARACTERS and escaped < 0.2 * len(run) and digits > 0.02 * len(run)
    )


def _is_minified(line: str) -> bool:
    size = len(line)
    if size < _MINIFIED_CHARS or line.lstrip().startswith("|"):
        return False
    return (
        sum(map(line.count, " \t")) < 0.08 * size
        and len(line.encode("ascii", "ignore")) > 0.9 * size
        and len(_MARKS.findall(line)) > 0.1 * size
    )


def is_repeated(line: str) -> bool:
    """Return whether a very long line has the characters of no language."""
    return len(line) >= _REPEATED_CHARS and len(set(line)) < _MIN_CHARACTERS


class Lines:
    """The lines of a text without tabs, with their indents; a blank line has the indent -1."""

    def __init__(self, text: str) -> None:
        lines = text.split("\n")
        self.raw = [line.expandtabs(8) if "\t" in line else line for line in lines]
        self.text = [line.strip() for line in self.raw]
        self.indents = [
            len(line) - len(line.lstrip()) if bare else -1
            for line, bare in zip(self.raw, self.text, strict=True)
        ]
        self.count = len(lines)
        self.never_closed: set[str] = set()
        """The kinds of blocks that no later line closes, so that none is searched for again."""

    def find_close(self, number: int, kind: str, is_close: Callable[[str], bool]) -> int:
        """Return the line that closes the block that a line opens; the line itself without one."""
        if kind in self.never_closed:
            return number
        found = (end for end in range(number + 1, self.count) if is_close(self.text[end]))
        end = next(found, number)
        if end == number:
            self.never_closed.add(kind)
        return end

    def find_dedent(self, first: int, last: int, minimum: int) -> int:
        """Return the first line from `first` on that is indented less than `minimum`."""
        found = (n for n in range(first, last) if 0 <= self.indents[n] < minimum)
        return next(found, max(first, last))

    def find_blank(self, first: int, last: int) -> int:
        """Return the first blank line from `first` on."""
        found = (number for number in range(first, last) if not self.text[number])
        return next(found, max(first, last))

    def skip_blank(self, first: int, last: int) -> int:
        """Return the first line with text from `first` on."""
        found = (number for number in range(first, last) if self.text[number])
        return next(found, max(first, last))


def label_note(text: str, author: str | None = "", kind: str = "comment") -> str:
    """Return a note behind its kind and its author; empty without a text."""
    label = f"{kind.capitalize()} by {author}" if author else kind.capitalize()
    return f"{label}: {text}" if text else ""
