"""Searching line by line: each line has its own answer or its own error."""

from collections.abc import Iterable, Iterator

from kebab.app.classify import classify, seen_with
from kebab.app.compose import Workshop
from kebab.app.search import search
from kebab.errors.signal import Signal
from kebab.wire.record import decode_request
from kebab.wire.search import BulkSearchItem, SearchRequest


def bulk(shop: Workshop, lines: Iterable[bytes]) -> Iterator[BulkSearchItem]:
    """Yield the answer to each line that is not empty; a bad line is its own error."""
    filled = (line for line in lines if line.strip())
    for index, line in enumerate(filled):
        query: str | None = None
        try:
            request = _read(line)
            query = request.query
            item = BulkSearchItem(index=index, query=query, response=search(shop, request))
        except Signal as signal:
            fault = classify(signal, operation="search", view=seen_with(shop.settings)).reply
            item = BulkSearchItem(index=index, query=query, error=fault)
        yield item


def _read(line: bytes) -> SearchRequest:
    """Return the request of a line: a JSON string, or an object."""
    said: str | SearchRequest = decode_request(line, str | SearchRequest)
    return SearchRequest(query=said) if isinstance(said, str) else said
