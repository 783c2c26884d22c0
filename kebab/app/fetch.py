"""Fetches original lines of files."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from kebab.app.context import AppContext
from kebab.app.conversions import check_freshness, cite_lines
from kebab.app.library import build_not_found, find_chunk_id, find_document_id, open_catalogue
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

if TYPE_CHECKING:
    from kebab.core.queries import StoredChunk


@dataclass(frozen=True, slots=True, kw_only=True)
class _Span:
    """Lines, 1-based and inclusive."""

    kind: Literal["chunk", "doc", "span"]
    start: int
    end: int
    chunk: str | None = None
    context: int = 0
    """How many lines to add on both sides."""


def fetch_chunk(context: AppContext, request: FetchChunkRequest) -> FetchResult | NotFound:
    """Return the lines of a passage; when its file has changed, the text that was indexed."""
    with open_catalogue(context) as catalogue:
        found = find_chunk_id(catalogue, request.name)
        if isinstance(found, NotFound):
            return found
        detail = catalogue.chunk(found)
        document = catalogue.summary(detail.chunk.doc_id) if detail else None
    if detail is None or document is None:
        return build_not_found(request.name, "passage")
    chunk = detail.chunk
    span = _Span(
        kind="chunk",
        start=chunk.start_line,
        end=chunk.end_line,
        chunk=chunk.chunk_id,
        context=request.context,
    )
    state = _freshness(document)
    if state == "fresh":
        return _cut(document, state, _lines(context, document), span, request.max_chars)
    return _indexed(document, state, [chunk], span, request.max_chars)


def fetch_doc(context: AppContext, request: FetchDocRequest) -> FetchResult | NotFound:
    """Return a whole file; when it is gone, the text that was indexed."""
    document = _document(context, request.name)
    if isinstance(document, NotFound):
        return document
    state = _freshness(document.summary)
    if state == "gone":
        last = max((chunk.end_line for chunk in document.chunks), default=1)
        span = _Span(kind="doc", start=1, end=last)
        return _indexed(document.summary, state, list(document.chunks), span, request.max_chars)
    lines = _lines(context, document.summary)
    whole = _Span(kind="doc", start=1, end=max(1, len(lines)))
    return _cut(document.summary, state, lines, whole, request.max_chars)


def fetch_span(context: AppContext, request: FetchSpanRequest) -> FetchResult | NotFound:
    """Return lines of a file as it is now.

    Raises:
        InvalidInput: The lines do not exist.
        IoError: The file is gone.
    """
    document = _document(context, request.name)
    if isinstance(document, NotFound):
        return document
    lines = _lines(context, document.summary)
    start = request.start
    end = min(start if request.end is None else request.end, len(lines))
    if not 1 <= start <= end:
        cause = f"no lines {start} to {request.end or start} in a file of {len(lines)}"
        raise InvalidInput(field="$.start", cause=cause)
    span = _Span(kind="span", start=start, end=end, context=request.context)
    return _cut(document.summary, _freshness(document.summary), lines, span, request.max_chars)


def _document(context: AppContext, name: str) -> DocumentDetail | NotFound:
    with open_catalogue(context) as catalogue:
        found = find_document_id(catalogue, name)
        if isinstance(found, NotFound):
            return found
        return catalogue.document(found) or build_not_found(name, "document")


def _lines(context: AppContext, document: StoredDocument) -> list[str]:
    """Return the lines of the file, decoded as they were for the index."""
    path = Path(document.root, document.path)
    with translate_os_errors(path, "read"):
        data = path.read_bytes()
    text = context.decode_text(data, path)
    return text.removesuffix("\n").split("\n") if text else []


def _cut(
    document: StoredDocument,
    state: Freshness,
    lines: list[str],
    span: _Span,
    max_chars: int | None,
) -> FetchResult:
    """Return the lines of a span with the context that was asked for."""
    first = max(1, span.start - span.context)
    last = min(len(lines), span.end + span.context)
    text = "\n".join(lines[first - 1 : last])
    wide = replace(span, start=first, end=max(first, last))
    return _result(document, state, text, (span, wide), len(lines), max_chars)


def _indexed(
    document: StoredDocument,
    state: Freshness,
    chunks: "list[StoredChunk]",
    span: _Span,
    max_chars: int | None,
) -> FetchResult:
    """Return text as it was indexed, because the file no longer holds it."""
    text = "\n\n".join(chunk.text for chunk in chunks)
    return _result(document, state, text, (span, span), span.end, max_chars)


def _result(
    document: StoredDocument,
    state: Freshness,
    text: str,
    spans: tuple[_Span, _Span],
    line_count: int,
    max_chars: int | None,
) -> FetchResult:
    asked, given = spans
    shown = text[:max_chars]
    truncated = len(shown) < len(text)
    last = given.start + shown.removesuffix("\n").count("\n")
    return FetchResult(
        kind=asked.kind,
        doc_id=document.doc_id,
        doc_path=document.path,
        title=document.title,
        chunk_id=asked.chunk,
        text=shown,
        start_line=given.start,
        end_line=min(given.end, last) if truncated else given.end,
        line_count=line_count,
        citation=cite_lines(document.path, asked.start, asked.end),
        freshness=state,
        truncated=truncated,
    )


def _freshness(document: StoredDocument) -> Freshness:
    return check_freshness(document.root, document.path, document.size, document.mtime_ns)
