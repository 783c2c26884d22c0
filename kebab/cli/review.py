"""Runs a review: shows findings as they come, and applies fixes."""

from __future__ import annotations

import shlex
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kebab.app.events import ReviewEncoder
from kebab.app.review_files import ItemLocator
from kebab.cli.channels import Display, OutputChannel
from kebab.cli.event_lines import EventLines
from kebab.cli.progress import run_review
from kebab.cli.prompt import confirm
from kebab.cli.render.canvas import clean, truncate
from kebab.cli.render.progress import CLEAR_LINE
from kebab.cli.render.review import (
    ReviewTally,
    SarifLog,
    render_applied,
    render_fix_plan,
    render_items,
    render_no_page,
    render_path,
    render_positions,
    render_review_notes,
    render_summary,
)
from kebab.errors.catalog import Cancelled
from kebab.errors.signal import Exit
from kebab.wire.record import NotFound, find_exit_status
from kebab.wire.review import AgentItems, ReviewApplyRequest, ReviewRequest, TranslateRequest

if TYPE_CHECKING:
    from kebab.cli.context import CommandContext
    from kebab.wire.stream import ReviewEvent

_EVERY_MS = 30_000


class PageDisplay:
    """Shows the pages of a review; this one shows nothing, because fixes are applied."""

    def show(self, page: AgentItems) -> None:
        """Show a page."""

    def finish(self, tally: ReviewTally, *, completed: bool) -> None:
        """Show the end."""


class TextDisplay(PageDisplay):
    """Shows findings below their file; as `lines`, one line each with the summary on stderr."""

    def __init__(self, context: CommandContext, *, lines: bool) -> None:
        self._out, self._err = context.channels
        self._canvas = context.create_canvas(self._err if lines else self._out)
        self._lines = lines
        self._locator = ItemLocator()
        self._file: str | None = None

    def show(self, page: AgentItems) -> None:
        """Show the findings of a page; the path of their file comes first."""
        if page.document is None or not page.items:
            return
        located = self._locator.locate(page)
        if self._lines:
            self._out.write_lines(render_positions(page, located))
            return
        lines = [""] if self._file else []
        if page.document.file != self._file:
            lines += render_path(page.document, located.state, self._canvas)
        self._file = page.document.file
        self._out.write_lines([*lines, *render_items(page, located, self._canvas)])

    def finish(self, tally: ReviewTally, *, completed: bool) -> None:
        """Show the summary."""
        blank = [""] if self._file else []
        channel = self._err if self._lines else self._out
        channel.write_lines([*blank, *render_summary(tally, self._canvas)])


class SarifDisplay(PageDisplay):
    """Writes the log of all findings at the end."""

    def __init__(self, context: CommandContext) -> None:
        self._log = SarifLog()
        self._out = context.channels.out
        self._locator = ItemLocator()

    def show(self, page: AgentItems) -> None:
        """Keep the findings of a page."""
        self._log.add(page, self._locator.locate(page))

    def finish(self, tally: ReviewTally, *, completed: bool) -> None:
        """Write the log."""
        self._out.write_lines(self._log.render(tally, completed=completed))


