"""Encodes the events of operations as the lines that every surface sends.

A line is an event of the operation and the exit status that it carries, None while that is not
known. `complete` says that the work is complete, and `end` that nothing follows. Each line of
`search --bulk` gets its own response or its own error.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Generic, TypeAlias, TypeVar, cast

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from kebab.app.classify import View, classify_error
from kebab.app.facade import convert_operation_request
from kebab.config.settings import Settings
from kebab.core.progress import Progress, ProgressKind
from kebab.errors.catalog import Cancelled
from kebab.errors.signal import Exit, Signal
from kebab.wire.ask import Answer, AnswerEvent
from kebab.wire.error import ErrorReply
from kebab.wire.ingest import IngestProgress, IngestReport
from kebab.wire.operations import OPERATIONS
from kebab.wire.record import (
    NotFound,
    Reply,
    decode_request,
    drop_empty_fields,
    find_exit_status,
    format_timestamp,
)
from kebab.wire.review import AgentItems
from kebab.wire.search import SearchRequest, SearchResponse
from kebab.wire.stream import BulkSearchItem, EventData, ReviewEvent, ReviewEventData, SearchEvent

E = TypeVar("E")
Line: TypeAlias = tuple[Any, Exit | None]


class EventEncoder(Generic[E]):
    """Encodes the events of one call."""

    silence_s = 3.0
    """After so long a silence a heartbeat is sent."""
    carries_errors = True
    """Whether an error is part of the last events; else it is a line of its own."""

    def __init__(self) -> None:
        self._started = time.monotonic()

    @property
    def elapsed_ms(self) -> int:
        """The time since the call began."""
        return round((time.monotonic() - self._started) * 1000)

    def take(self, event: E) -> Reply | None:
        """Return an event as it is sent; None for one that waits for the end of the work."""
        return cast("Reply", event)

    def build_heartbeat(self) -> Reply:
        """Return the event that says that the work continues."""
        raise NotImplementedError

    def build_end(self, reply: Any, status: Exit, *, cancelled: bool = False) -> Iterator[Line]:
        """Yield the last lines of work that returned a reply."""
        raise NotImplementedError

    def build_failure(self, error: ErrorReply, status: Exit) -> Iterator[Line]:
        """Yield the last lines of work that failed."""
        raise NotImplementedError

    def carries(self, reply: Reply) -> bool:
        """Return whether the last lines have this reply; else it is a line of its own."""
        del reply
        return True


class AnswerEncoder(EventEncoder[AnswerEvent]):
    """`answer_event.v1` lines; the last one is `final` or `error`."""

    def build_heartbeat(self) -> Reply:
        """Return a heartbeat."""
        return AnswerEvent(type="heartbeat", elapsed_ms=self.elapsed_ms)

    def build_end(self, reply: Answer, status: Exit, **_: bool) -> Iterator[Line]:
        """Yield the answer."""
        yield AnswerEvent(type="final", answer=reply), status

    def build_failure(self, error: ErrorReply, status: Exit) -> Iterator[Line]:
        """Yield the error."""
        yield AnswerEvent(type="error", error=error), status


class WorkEncoder(EventEncoder[Progress]):
    """`ingest_progress.v1` lines; the last one is terminal and has the report of an ingest."""

    silence_s = 1.0
    carries_errors = False

    def __init__(self) -> None:
        super().__init__()
        self._last = Progress(kind=ProgressKind.HEARTBEAT)
        self._terminal: IngestProgress | None = None

    def take(self, event: Progress) -> IngestProgress | None:
        """Return an event; a terminal one waits for the reply."""
        if event.kind in (ProgressKind.COMPLETED, ProgressKind.ABORTED):
            self._terminal = to_ingest_progress(event)
            return None
        self._last = event
        return to_ingest_progress(event)

    def build_heartbeat(self, message: str | None = None) -> IngestProgress:
        """Return a heartbeat with the phase and the path of the last event, or with a message."""
        if message:
            return IngestProgress(kind="heartbeat", message=message, elapsed_ms=self.elapsed_ms)
        kind, last, elapsed = ProgressKind.HEARTBEAT, self._last, self.elapsed_ms
        told = Progress(kind=kind, phase=last.phase, path=last.path, elapsed_ms=elapsed)
        return to_ingest_progress(told)

    def build_end(
        self, reply: Reply | None, status: Exit, *, cancelled: bool = False
    ) -> Iterator[Line]:
        """Yield the terminal event; with an `IngestReport` it has the report."""
        event = self._terminal or IngestProgress(
            kind="aborted" if cancelled else "completed", elapsed_ms=self.elapsed_ms
        )
        yield replace(event, report=reply if isinstance(reply, IngestReport) else UNSET), status

    def build_failure(self, error: ErrorReply, status: Exit) -> Iterator[Line]:
        """Yield the terminal event; the error is a line of its own."""
        del error
        yield self.build_abortion(), status

    def build_abortion(self) -> IngestProgress:
        """Return the terminal event of work that did not complete."""
        return IngestProgress(kind="aborted", elapsed_ms=self.elapsed_ms)

    def carries(self, reply: Reply) -> bool:
        """Return whether this is the report of an ingest."""
        return isinstance(reply, IngestReport)


class SearchEncoder(EventEncoder[SearchEvent]):
    """`search_event.v1` lines of one search."""

    def build_start(self) -> SearchEvent:
        """Return the first event."""
        return SearchEvent(type="stage", data=EventData(stage="search"))

    def build_end(self, reply: SearchResponse, status: Exit, **_: bool) -> Iterator[Line]:
        """Yield the page of hits and the end."""
        elapsed, page = self.elapsed_ms, replace(reply, hits=[], **NO_ENVELOPE)
        done = EventData(elapsed_ms=elapsed, hit_count=len(reply.hits), page=page)
        yield SearchEvent(type="progress", data=EventData(elapsed_ms=elapsed)), status
        yield (
            SearchEvent(type="items", data=EventData(items=reply.hits, sources=reply.sources)),
            status,
        )
        yield SearchEvent(type="complete", data=done), status
        yield SearchEvent(type="end", data=EventData()), status

    def build_failure(self, error: ErrorReply, status: Exit) -> Iterator[Line]:
        """Yield the error and the end."""
        yield SearchEvent(type="error", data=EventData(error=error)), status
        yield SearchEvent(type="end", data=EventData()), status


_FURTHER_PAGES = "there are further pages"
_MODEL_MISSING = "the language model did not answer about all of the text"
_CUT_OFF = "responses of the language model were cut off, so findings are missing"
NO_ENVELOPE: dict[str, Any] = dict.fromkeys(
    ("command", "timestamp", "exit_code", "output_format"), UNSET
)
"""The fields of the envelope, as pages within events have them."""


class ReviewEncoder(EventEncoder[ReviewEvent]):
    """`review_event.v1` lines of one run; the last one is `end`.

    The run reports `stage`, `items` and `progress`. A stream has at least one page, unless the work
    fails before the first.
    """

    def __init__(self) -> None:
        super().__init__()
        self.status = Exit.DONE
        """The exit status by the pages so far."""
        self._run_id: str | UnsetType = UNSET
        self._stage: str | UnsetType = UNSET
        self._last_page: AgentItems | None = None
        self._is_cut = False

    def take(self, event: ReviewEvent) -> ReviewEvent:
        """Return the event, and remember what the last events depend on."""
        if isinstance(event.data, AgentItems):
            self._note_page(event.data)
        else:
            self._run_id = event.data.run_id or self._run_id
            self._stage = event.data.stage or self._stage
        return event

    def build_heartbeat(self) -> ReviewEvent:
        """Return the event that says that the work continues."""
        return self._build("heartbeat", elapsed_ms=self.elapsed_ms)

    def build_end(
        self, reply: AgentItems | NotFound, status: Exit = Exit.DONE, *, cancelled: bool = False
    ) -> Iterator[Line]:
        """Yield the last page unless the run reported it, `complete` and `end`.

        Only work that has no further page, and about whose text the model has answered in full, is
        complete. A document that does not exist has no page. The status is that of all pages.
        """
        if isinstance(reply, NotFound):
            fault, status = reply.error, find_exit_status(reply)
            self.status = status
            yield self._build("error", message=fault.message, retryable=fault.retryable), status
            yield self._build("end", completed=False, reason=fault.kind), status
            return
        page = replace(reply, **NO_ENVELOPE)
        if page != self._last_page:
            self._note_page(page)
            yield ReviewEvent(type="items", data=page), None
        # Why the work that the page ends is not all that the run has to do.
        reason: str | UnsetType = _CUT_OFF if self._is_cut else UNSET
        reason = _MODEL_MISSING if page.partial else reason
        reason = _FURTHER_PAGES if page.has_more else reason
        if cancelled and page.has_more:
            self.status, reason = Exit.INTERRUPTED, Cancelled.code
        if not reason:
            yield self._build("complete", completed_at=format_timestamp(time.time())), self.status
        yield self._build("end", completed=not reason, reason=reason), self.status

    def build_failure(self, error: ErrorReply, status: Exit) -> Iterator[Line]:
        """Yield `error` and `end`; an interruption is only the reason of `end`."""
        if error.code != Cancelled.code:
            shown = {"message": error.message, "retryable": error.retryable, "code": error.code}
            yield self._build("error", stage=self._stage, **shown), status
        yield self._build("end", completed=False, reason=error.code), status

    def _note_page(self, page: AgentItems) -> None:
        self.status = max(self.status, find_exit_status(page))
        self._run_id, self._last_page = page.run_id, page
        self._is_cut = self._is_cut or page.truncated

    def _build(self, kind: Any, **fields: Any) -> ReviewEvent:
        return ReviewEvent(type=kind, data=ReviewEventData(run_id=self._run_id, **fields))


_ENCODERS: dict[type[Reply], type[EventEncoder[Any]]] = {
    AnswerEvent: AnswerEncoder,
    IngestProgress: WorkEncoder,
    ReviewEvent: ReviewEncoder,
}


def to_ingest_progress(event: Progress) -> IngestProgress:
    """Convert an event; fields that are None are left out."""
    fields = {name: value for name, value in event._asdict().items() if value is not None}
    return IngestProgress(**{**fields, "kind": event.kind.value})


def create_encoder(operation: str) -> EventEncoder[Any] | None:
    """Return the encoder of an operation; None when servers send no events of it."""
    events = OPERATIONS[operation].events
    return None if events is None else _ENCODERS[events]()


def search_lines(
    search_one: Callable[[SearchRequest], SearchResponse],
    lines: Iterable[bytes],
    settings: Settings,
    defaults: Mapping[str, Any],
) -> Iterator[tuple[BulkSearchItem, Exit]]:
    """Yield the response or the error of each line that is not empty, and its exit status.

    A line is a JSON string or a search request, which gets the fields of `defaults` that it leaves
    out. `search_one` is the `search` of a facade.
    """
    filled = (line for line in lines if line.strip())
    for index, line in enumerate(filled):
        query: str | None = None
        try:
            decoded: str | dict[str, Any] = decode_request(line, str | dict[str, Any])
            fields = {"query": decoded} if isinstance(decoded, str) else decoded
            query = _join_queries(fields)
            fields = {**defaults, **drop_empty_fields(fields, SearchRequest)}
            request = convert_operation_request("search", fields, settings)
            reply = search_one(cast("SearchRequest", request))
            found = BulkSearchItem(index=index, query=query, response=reply)
            yield found, find_exit_status(reply)
        except Signal as signal:
            fault = classify_error(signal, operation="search", view=View(settings.lang))
            yield BulkSearchItem(index=index, query=query, error=fault.reply), fault.exit


def _join_queries(fields: Mapping[str, Any]) -> str:
    """Return the queries of a request, which may be invalid."""
    first, more = fields.get("query"), fields.get("queries")
    texts = [first, *(more if isinstance(more, list) else [])]
    return " | ".join(text for text in texts if text and isinstance(text, str))
