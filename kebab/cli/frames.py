"""`search --stream`: one page as frames; `complete` ends the work, `end` the transmission."""

import time

from kebab.app.classify import Fault
from kebab.cli.session import Session
from kebab.errors.signal import Exit
from kebab.wire.search import EventData, SearchEvent, SearchResponse


class Frames:
    """Frames of one search. Its faults go out as a frame too, before they are reported."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._started = time.monotonic()
        session.on_fault = self._fail
        self._send(SearchEvent(type="stage", data=EventData(stage="search")), None)

    def finish(self, reply: SearchResponse, status: Exit) -> Exit:
        """Send the page and the end; return the exit status."""
        progress = EventData(elapsed_ms=self._ms())
        self._send(SearchEvent(type="progress", data=progress), status)
        self._send(SearchEvent(type="items", data=EventData(items=reply.hits)), status)
        self._send(SearchEvent(type="complete", data=_complete(reply, self._ms())), status)
        self._send(SearchEvent(type="end", data=EventData()), status)
        return status

    def _fail(self, fault: Fault) -> None:
        data = EventData(error=fault.reply)
        self._send(SearchEvent(type="error", data=data), fault.exit)
        self._send(SearchEvent(type="end", data=EventData()), fault.exit)

    def _send(self, frame: SearchEvent, status: int | None) -> None:
        self._session.line(frame, status)

    def _ms(self) -> float:
        return (time.monotonic() - self._started) * 1000


def _complete(reply: SearchResponse, elapsed_ms: float) -> EventData:
    return EventData(
        elapsed_ms=elapsed_ms,
        hit_count=len(reply.hits),
        has_more=reply.has_more,
        next_cursor=reply.next_cursor,
        truncated=reply.truncated,
        degraded=reply.degraded,
        corpus_revision=reply.corpus_revision,
    )
