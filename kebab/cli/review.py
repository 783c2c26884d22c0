"""Runs a review: shows findings as they come, applies fixes, and draws a recorded stream."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import msgspec
from msgspec.structs import replace

from kebab.app.events import ReviewEncoder
from kebab.app.review_text import ItemLocator
from kebab.cli.channels import Display, OutputChannel
from kebab.cli.event_lines import EventLines
from kebab.cli.progress import run_review
from kebab.cli.prompt import confirm
from kebab.cli.render.canvas import Canvas, clean, pluralize, truncate
from kebab.cli.render.progress import CLEAR_LINE, STOPPING
from kebab.cli.render.review import (
    ReviewTally,
    render_applied,
    render_fix_plan,
    render_fixed_text,
    render_items,
    render_path,
    render_review_notes,
    render_summary,
)
from kebab.cli.render.review_formats import (
    LINE_RENDERERS,
    SarifLog,
    render_positions,
    render_unanswered_github,
)
from kebab.errors.catalog import Cancelled, InvalidInput
from kebab.errors.signal import Exit
from kebab.errors.system import translate_os_errors
from kebab.wire.record import DECODE_ERRORS, NotFound, find_exit_status, to_invalid_input
from kebab.wire.review import (
    AgentItems,
    AppliedFile,
    ReviewApplied,
    ReviewApplyRequest,
    ReviewRequest,
)
from kebab.wire.stream import ReviewEvent, ReviewEventData

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from kebab.cli.context import CommandContext

_EVERY_MS = 30_000


class PageDisplay:
    """Shows the pages of a review; this one shows nothing, because fixes are applied."""

    def show(self, page: AgentItems) -> None:
        """Show a page."""

    def finish(self, tally: ReviewTally, *, completed: bool) -> None:
        """Show the end."""


class FindingsView(PageDisplay):
    """Shows findings below their file on a terminal."""

    def __init__(self, context: CommandContext, text: str | None = None) -> None:
        self._out = context.channels.out
        self._canvas = context.create_canvas()
        self._locator = ItemLocator(text)
        self._file: str | None = None

    def show(self, page: AgentItems) -> None:
        """Show the findings of a page; the path of their file comes first."""
        if page.document is None or not page.items:
            return
        located = self._locator.locate(page)
        lines = [""] if self._file else []
        if page.document.file != self._file:
            lines += render_path(page.document, located.state, self._canvas)
        self._file = page.document.file
        self._out.write_lines([*lines, *render_items(page, located, self._canvas)])

    def finish(self, tally: ReviewTally, *, completed: bool) -> None:
        """Show the summary."""
        blank = [""] if self._file else []
        self._out.write_lines([*blank, *render_summary(tally, self._canvas)])


class FindingLines(PageDisplay):
    """Shows one line for each finding; the summary is on stderr."""

    def __init__(self, context: CommandContext, form: str, text: str | None = None) -> None:
        self._context = context
        self._form = form
        self._render = LINE_RENDERERS.get(form, render_positions)
        self._locator = ItemLocator(text)

    def show(self, page: AgentItems) -> None:
        """Show the findings of a page."""
        if page.items:
            located = self._locator.locate(page)
            self._context.channels.out.write_lines(self._render(page, located))

    def finish(self, tally: ReviewTally, *, completed: bool) -> None:
        """Show the summary."""
        if self._form == "github":
            self._context.channels.out.write_lines(render_unanswered_github(tally))
        err = self._context.channels.err
        err.write_lines(render_summary(tally, self._context.create_canvas(err)))


class SarifDisplay(PageDisplay):
    """Writes the log of all findings at the end."""

    def __init__(self, context: CommandContext, log: SarifLog, text: str | None = None) -> None:
        self._out = context.channels.out
        self._log = log
        self._locator = ItemLocator(text)

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
        self.run_id = data.run_id or self.run_id
        if data.page:
            self._show(data.page)
        elif event.type == "stage" and data.label:
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

    def announce_stop(self) -> None:
        """Show that the work stops soon."""
        self._label = STOPPING

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


def choose_display(
    context: CommandContext, form: str, load_log: Callable[[], SarifLog], text: str | None = None
) -> PageDisplay:
    """Return the display for a form of output; a text that is given stands for the file."""
    if form == "sarif":
        return SarifDisplay(context, load_log(), text)
    if form == "text" and context.channels.out.is_terminal:
        return FindingsView(context, text)
    return FindingLines(context, form, text)


def write_notes(
    context: CommandContext, display: ReviewDisplay, *, completed: bool, stored: bool = True
) -> None:
    """Write what limits the result, and the next commands; without storage there are none."""
    if not stored:
        display.run_id = None
        display.tally.warnings.pop("run_not_stored", None)
    channel = context.channels.err
    canvas = context.create_canvas(channel)
    channel.write_lines(render_review_notes(display.tally, canvas))
    if not completed and display.run_id:
        channel.write_lines([canvas.step("go on", f"kebab review --run-id {display.run_id}")])
    is_seen = context.channels.out.is_terminal and completed
    if is_seen and display.tally.fixes and display.run_id:
        command = f"kebab review --run-id {display.run_id} --apply"
        tally = display.tally
        if tally.safe_fixes:
            channel.write_lines([canvas.step("apply the fixes", command)])
        if tally.fixes > tally.safe_fixes:
            step = canvas.step("apply all fixes", f"{command} --unsafe")
            channel.write_lines([step])


def review_quietly(
    context: CommandContext, request: ReviewRequest
) -> tuple[AgentItems | NotFound, bool]:
    """Return the reply, and whether it was cancelled; the progress is events on stderr."""
    text = ReviewDisplay(context, PageDisplay())
    events = EventLines(context, ReviewEncoder(), stream=False)
    display = events if context.flags.machine else text
    return run_review(context, request, display, text.announce_stop)


def review_and_apply(
    context: CommandContext, request: ReviewRequest, *, dry_run: bool, unsafe: bool, yes: bool
) -> Exit:
    """Review all documents unless a run is given, and apply the fixes.

    Raises:
        Cancelled: The review was interrupted, or the answer was no.
        ConfirmationRequired: Nobody can confirm, and `yes` is not given.
        ReadOnly: Writing is switched off.
    """
    if request.text is None and (not dry_run or not request.run_id):
        # Fixes are those of a stored run.
        context.require_writable("review --apply")
    if request.run_id:
        return _apply_fixes(context, request.run_id, dry_run=dry_run, unsafe=unsafe, yes=yes)
    reply, cancelled = review_quietly(context, request)
    if isinstance(reply, NotFound):
        return context.print_reply(reply, render_applied)
    if cancelled:
        raise Cancelled(operation="review")
    if request.text is not None:
        return _write_fixed_text(context, request.text, reply, dry_run=dry_run, unsafe=unsafe)
    return _apply_fixes(context, reply.run_id, dry_run=dry_run, unsafe=unsafe, yes=yes)


def _write_fixed_text(
    context: CommandContext, text: str, reply: AgentItems, *, dry_run: bool, unsafe: bool
) -> Exit:
    """Write a text from stdin with its fixes to stdout, or with `dry_run` the differences."""
    from kebab.app.review_apply import fix_given_text

    assert reply.document is not None, "a text was given"
    path = Path(reply.document.file)
    fixed, difference = fix_given_text(path, text, reply.items, unsafe=unsafe)
    if context.flags.machine:
        file = AppliedFile(
            file=str(path),
            backup=None,
            applied=fixed.applied,
            overlapping=fixed.overlapping,
            diff=difference,
        )
        applied = ReviewApplied(
            run_id=reply.run_id,
            dry_run=True,
            files=[file] if fixed.applied else [],
            waiting=fixed.waiting,
            refused=fixed.refused,
        )
        return context.print_reply(applied, render_applied)
    context.channels.out.write(difference if dry_run else fixed.text)
    err = context.channels.err
    canvas = context.create_canvas(err)
    err.write_lines(render_fixed_text(fixed.applied, fixed.waiting, fixed.refused, canvas))
    return Exit.DONE


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


_STDIN = "-"
_TYPES = frozenset(get_args(ReviewEvent.__annotations__["type"]))
_TAG = str(ReviewEvent.__struct_config__.tag)
_NO_EVENT = "no event of a review"
_SECOND_MS = 1000


class _Line(msgspec.Struct):
    """What tells whether a line is an event that can be drawn."""

    schema_version: str = ""
    type: str = ""


def read_recording(lines: Iterable[bytes]) -> Iterator[ReviewEvent]:
    """Yield the events of a recorded stream.

    Empty lines, events of unknown types and other objects are skipped, and the last line may be
    cut off.

    Raises:
        InvalidInput: A line is broken, or there is no event at all; `field` is the JSON path.
    """
    found = False
    fault: InvalidInput | None = None
    for index, line in enumerate(lines):
        if not line.strip():
            continue
        if fault is not None:
            raise fault
        try:
            kind = msgspec.json.decode(line, type=_Line)
            if kind.schema_version == _TAG and kind.type in _TYPES:
                yield msgspec.json.decode(line, type=ReviewEvent)
                found = True
        except DECODE_ERRORS as error:
            broken = to_invalid_input(error)
            path = f"$[{index}]{broken.field.removeprefix('$')}"
            fault = InvalidInput(field=path, cause=f"line {index + 1}: {broken.cause}")
            fault.__cause__ = error
    if not found:
        raise fault or InvalidInput(field="$", cause=_NO_EVENT)


@contextmanager
def open_recording(path: str) -> Iterator[Iterable[bytes]]:
    """Open the lines of a file, or of stdin for `-`.

    Raises:
        IoError: It cannot be read.
    """
    if path == _STDIN:
        yield sys.stdin.buffer if sys.stdin else ()
        return
    with translate_os_errors(path, "read"), Path(path).open("rb") as file:
        yield file


class Replay:
    """Shows recorded events, and remembers how the run went."""

    def __init__(self, display: ReviewDisplay) -> None:
        self.error: ReviewEventData | None = None
        self.end: ReviewEventData | None = None
        self.last_page: AgentItems | None = None
        self.stages: dict[str, Counter[str]] = {}
        self._display = display
        self._began: datetime | None = None

    def show(self, event: ReviewEvent) -> None:
        """Show an event."""
        self._display(event)
        data = event.data
        if event.type == "error":
            self.error = data
        elif event.type == "end":
            self.end = data
        elif data.page:
            self.last_page = data.page
        elif event.type == "stage" and data.stage:
            counts = self.stages.setdefault(clean(data.stage), Counter())
            counts[str(data.status)] += 1
            counts["items"] += data.item_count or 0
        elapsed_ms = 0.0  # between the first event and this one, as recorded
        with suppress(ValueError, TypeError):
            moment = datetime.fromisoformat(event.timestamp or "")
            self._began = self._began or moment
            elapsed_ms = (moment - self._began).total_seconds() * _SECOND_MS
        self._display.show_heartbeat(elapsed_ms)


def replay_review(context: CommandContext, path: str, display: ReviewDisplay) -> Exit:
    """Draw a recorded stream; return the exit status of the pages in it.

    Raises:
        InvalidInput: The file is no recorded stream.
        IoError: It cannot be read.
    """
    replay = Replay(display)
    with display, open_recording(path) as lines:
        for event in read_recording(lines):
            replay.show(event)
    ended = replay.end is not None and bool(replay.end.completed)
    if replay.last_page is not None:
        display.finish(replay.last_page, completed=ended)
    err = context.channels.err
    err.write_lines(render_outcome(replay, context.create_canvas(err)))
    return display.status


def render_outcome(replay: Replay, canvas: Canvas) -> Iterator[str]:
    """Yield what each stage of a recorded run did, and how the run ended."""
    width = max(map(len, replay.stages), default=0)
    for stage, counts in replay.stages.items():
        parts = [pluralize(counts["items"], "finding")]
        if counts["error"]:
            parts.append(canvas.error(pluralize(counts["error"], "error")))
        yield f"{canvas.dim(f'{stage:<{width}}')}  {', '.join(parts)}"
    if replay.error is not None:
        yield from canvas.wrap_with_label("error:", clean(str(replay.error.message)), canvas.error)
    if replay.end is None:
        yield from canvas.note("the recording has no end: it was cut off, or the run goes on")
    elif not replay.end.completed:
        reason = f": {clean(replay.end.reason)}" if replay.end.reason else ""
        yield from canvas.note(f"the run did not do all of its work{reason}")