class ReviewDisplay(Display["ReviewEvent"]):
    """Shows the pages of a review, and on stderr a line about the work.

    On a terminal the line changes every half second; elsewhere there is one every 30 seconds.
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
        self.abort()

    def __call__(self, event: ReviewEvent) -> bool:
        """Show an event; only pages are seen at once."""
        data = event.data
        if isinstance(data, AgentItems):
            self._show(data)
            return False
        self.run_id = data.run_id or self.run_id
        if event.type == "stage" and data.label:
            self._label = f"{self._verb} {clean(data.label)}"
        elif event.type == "progress" and data.total:
            self._units = f"{data.emitted or 0:,} of {data.total:,} units, "
        return False

    def _show(self, page: AgentItems) -> None:
        self.run_id, self._last = page.run_id, page
        self.tally.add(page)
        self.status = max(self.status, find_exit_status(page))
        self.abort()
        self._pages.show(page)

    def show_heartbeat(self, elapsed_ms: float) -> None:
        """Write the line about the work."""
        line = f"{self._label}  {self._units}{elapsed_ms / 1000:.0f} s"
        if self._canvas.live:
            line = truncate(line, self._channel.columns - 1)
            self._channel.write(CLEAR_LINE + self._canvas.dim(line))
            self._is_drawn = True
        elif elapsed_ms - self._written_ms >= _EVERY_MS:
            self._written_ms = elapsed_ms
            self._channel.write(f"{line}\n")

    def finish(self, reply: AgentItems, *, completed: bool) -> None:
        """Show the last page unless it was reported, and the summary."""
        if self._last is None or (reply.chunk_id, reply.items) != (
            self._last.chunk_id,
            self._last.items,
        ):
            self._show(reply)
        self._pages.finish(self.tally, completed=completed)

    def abort(self) -> None:
        """Remove the line."""
        if self._is_drawn:
            self._channel.write(CLEAR_LINE)
            self._is_drawn = False


def review_and_show(context: CommandContext, request: ReviewRequest, form: str) -> Exit:
    """Show all findings."""
    lines = not context.channels.out.is_terminal
    pages = SarifDisplay(context) if form == "sarif" else TextDisplay(context, lines=lines)
    display = ReviewDisplay(context, pages)
    reply, cancelled = run_review(context, request, display)
    if isinstance(reply, NotFound):
        return context.print_reply(reply, render_no_page)
    display.finish(reply, completed=not cancelled)
    write_notes(context, display, completed=not cancelled)
    return Exit.INTERRUPTED if cancelled else display.status


def write_notes(context: CommandContext, display: ReviewDisplay, *, completed: bool) -> None:
    """Write what limits the result, and the next commands."""
    channel = context.channels.err
    canvas = context.create_canvas(channel)
    channel.write_lines(render_review_notes(display.tally, canvas))
    if not completed and display.run_id:
        channel.write_lines([canvas.step("go on", f"kebab review --run-id {display.run_id}")])
    tally = display.tally
    if context.channels.out.is_terminal and completed and tally.fixes and display.run_id:
        command = f"kebab review --run-id {display.run_id} --apply"
        if tally.safe_fixes:
            channel.write_lines([canvas.step("apply the fixes", command)])
        if tally.fixes > tally.safe_fixes:
            channel.write_lines([canvas.step("apply all fixes", f"{command} --unsafe")])


def review_quietly(
    context: CommandContext, request: ReviewRequest | TranslateRequest
) -> tuple[AgentItems | NotFound, bool]:
    """Return the reply, and whether it was cancelled; the progress is events on stderr."""
    if context.flags.machine:
        return run_review(context, request, EventLines(context, ReviewEncoder(), stream=False))
    return run_review(context, request, ReviewDisplay(context, PageDisplay()))


def review_and_apply(
    context: CommandContext, request: ReviewRequest, *, dry_run: bool, unsafe: bool, yes: bool
) -> Exit:
    """Review all documents unless a run is given, and apply the fixes.

    Raises:
        Cancelled: The review was interrupted, or the answer was no.
        ConfirmationRequired: Nobody can confirm, and `yes` is not given.
        ReadOnly: Writing is switched off.
    """
    if not dry_run or not request.run_id:  # fixes are those of a stored run
        context.require_writable("review --apply")
    if request.run_id:
        return _apply_fixes(context, request.run_id, dry_run=dry_run, unsafe=unsafe, yes=yes)
    reply, cancelled = review_quietly(context, request)
    if isinstance(reply, NotFound):
        return context.print_reply(reply, render_applied)
    if cancelled:
        raise Cancelled(operation="review")
    return _apply_fixes(context, reply.run_id, dry_run=dry_run, unsafe=unsafe, yes=yes)


def _apply_fixes(
    context: CommandContext, run_id: str, *, dry_run: bool, unsafe: bool, yes: bool
) -> Exit:
    """Apply the fixes of a run after confirmation, or show what would change."""
    request = ReviewApplyRequest(run_id=run_id, unsafe=unsafe)
    if dry_run or not yes:
        plan = context.run(replace(request, dry_run=True))
        if dry_run or isinstance(plan, NotFound):
            return context.print_reply(plan, render_applied)
        operation = f"review --run-id {shlex.quote(run_id)} --apply" + " --unsafe" * unsafe
        confirm(context, operation, partial(render_fix_plan, plan))
    return context.print_reply(context.run(request), render_applied)
