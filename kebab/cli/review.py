"""Runs a review and shows its findings as they come, for the commands with findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from kebab.app.review_lines import ItemLocator
from kebab.cli.displays import EventDisplay
from kebab.cli.render.review import (
    ReviewTally,
    render_items,
    render_path,
    render_review_notes,
    render_summary,
)
from kebab.cli.render.review_lines import (
    LINE_RENDERERS,
    render_positions,
    render_unanswered_github,
)
from kebab.cli.render.width import clean, truncate
from kebab.errors.signal import Exit
from kebab.wire.exit_status import find_exit_status

if TYPE_CHECKING:
    from collections.abc import Callable

    from kebab.cli.channels import OutputChannel
    from kebab.cli.context import CommandContext
    from kebab.cli.render.sarif import SarifLog
    from kebab.wire.review import AgentItems
    from kebab.wire.review_stream import ReviewEvent

_CLEAR_LINE = "\r\x1b[K"
_EVERY_MS = 30_000
_STOPPING = "stopping soon; Ctrl-C again leaves at once"


class PageDisplay(Protocol):
    """Shows the pages of a review."""

    def show(self, page: AgentItems) -> None:
        """Show a page."""

    def finish(self, tally: ReviewTally, *, completed: bool) -> None:
        """Show the end."""


class HiddenPages:
    """Shows no findings, because their fixes are applied."""

    def show(self, page: AgentItems) -> None:
        """Show nothing."""

    def finish(self, tally: ReviewTally, *, completed: bool) -> None:
        """Show nothing."""


class FindingsView:
    """Shows findings below their file on a terminal."""

    def __init__(self, context: CommandContext) -> None:
        self._out = context.channels.out
        self._canvas = context.create_canvas()
        self._locator = ItemLocator()
        self._file: str | None = None

    def show(self, page: AgentItems) -> None:
        """Show the findings of a page; the path of their file comes first."""
        if page.document is None or not page.items:
            return
        located = self._locator.locate(page)
        lines = []
        if page.document.file != self._file:
            lines += [""] if self._file else []
            lines += render_path(page.document, located.state, self._canvas)
        else:
            lines.append("")
        self._file = page.document.file
        self._out.write_lines([*lines, *render_items(page, located, self._canvas)])

    def finish(self, tally: ReviewTally, *, completed: bool) -> None:
        """Show the summary."""
        del completed
        blank = [""] if self._file else []
        self._out.write_lines([*blank, *render_summary(tally, self._canvas)])


class FindingLines:
    """Shows one line for each finding; the summary is on stderr."""

    def __init__(self, context: CommandContext, form: str) -> None:
        self._context = context
        self._form = form
        self._render = LINE_RENDERERS.get(form, render_positions)
        self._locator = ItemLocator()

    def show(self, page: AgentItems) -> None:
        """Show the findings of a page."""
        if page.items:
            located = self._locator.locate(page)
            self._context.channels.out.write_lines(self._render(page, located))

    def finish(self, tally: ReviewTally, *, completed: bool) -> None:
        """Show the summary."""
        del completed
        if self._form == "github":
            self._context.channels.out.write_lines(render_unanswered_github(tally))
        err = self._context.channels.err
        err.write_lines(render_summary(tally, self._context.create_canvas(err)))


class SarifDisplay:
    """Writes the log of all findings at the end."""

    def __init__(self, context: CommandContext, log: SarifLog) -> None:
        self._out = context.channels.out
        self._log = log
        self._locator = ItemLocator()

    def show(self, page: AgentItems) -> None:
        """Keep the findings of a page."""
        self._log.add(page, self._locator.locate(page))

    def finish(self, tally: ReviewTally, *, completed: bool) -> None:
        """Write the log."""
        self._out.write_lines(self._log.render(tally, completed=completed))


class ReviewDisplay(EventDisplay["ReviewEvent"]):
    """Shows the pages of a review, and on stderr a line about the work.

    On a terminal the line changes every half second; elsewhere there is one every 30 seconds.

    Args:
        context: The call.
        pages: Shows the pages.
        verb: What the line says that is done.
    """

    silence_s = 0.5

    def __init__(
        self, context: CommandContext, pages: PageDisplay, *, verb: str = "reviewing"
    ) -> None:
        self._verb = verb
        self.tally = ReviewTally()
        self.status = Exit.DONE
        self.run_id: str | None = None
        self._pages = pages
        self._last: AgentItems | None = None
        self._channel: OutputChannel = context.channels.err
        self._canvas = context.create_canvas(self._channel)
        self._label, self._units = verb, ""
        self._is_drawn = False
        self._written_ms = 0.0

    def __exit__(self, *_: object) -> None:
        """Remove the line."""
        self._clear()

    def __call__(self, event: ReviewEvent) -> bool:
        """Show an event; only pages are seen at once."""
        data = event.data
        self.run_id = data.run_id or self.run_id
        if data.page:
            self._show(data.page)
        elif event.type == "stage" and data.label:
            self._label = f"{self._verb} {clean(data.label)}"
        elif event.type == "progress" and data.total:
            self._units = f"{data.emitted or 0:,} of {data.total:,} units, "
        return False

    def _show(self, page: AgentItems) -> None:
        """Show a page, and count it."""
        self.run_id, self._last = page.run_id, page
        self.tally.add(page)
        self.status = max(self.status, find_exit_status(page))
        self._clear()
        self._pages.show(page)

    def announce_stop(self) -> None:
        """Show that the work stops soon."""
        self._label = _STOPPING

    def show_heartbeat(self, elapsed_ms: float) -> None:
        """Write the line about the work."""
        line = f"{self._label}  {self._units}{elapsed_ms / 1000:.0f} s"
        if self._canvas.live:
            line = truncate(line, self._channel.columns - 1)
            self._channel.write(_CLEAR_LINE + self._canvas.dim(line))
            self._is_drawn = True
        elif elapsed_ms - self._written_ms >= _EVERY_MS:
            self._written_ms = elapsed_ms
            self._channel.write(f"{line}\n")

    def abort(self) -> None:
        """Restore the terminal."""
        self._clear()

    def finish(self, reply: AgentItems, *, completed: bool) -> None:
        """Show the last page unless it was reported, and the summary."""
        if self._last is None or (reply.chunk_id, reply.items) != (
            self._last.chunk_id,
            self._last.items,
        ):
            self._show(reply)
        self._pages.finish(self.tally, completed=completed)

    def _clear(self) -> None:
        if self._is_drawn:
            self._channel.write(_CLEAR_LINE)
            self._is_drawn = False


def choose_display(
    context: CommandContext, form: str, load_log: Callable[[], SarifLog]
) -> PageDisplay:
    """Return the display for a form of output."""
    if form == "sarif":
        return SarifDisplay(context, load_log())
    if form == "text" and context.channels.out.is_terminal:
        return FindingsView(context)
    return FindingLines(context, form)


def write_notes(context: CommandContext, display: ReviewDisplay, *, completed: bool) -> None:
    """Write what limits the result, and the next commands."""
    channel = context.channels.err
    canvas = context.create_canvas(channel)
    channel.write_lines(render_review_notes(display.tally, canvas))
    if not completed and display.run_id:
        channel.write_lines([canvas.step("go on", f"kebab review --run-id {display.run_id}")])
    is_seen = context.channels.out.is_terminal and completed
    if is_seen and display.tally.fixes and display.run_id:
        command = f"kebab review --run-id {display.run_id} --apply"
        channel.write_lines([canvas.step("apply the fixes", command)])
