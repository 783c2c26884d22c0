"""Returns original lines of the user's files."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kebab.app.citations import cite_lines
from kebab.app.context import AppContext
from kebab.app.conversions import check_freshness
from kebab.app.library import find_chunk, find_document
from kebab.core.documents import DocumentDetail, StoredDocument
from kebab.core.queries import StoredChunk
from kebab.errors.catalog import InvalidInput, IoError, ParseFailed
from kebab.errors.system import translate_os_errors
from kebab.wire.citation import Freshness
from kebab.wire.library import (
    FetchChunkRequest,
    FetchDocRequest,
    FetchResult,
    FetchSpanRequest,
    NotFound,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The lines of a document that are cited, 1-based and inclusive."""

    document: StoredDocument
    freshness: Freshness
    kind: Literal["chunk", "doc", "span", "section"]
    start: int
    end: int
    chunk_id: str | None = None
    max_chars: int | None = None


def fetch_chunk(context: AppContext, request: FetchChunkRequest) -> FetchResult | NotFound:
    """Return the lines of a passage, also where an edit moved them.

    When the file no longer contains the passage, the text is the one that was indexed.
    """
    with context.open_catalogue() as catalogue:
        found = find_chunk(catalogue, request.name)
        if isinstance(found, NotFound):
            return found
        document = catalogue.load_document(found[1].doc_id)
    indexed = document.chunks if document else ()
    return fetch_passage(context, found[0].chunk, found[1], indexed, request)


def fetch_passage(
    context: AppContext,
    chunk: StoredChunk,
    document: StoredDocument,
    indexed: Sequence[StoredChunk],
    request: FetchChunkRequest,
) -> FetchResult:
    """Return the lines of a passage; `indexed` are all passages of its document."""
    freshness = check_freshness(document)
    lines = read_present_lines(context, document, freshness)
    place = (chunk.start_line, chunk.end_line)
    moved = locate_passage(lines, chunk) if freshness == "changed" else None
    selection = Selection(
        document=document,
        freshness=freshness,
        kind="chunk",
        start=(moved or place)[0],
        end=(moved or place)[1],
        chunk_id=chunk.chunk_id,
        max_chars=request.max_chars,
    )
    if freshness == "fresh" or moved:
        return build_lines(selection, lines, request.context)
    count = len(lines) if freshness == "changed" else count_indexed_lines(indexed)
    return build_indexed_text(selection, chunk.text, count)


def fetch_doc(context: AppContext, request: FetchDocRequest) -> FetchResult | NotFound:
    """Return a whole file; when it is gone, the text that was indexed."""
    found = _find_document(context, request.name)
    if isinstance(found, NotFound):
        return found
    return fetch_document(context, found, request.max_chars)


def fetch_document(
    context: AppContext, found: DocumentDetail, max_chars: int | None = None
) -> FetchResult:
    """Return a whole file; when it is gone, the text that was indexed."""
    freshness = check_freshness(found.summary)
    lines = [] if freshness == "gone" else read_lines(context, found.summary)
    count = count_indexed_lines(found.chunks) if freshness == "gone" else len(lines)
    selection = Selection(
        document=found.summary,
        freshness=freshness,
        kind="doc",
        start=1,
        end=max(1, count),
        max_chars=max_chars,
    )
    if freshness != "gone":
        return build_lines(selection, lines)
    return build_indexed_text(selection, "\n\n".join(chunk.text for chunk in found.chunks), count)


def fetch_span(context: AppContext, request: FetchSpanRequest) -> FetchResult | NotFound:
    """Return lines of a file as it is now.

    Raises:
        InvalidInput: The lines do not exist.
        IoError: The file is gone.
    """
    found = _find_document(context, request.name)
    if isinstance(found, NotFound):
        return found
    lines = read_lines(context, found.summary)
    start = request.start
    end = min(start if request.end is None else request.end, len(lines))
    if not 1 <= start <= end:
        cause = f"no lines {start} to {request.end or start} in a file of {len(lines)}"
        raise InvalidInput(field="$.start", cause=cause)
    selection = Selection(
        document=found.summary,
        freshness=check_freshness(found.summary),
        kind="span",
        start=start,
        end=end,
        max_chars=request.max_chars,
    )
    return build_lines(selection, lines, request.context)


