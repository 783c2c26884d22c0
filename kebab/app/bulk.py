"""Searches many queries; each line of input gets its own response or its own error."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import msgspec

from kebab.app.classify import View, classify_error
from kebab.errors.catalog import build_catalog
from kebab.errors.signal import Exit, Signal
from kebab.wire.record import DECODE_ERRORS, decode_request
from kebab.wire.search import SearchRequest, SearchResponse
from kebab.wire.search_stream import BulkSearchItem


@dataclass(slots=True)
class BulkOutcome:
    """Collects the items of a bulk search to choose its exit status."""

    answered: bool = False
    found: bool = False
    failures: set[Exit] = field(default_factory=set)
    """The exit statuses of the errors."""

    def add(self, item: BulkSearchItem) -> None:
        """Add an item."""
        if item.error:
            self.failures.add(build_catalog()[item.error.code].meaning.exit)
        elif item.response:
            self.answered = True
            self.found = self.found or bool(item.response.hits and item.response.convincing)

    @property
    def status(self) -> Exit:
        """The exit status: a convincing hit counts most, an error only when every line failed."""
        if self.found:
            return Exit.DONE
        if self.answered or not self.failures:
            return Exit.NO
        return Exit.UNUSABLE if self.failures == {Exit.UNUSABLE} else Exit.ERROR


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
            query = _join_queries(request.query, *request.queries)
            item = BulkSearchItem(index=index, query=query, response=search_one(request))
        except Signal as signal:
            query = _find_query(line) if query is None else query
            error = classify_error(signal, operation="search", view=view).reply
            item = BulkSearchItem(index=index, query=query, error=error)
        yield item


def _find_query(line: bytes) -> str | None:
    """Return the query of a line that is no request, if it has one."""
    try:
        fields = msgspec.json.decode(line)
    except DECODE_ERRORS:
        return None
    if not isinstance(fields, dict):
        return None
    first, more = fields.get("query"), fields.get("queries")
    texts = [first, *(more if isinstance(more, list) else [])]
    return _join_queries(*(text for text in texts if isinstance(text, str)))


def _join_queries(*texts: str) -> str:
    return " | ".join(filter(None, texts))


def _read_line(line: bytes) -> SearchRequest:
    decoded: str | SearchRequest = decode_request(line, str | SearchRequest)
    return SearchRequest(query=decoded) if isinstance(decoded, str) else decoded
