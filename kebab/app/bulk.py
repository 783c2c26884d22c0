"""Searches many queries; each line of input gets its own response or its own error."""

from collections.abc import Callable, Iterable, Iterator

from kebab.app.classify import View, classify_error
from kebab.errors.signal import Signal
from kebab.wire.record import decode_request
from kebab.wire.search import BulkSearchItem, SearchRequest, SearchResponse


def search_lines(
    search_one: Callable[[SearchRequest], SearchResponse], lines: Iterable[bytes], view: View
) -> Iterator[BulkSearchItem]:
    """Yield the response or the error of each line that is not empty.

    A line is a JSON string or a search request. `search_one` is the `search` of a facade.
    """
    filled = (line for line in lines if line.strip())
    for index, line in enumerate(filled):
        query: str | None = None
        try:
            request = _read_line(line)
            query = request.query
            item = BulkSearchItem(index=index, query=query, response=search_one(request))
        except Signal as signal:
            error = classify_error(signal, operation="search", view=view).reply
            item = BulkSearchItem(index=index, query=query, error=error)
        yield item


def _read_line(line: bytes) -> SearchRequest:
    decoded: str | SearchRequest = decode_request(line, str | SearchRequest)
    return SearchRequest(query=decoded) if isinstance(decoded, str) else decoded
