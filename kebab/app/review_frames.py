"""Completes the events of a review or a translation to a stream that ends with `end`."""

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from msgspec import UNSET
from msgspec.structs import replace

from kebab.app.timestamps import format_timestamp
from kebab.errors.catalog import Cancelled
from kebab.errors.signal import Exit
from kebab.wire.exit_status import find_exit_status
from kebab.wire.library import NotFound
from kebab.wire.review_stream import ReviewEvent, ReviewEventData

if TYPE_CHECKING:
    from msgspec import UnsetType

    from kebab.wire.error import ErrorReply
    from kebab.wire.review import AgentItems

_FURTHER_PAGES = "there are further pages"
_MODEL_MISSING = "the language model did not answer about all of the text"
_NO_ENVELOPE: dict[str, Any] = dict.fromkeys(
    ("command", "timestamp", "exit_code", "output_format"), UNSET
)
"""The fields of the envelope, as pages within events have them."""


class ReviewFrames:
    """The events of one run, as every surface sends them.

    The run reports `stage`, `items` and `progress`. A stream has at least one page, unless the work
    fails before the first. `complete` follows the last page, and `end` is the last event.
    """

    def __init__(self) -> None:
        self.status = Exit.DONE
        """The exit status by the pages so far."""
        self._run_id: str | UnsetType = UNSET
        self._stage: str | UnsetType = UNSET
        self._last_page: AgentItems | None = None

    def note(self, event: ReviewEvent) -> None:
        """Remember what the last events depend on."""
        self._run_id = event.data.run_id or self._run_id
        self._stage = event.data.stage or self._stage
        if event.data.page:
            self._note_page(event.data.page)

    def build_heartbeat(self, elapsed_ms: float) -> ReviewEvent:
        """Return the event that says that the work continues."""
        return self._build("heartbeat", elapsed_ms=elapsed_ms)

    def build_end(
        self, reply: "AgentItems | NotFound", *, cancelled: bool = False
    ) -> Iterator[ReviewEvent]:
        """Yield the last page unless the run reported it, `complete` and `end`.

        Work that was `cancelled` before it was done is not complete, and a document that does not
        exist has no page.
        """
        if isinstance(reply, NotFound):
            fault = reply.error
            self.status = find_exit_status(reply)
            yield self._build("error", message=fault.message, retryable=fault.retryable)
            yield self._build("end", completed=False, reason=fault.kind)
            return
        page = replace(reply, **_NO_ENVELOPE)
        if page != self._last_page:
            self._note_page(page)
            yield self._build("items", page=page)
        stopped = cancelled and page.has_more
        if stopped:
            self.status = Exit.INTERRUPTED
        else:
            yield self._build("complete", completed_at=format_timestamp(time.time()))
        reason = Cancelled.meaning.code if stopped else _find_reason(page)
        yield self._build("end", completed=not reason, reason=reason)

    def build_failure(self, error: "ErrorReply") -> Iterator[ReviewEvent]:
        """Yield `error` and `end`; an interruption is only the reason of `end`."""
        if error.code != Cancelled.meaning.code:
            yield self._build(
                "error",
                stage=self._stage,
                message=error.message,
                retryable=error.retryable,
                code=error.code,
            )
        yield self._build("end", completed=False, reason=error.code)

    def _note_page(self, page: "AgentItems") -> None:
        self.status = max(self.status, find_exit_status(page))
        self._run_id, self._last_page = page.run_id, page

    def _build(self, kind: Any, **fields: Any) -> ReviewEvent:
        return ReviewEvent(type=kind, data=ReviewEventData(run_id=self._run_id, **fields))


def _find_reason(page: "AgentItems") -> "str | UnsetType":
    """Return why the work that a page ends is not all that the run has to do."""
    if page.has_more:
        return _FURTHER_PAGES
    return _MODEL_MISSING if page.partial else UNSET
