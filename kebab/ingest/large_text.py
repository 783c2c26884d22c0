"""Reads a large text in portions, so that it needs little more memory than one of them.

The chunks of a portion are stored before the next portion is read. Each portion is cut behind a
blank line where there is one, decoded and parsed by itself; the offsets and lines of its chunks are
those of the whole file.
"""

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO, NamedTuple

from kebab.core.chunks import Chunk, ChunkRow
from kebab.core.documents import DocumentRow, FileStamp, ParsedDocument
from kebab.core.files import FileEntry
from kebab.core.ids import hash_file
from kebab.ingest.build import BuildTask, DocumentBuilder, ParsedFile

LARGE_BYTES = 20_000_000
"""Smaller texts are read at once; this is also the default of the largest file."""

_PORTION_BYTES = 4_000_000
_MEDIA = ("text/markdown", "text/plain")
_CONTINUATION = 0b1100_0000
_CONTINUES = 0b1000_0000


class _Position(NamedTuple):
    """How many chunks, code points and lines come before a portion."""

    chunks: int = 0
    start: int = 0
    lines: int = 0


def is_large_text(entry: FileEntry) -> bool:
    """Return whether a file is a text that is read in portions."""
    return entry.media in _MEDIA and entry.size > LARGE_BYTES and not _is_wide(entry.absolute)


def _is_wide(path: str) -> bool:
    """Return whether a text has zero bytes at its beginning, as UTF-16 has."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - a path string from the scan
            return b"\0" in file.read(1 << 16)
    except OSError:
        return True


def build_large_row(builder: DocumentBuilder, task: BuildTask) -> DocumentRow:
    """Return the row of a large text, whose further chunks are read while they are stored.

    Title, language and metadata come from the first portion. The deadline holds for each portion.

    Raises:
        OSError: The file cannot be read.
        ParseFailed: The parser refuses the first portion; `more_chunks` raises it for the others.
        TimedOut: The parser takes too long.
    """
    with open(task.entry.absolute, "rb") as file:  # noqa: PTH123 - a path string from the scan
        stat = os.fstat(file.fileno())
        stamp = FileStamp(size=stat.st_size, mtime_ns=stat.st_mtime_ns, inode=stat.st_ino)
        content_hash = hash_file(file)
    portions = _parse_portions(builder, task)
    first = next(portions)
    seen: Counter[str] = Counter()
    chunks = _cut(builder, task, first, seen)
    parsed = ParsedFile(first, stamp, content_hash, task.entry.media)
    row = builder.make_row(task, parsed, chunks)
    note = (
        f"read in parts of {_PORTION_BYTES // 1_000_000} MB because of its size: headings and"
        " blocks of code end with a part"
    )
    position = _advance(_Position(), first, chunks)
    more = _iterate_chunks(builder, task, portions, position, seen)
    return replace(row, warnings=(*row.warnings, note), more_chunks=more)


def _parse_portions(builder: DocumentBuilder, task: BuildTask) -> Iterator[ParsedDocument]:
    """Yield the documents of the portions; all have the title of the first."""
    parser, path = builder.parsers[task.entry.media], task.entry.path
    title = ""
    with open(task.entry.absolute, "rb") as file:  # noqa: PTH123 - a path string from the scan
        while data := _read_portion(file):
            with builder.guard(path, parser.version, builder.deadline_s):
                document = parser.parse(data, path)
            title = title or document.title
            yield document._replace(title=title)


def _read_portion(file: BinaryIO) -> bytes:
    """Return the next bytes, cut behind a blank line, else a line, else a character."""
    data = file.read(_PORTION_BYTES)
    if len(data) < _PORTION_BYTES:
        return data
    end = data.rfind(b"\n\n", len(data) // 2) + 2
    end = end if end > 1 else data.rfind(b"\n") + 1
    end = end or _find_character_end(data)
    file.seek(end - len(data), os.SEEK_CUR)
    return data[:end]


def _find_character_end(data: bytes) -> int:
    """Return where the last character of UTF-8 begins."""
    end = len(data) - 1
    while end > 1 and data[end] & _CONTINUATION == _CONTINUES:
        end -= 1
    return end


def _iterate_chunks(
    builder: DocumentBuilder,
    task: BuildTask,
    portions: Iterator[ParsedDocument],
    position: _Position,
    seen: Counter[str],
) -> Iterator[tuple[ChunkRow, ...]]:
    """Yield the chunks of the further portions, with their place in the whole text."""
    for document in portions:
        chunks = _cut(builder, task, document, seen)
        yield tuple(row._replace(chunk=_move(row.chunk, position)) for row in chunks)
        position = _advance(position, document, chunks)


def _cut(
    builder: DocumentBuilder, task: BuildTask, document: ParsedDocument, seen: Counter[str]
) -> tuple[ChunkRow, ...]:
    version = builder.parsers[task.entry.media].version
    with builder.guard(task.entry.path, version, builder.deadline_s):
        return builder.cut_chunks(task.doc_id, document, seen)


def _move(chunk: Chunk, position: _Position) -> Chunk:
    return chunk._replace(
        ordinal=chunk.ordinal + position.chunks,
        start=chunk.start + position.start,
        end=chunk.end + position.start,
        start_line=chunk.start_line + position.lines,
        end_line=chunk.end_line + position.lines,
    )


def _advance(
    position: _Position, document: ParsedDocument, chunks: tuple[ChunkRow, ...]
) -> _Position:
    return _Position(
        position.chunks + len(chunks),
        position.start + len(document.text),
        position.lines + document.text.count("\n"),
    )
