"""Defines the base classes of displays, which show the progress of work, answers and reviews."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Self, TypeVar

if TYPE_CHECKING:
    from kebab.core.progress import Progress
    from kebab.wire.ingest import IngestReport

E = TypeVar("E")


class Display:
    """Shows progress. Methods that a display does not override do nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End the display."""

    def abort(self) -> None:
        """Prepare for the end of the process without unwinding."""


class WorkDisplay(Display):
    """Shows the progress of long work such as ingest."""

    def __call__(self, event: Progress) -> None:
        """Show an event."""
        raise NotImplementedError

    def announce_stop(self) -> None:
        """Show that the work stops soon."""

    def finish(self, status: int, report: IngestReport | None = None, *, cancelled: bool) -> None:
        """Show the end."""


class EventDisplay(Display, Generic[E]):
    """Shows the events of work that ends as soon as nobody reads them."""

    silence_s: float
    """The longest time without an event or a heartbeat."""

    def __call__(self, event: E) -> bool:
        """Show an event; return whether the reader saw it."""
        raise NotImplementedError

    def show_heartbeat(self, elapsed_ms: float) -> None:
        """Show that the work continues."""
