"""Fetching the original lines of people's files."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from kebab.app.compose import Workshop
from kebab.app.lookup import chunk_id, document_id, not_found, opened
from kebab.app.place import freshness, line_citation
from kebab.app.requests import FetchOptions
from kebab.core.library import DocumentDetail, StoredDocument
from kebab.errors.catalog import InvalidInput
from kebab.errors.refusal import refused
from kebab.wire.citation import Freshness
from kebab.wire.library import FetchResult, NotFound

if TYPE_CHECKING:
    from kebab.core.hit import StoredChunk


@dataclass(frozen=True, slots=True, kw_only=True)
class _Span:
    """Lines, 1-based and inclusive."""

    kind: Literal["chunk", "doc", "span"]
    start: int
    end: int
    chunk: str | None = None


def fetch_chunk(shop: Workshop, options: FetchOptions) -> FetchResult | NotFound:
    """Return the lines of a passage; when its file has changed, the text that was indexed."""
    with opened(shop) as catalogue:
        found = chunk_id(catalogue, options.name)
        if isinstance(found, NotFound):
            return found
        detail = catalogue.chunk(found)
        document = catalogue.summary(detail.chunk.doc_id) if detail else None
    if detail is None or document is None:
        return not_found(options.name, "passage")
    chunk = detail.chunk
    span = _Span(kind="chunk", start=chunk.start_line, end=chunk.end_line, chunk=chunk.chunk_id)
    state = _freshness(document)
    if state == "fresh":
        return _cut(document, state, _lines(shop, document), span, options)
    return _indexed(document, state, [chunk], span, options)


def fetch_doc(shop: Workshop, options: FetchOptions) -> FetchResult | NotFound:
    """Return a whole file; when it is gone, the text that was indexed."""
    document = _document(shop, options.name)
    if isinstance(document, NotFound):
        return document
    state = _freshness(document.summary)
    if state == "gone":
        last = max((chunk.end_line for chunk in document.chunks), default=1)
        span = _Span(kind="doc", start=1, end=last)
        return _indexed(document.summary, state, list(document.chunks), span, options)
    lines = _lines(shop, document.summary)
    whole = _Span(kind="doc", start=1, end=max(1, len(lines)))
    return _cut(document.summary, state, lines, whole, options)


def fetch_span(shop: Workshop, options: FetchOptions) -> FetchResult | NotFound:
    """Return lines of a file as it is now.

    Raises:
        InvalidInput: The lines do not exist.
        IoError: The file is gone.
    """
    document = _document(shop, options.name)
    if isinstance(document, NotFound):
        return document
    lines = _lines(shop, document.summary)
    start = options.start or 1
    end = min(start if options.end is None else options.end, len(lines))
    if not 1 <= start <= end:
        cause = f"no lines {start} to {options.end or start} in a file of {len(lines)}"
        raise InvalidInput(field="$.start", cause=cause)
    span = _Span(kind="span", start=start, end=end)
    return _cut(document.summary, _freshness(document.summary), lines, span, options)


def _document(shop: Workshop, name: str) -> DocumentDetail | NotFound:
    with opened(shop) as catalogue:
        found = document_id(catalogue, name)
        if isinstance(found, NotFound):
            return found
        return catalogue.document(found) or not_found(name, "document")


def _lines(shop: Workshop, document: StoredDocument) -> list[str]:
    """Return the lines of the file, decoded as they were for the index."""
    path = Path(document.root, document.path)
    with refused(path, "read"):
        data = path.read_bytes()
    text = shop.decoded(data, path)
    return text.removesuffix("\n").split("\n") if text else []


def _cut(
    document: StoredDocument,
    state: Freshness,
    lines: list[str],
    span: _Span,
    options: FetchOptions,
) -> FetchResult:
    """Return the lines of a span with the context that was asked for."""
    first = max(1, span.start - options.context)
    last = min(len(lines), span.end + options.context)
    text = "\n".join(lines[first - 1 : last])
    wide = replace(span, start=first, end=max(first, last))
    return _result(document, state, text, (span, wide), len(lines), options)


def _indexed(
    document: StoredDocument,
    state: Freshness,
    chunks: "list[StoredChunk]",
    span: _Span,
    options: FetchOptions,
) -> FetchResult:
    """Return text as it was indexed, because the file no longer holds it."""
    text = "\n\n".join(chunk.text for chunk in chunks)
    return _result(document, state, text, (span, span), span.end, options)


def _result(
    document: StoredDocument,
    state: Freshness,
    text: str,
    spans: tuple[_Span, _Span],
    line_count: int,
    options: FetchOptions,
) -> FetchResult:
    asked, given = spans
    shown = text[: options.max_chars]
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
        citation=line_citation(document.path, asked.start, asked.end),
        freshness=state,
        truncated=truncated,
    )


def _freshness(document: StoredDocument) -> Freshness:
    return freshness(document.root, document.path, document.size, document.mtime_ns)
