"""Fetches original lines of files."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kebab.app.context import AppContext
from kebab.app.conversions import check_freshness, cite_lines
from kebab.app.library import find_chunk, find_document
from kebab.core.documents import DocumentDetail, StoredDocument
from kebab.errors.catalog import InvalidInput
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
class _Selection:
    """The lines of a document that are cited, 1-based and inclusive."""

    document: StoredDocument
    freshness: Freshness
    kind: Literal["chunk", "doc", "span"]
    start: int
    end: int
    chunk_id: str | None = None
    max_chars: int | None = None


def fetch_chunk(context: AppContext, request: FetchChunkRequest) -> FetchResult | NotFound:
    """Return the lines of a passage; when its file has changed, the text that was indexed."""
    with context.open_catalogue() as catalogue:
        found = find_chunk(catalogue, request.name)
    if isinstance(found, NotFound):
        return found
    detail, document = found
    chunk = detail.chunk
    selection = _Selection(
        document=document,
        freshness=check_freshness(document),
        kind="chunk",
        start=chunk.start_line,
        end=chunk.end_line,
        chunk_id=chunk.chunk_id,
        max_chars=request.max_chars,
    )
    if selection.freshness == "fresh":
        return _fetch_lines(selection, _read_lines(context, document), request.context)
    return _build_result(selection, chunk.text, (chunk.start_line, chunk.end_line), chunk.end_line)


def fetch_doc(context: AppContext, request: FetchDocRequest) -> FetchResult | NotFound:
    """Return a whole file; when it is gone, the text that was indexed."""
    found = _find_document(context, request.name)
    if isinstance(found, NotFound):
        return found
    freshness = check_freshness(found.summary)
    lines = [] if freshness == "gone" else _read_lines(context, found.summary)
    indexed_end = max((chunk.end_line for chunk in found.chunks), default=1)
    selection = _Selection(
        document=found.summary,
        freshness=freshness,
        kind="doc",
        start=1,
        end=indexed_end if freshness == "gone" else max(1, len(lines)),
        max_chars=request.max_chars,
    )
    if freshness != "gone":
        return _fetch_lines(selection, lines)
    text = "\n\n".join(chunk.text for chunk in found.chunks)
    return _build_result(selection, text, (1, indexed_end), indexed_end)


def fetch_span(context: AppContext, request: FetchSpanRequest) -> FetchResult | NotFound:
    """Return lines of a file as it is now.

    Raises:
        InvalidInput: The lines do not exist.
        IoError: The file is gone.
    """
    found = _find_document(context, request.name)
    if isinstance(found, NotFound):
        return found
    lines = _read_lines(context, found.summary)
    start = request.start
    end = min(start if request.end is None else request.end, len(lines))
    if not 1 <= start <= end:
        cause = f"no lines {start} to {request.end or start} in a file of {len(lines)}"
        raise InvalidInput(field="$.start", cause=cause)
    selection = _Selection(
        document=found.summary,
        freshness=check_freshness(found.summary),
        kind="span",
        start=start,
        end=end,
        max_chars=request.max_chars,
    )
    return _fetch_lines(selection, lines, request.context)


def _find_document(context: AppContext, name: str) -> DocumentDetail | NotFound:
    with context.open_catalogue() as catalogue:
        return find_document(catalogue, name)


def _read_lines(context: AppContext, document: StoredDocument) -> list[str]:
    """Return the lines of the file, decoded as they were for the index."""
    path = Path(document.root, document.path)
    with translate_os_errors(path, "read"):
        data = path.read_bytes()
    text = context.decode_text(data, path)
    return text.removesuffix("\n").split("\n") if text else []


def _fetch_lines(selection: _Selection, lines: list[str], context_lines: int = 0) -> FetchResult:
    """Return the selected lines of a file, with further lines on both sides."""
    first = max(1, selection.start - context_lines)
    last = min(len(lines), selection.end + context_lines)
    text = "\n".join(lines[first - 1 : last])
    return _build_result(selection, text, (first, max(first, last)), len(lines))


def _build_result(
    selection: _Selection, text: str, span: tuple[int, int], line_count: int
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
    )