def _find_document(context: AppContext, name: str) -> DocumentDetail | NotFound:
    with context.open_catalogue() as catalogue:
        return find_document(catalogue, name)


def read_file(document: StoredDocument) -> bytes:
    """Return the bytes of the file.

    Raises:
        IoError: It cannot be read.
    """
    path = Path(document.root, document.path)
    with translate_os_errors(path, "read"):
        return path.read_bytes()


def read_lines(context: AppContext, document: StoredDocument) -> list[str]:
    """Return the lines of the file, decoded as they were for the index.

    Raises:
        IoError: It cannot be read.
        ParseFailed: It is no longer text.
    """
    text = context.decode_text(read_file(document), Path(document.root, document.path))
    return split_lines(text)


def split_lines(text: str) -> list[str]:
    """Return the lines of a text; the last line end begins no line."""
    return text.removesuffix("\n").split("\n") if text else []


def read_present_lines(
    context: AppContext, document: StoredDocument, freshness: Freshness
) -> list[str]:
    """Return the lines of the file, none when it is gone or can no longer be read as text."""
    if freshness == "fresh":
        return read_lines(context, document)
    try:
        return [] if freshness == "gone" else read_lines(context, document)
    except (IoError, ParseFailed):
        return []


def locate_passage(lines: Sequence[str], chunk: StoredChunk) -> tuple[int, int] | None:
    """Return the lines that contain the text of a passage now, nearest to where it was."""
    text, wanted = "\n".join(lines), chunk.text
    starts = []
    position = text.find(wanted) if wanted else -1
    while position >= 0:
        starts.append(text.count("\n", 0, position) + 1)
        position = text.find(wanted, position + len(wanted))
    if not starts:
        return None
    first = min(starts, key=lambda start: abs(start - chunk.start_line))
    return first, first + wanted.count("\n")


def count_indexed_lines(chunks: Sequence[StoredChunk]) -> int:
    """Return the last line that the passages of a document cover."""
    return max((chunk.end_line for chunk in chunks), default=1)


def build_lines(selection: Selection, lines: list[str], context_lines: int = 0) -> FetchResult:
    """Return the selected lines of a file, with further lines on both sides."""
    first = max(1, selection.start - context_lines)
    last = min(len(lines), selection.end + context_lines)
    text = "\n".join(lines[first - 1 : last])
    return _build_result(selection, text, (first, max(first, last)), len(lines))


def build_indexed_text(selection: Selection, text: str, line_count: int) -> FetchResult:
    """Return text that was indexed, with the lines that it had then."""
    span = (selection.start, selection.end)
    return _build_result(selection, text, span, line_count, is_indexed_text=True)


def _build_result(
    selection: Selection,
    text: str,
    span: tuple[int, int],
    line_count: int,
    *,
    is_indexed_text: bool = False,
) -> FetchResult:
    """Return the reply; `span` is the first and the last line of the text before it is cut."""
    document = selection.document
    shown = text[: selection.max_chars]
    truncated = len(shown) < len(text)
    first, last = span
    last_shown = first + shown.removesuffix("\n").count("\n")
    return FetchResult(
        kind=selection.kind,
        doc_id=document.doc_id,
        doc_path=document.path,
        title=document.title,
        chunk_id=selection.chunk_id,
        text=shown,
        start_line=first,
        end_line=min(last, last_shown) if truncated else last,
        line_count=line_count,
        citation=cite_lines(document.path, selection.start, selection.end),
        freshness=selection.freshness,
        truncated=truncated,
        is_indexed_text=is_indexed_text,
    )
