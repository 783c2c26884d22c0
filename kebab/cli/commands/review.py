"""`kebab review` finds mistakes in documents: shows findings as they come, and applies fixes."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from kebab.cli.command import declare_command
from kebab.cli.options import build_request, field_options, ndjson_option, refuse_contradictions
from kebab.cli.progress import EventLines, run_review, stream_review
from kebab.cli.prompt import confirm
from kebab.cli.render.canvas import clean
from kebab.cli.render.progress import StatusDisplay
from kebab.cli.render.review import (
    ReviewTally,
    SarifLog,
    render_applied,
    render_fix_plan,
    render_items,
    render_path,
    render_positions,
    render_review_notes,
    render_summary,
)
from kebab.errors.catalog import Cancelled
from kebab.errors.signal import Exit
from kebab.review.items import ItemLocator
from kebab.server.events import ReviewEncoder
from kebab.wire.record import NotFound, find_exit_status
from kebab.wire.review import AgentItems, ReviewApplyRequest, ReviewRequest, TranslateRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kebab.cli.context import CommandContext
    from kebab.review.items import LocatedPage
    from kebab.wire.stream import ReviewEvent

_HEAD = "HEAD"
_APPLY_FLAGS = ("dry_run", "unsafe", "yes")
_OWN_FLAGS = ("apply", "stream", *_APPLY_FLAGS)
"""The flags that are no fields of the request."""
RUN_HELP = {
    "cursor": "Show the page after this cursor of `--run-id`.",
    "run_id": "Go on with this run, or show it again.",
}
"""The help of the flags by which a stored run is read."""


def _check_flags(flags: Mapping[str, Any], names: Sequence[str], form: str, *, json: bool) -> None:
    """Refuse flags that exclude or need each other; the library checks those of a request."""
    given = {name for name, value in flags.items() if value} | ({"names"} if names else set())
    for_apply = [f"--{name.replace('_', '-')}" for name in _APPLY_FLAGS if flags[name]]
    is_form = form != "text"
    refuse_contradictions(
        (not given & {"names", "run_id"}, "give DOC, PATH or GLOB, or `--run-id`"),
        (names and flags["run_id"], "`--run-id` and DOC, PATH or GLOB exclude each other"),
        (flags["cursor"] and not flags["run_id"], "`--cursor` goes with `--run-id`"),
        (flags["no_llm"] and flags["model"], "`--no-llm` and `--model` exclude each other"),
        (flags["no_llm"] and flags["tier"] == "deep", "`--tier deep` needs a model"),
        (is_form and json, "`--json` and `--format` exclude each other"),
        (is_form and given & {"apply", "stream"}, "`--format` is for findings as text"),
        (flags["apply"] and given & {"stream", "cursor"}, "`--apply` is for all pages"),
        (for_apply and not flags["apply"], f"`{''.join(for_apply[:1])}` goes with `--apply`"),
    )


@declare_command(
    "review",
    examples=(
        "kebab review README.md",
        "kebab review 'docs/**/*.md' --no-llm --fail-on error --format sarif",
        "kebab review notes --apply",
        "kebab review docs --changed main",
    ),
)
@click.argument("names", nargs=-1, metavar="[PATH|GLOB…]", type=click.Path())
@field_options(
    ReviewRequest,
    tier="What the model looks for; `deep` also finds style, and needs a model.",
    limit="Show at most N findings on a page.",
    **RUN_HELP,
    no_llm="Apply the rules only, without a language model.",
    model="The language model.",
    fail_on="The least severity with the exit status 1; `suggestion` by default.",
)
@click.option(
    "--rules",
    metavar="ID,…",
    callback=lambda _, __, value: value and [one.strip() for one in value.split(",")],
    help="Apply only these rules.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "sarif"]),
    default="text",
    help="The form of text output.",
)
@click.option(
    "--changed",
    metavar="[REF]",
    is_flag=False,
    flag_value=_HEAD,
    help="Only files and lines that changed since this git revision, `HEAD` unless told.",
)
@click.option("--apply", is_flag=True, help="Write the fixes that are certain into the files.")
@click.option("--unsafe", is_flag=True, help="With `--apply`, write all proposed fixes.")
@click.option("--dry-run", is_flag=True, help="With `--apply`, show the differences only.")
@click.option("--yes", is_flag=True, help="With `--apply`, do not ask for confirmation.")
@ndjson_option("--stream", help="Send the findings as NDJSON events, all pages.")
def command(context: CommandContext, /, names: tuple[str, ...], form: str, **flags: Any) -> Exit:
    """Find mistakes in documents.

    Rules find broken links, stale dates and more without a model; a language model, if there is
    one, finds spelling and grammar. Files are reviewed as they are on disk now. `--json` prints one
    page of findings; text has all of them. A run is stored: `--run-id` goes on where an interrupted
    one ended. `--apply` shows the differences, asks, and keeps each original as `FILE.orig`; fixes
    that are not certain wait for `--unsafe`. The exit status is 1 when there are findings of at
    least the severity `--fail-on`.

    `<!-- kebab-ignore RULE: reason -->` ignores findings of its line, or of the next one. The
    settings are in `[review]`. A path behind `--changed` is what to review.

    Without `--model` and `--tier deep` the rules go on alone when the model fails, and the output
    says so. With one of them a model without a usable answer is an error, and text that it did not
    answer makes the exit status 1; `--run-id` asks about it again.
    """
    # A path behind `--changed` is what to review.
    if (changed := flags["changed"]) is not None:
        if changed != _HEAD and Path(changed).exists():
            flags["changed"], names = _HEAD, (changed, *names)
        names = names or (() if flags["run_id"] else (".",))
    machine, stream = context.flags.machine, flags["stream"]
    _check_flags(flags, names, form, json=machine)
    fields = {name: value for name, value in flags.items() if name not in _OWN_FLAGS}
    all_pages = not machine or flags["apply"] or stream  # `--json` has one page
    request = build_request(ReviewRequest, fields, names=names, all_pages=all_pages)
    if flags["apply"]:
        return review_and_apply(context, request, **{name: flags[name] for name in _APPLY_FLAGS})
    if machine:
        return review_for_program(context, request, stream=stream)
    return review_and_show(context, request, form)


def review_for_program(
    context: CommandContext, request: ReviewRequest | TranslateRequest, *, stream: bool
) -> Exit:
    """Print one page, or all events of the run."""
    if stream:
        return stream_review(context, request)
    page, cancelled = review_quietly(context, request)
    return context.print_reply(page, lambda *_: (), Exit.INTERRUPTED if cancelled else None)


class FindingsText:
    """Shows findings below their file; in a pipe one line each, with the summary on stderr."""

    def __init__(self, context: CommandContext) -> None:
        self._out, self._err = context.channels
        self._lines = not self._out.is_terminal
        self._canvas = context.create_canvas(self._err if self._lines else self._out)
        self._file: str | None = None

    def add(self, page: AgentItems, located: LocatedPage) -> None:
        """Show the findings of a page; the path of their file comes first."""
        if page.document is None or not page.items:
            return
        if self._lines:
            self._out.write_lines(render_positions(page, located))
            return
        lines = [""] if self._file else []
        if page.document.file != self._file:
            lines += render_path(page.document, located.state, self._canvas)
        self._file = page.document.file
        self._out.write_lines([*lines, *render_items(page, located, self._canvas)])

    def finish(self, tally: ReviewTally) -> None:
        """Show the summary."""
        blank = [""] if self._file else []
        channel = self._err if self._lines else self._out
        channel.write_lines([*blank, *render_summary(tally, self._canvas)])


class ReviewDisplay(StatusDisplay["ReviewEvent"]):
    """Shows the state of a review, and calls `show` with each of its pages."""

    def __init__(
        self,
        context: CommandContext,
        show: Callable[[AgentItems], None],
        *,
        verb: str = "reviewing",
    ) -> None:
        super().__init__(context.channels.err, context.create_canvas(context.channels.err))
        self.tally = ReviewTally()
        self.status = Exit.DONE
        self.run_id: str | None = None
        self._show = show
        self._last: AgentItems | None = None
        self._verb = self._label = verb
        self._units = ""

    def __call__(self, event: ReviewEvent) -> bool:
        """Show an event; only pages are seen at once."""
        data = event.data
        if isinstance(data, AgentItems):
            self._take(data)
            return False
        self.run_id = data.run_id or self.run_id
        if event.type == "stage" and data.label:
            self._label = f"{self._verb} {clean(data.label)}"
        elif event.type == "progress" and data.total:
            self._units = f"{data.emitted or 0:,} of {data.total:,} units, "
        return False

    def _take(self, page: AgentItems) -> None:
        self.run_id, self._last = page.run_id, page
        self.tally.add(page)
        self.status = max(self.status, find_exit_status(page))
        self.abort()
        self._show(page)

    def describe(self, elapsed_ms: float) -> str:
        """Return the document, the number of its units, and the time."""
        return f"{self._label}  {self._units}{elapsed_ms / 1000:.0f} s"

    def show_last(self, reply: AgentItems) -> None:
        """Show the last page unless it was reported."""
        last = self._last
        if last is None or (reply.chunk_id, reply.items) != (last.chunk_id, last.items):
            self._take(reply)


def review_and_show(context: CommandContext, request: ReviewRequest, form: str) -> Exit:
    """Show all findings."""
    out, locator = context.channels.out, ItemLocator()
    log = SarifLog() if form == "sarif" else None
    text = FindingsText(context)
    add = log.add if log else text.add
    display = ReviewDisplay(context, lambda page: add(page, locator.locate(page)))
    reply, cancelled = run_review(context, request, display)
    if isinstance(reply, NotFound):
        return context.print_reply(reply, lambda *_: ())
    display.show_last(reply)
    if log:
        out.write_lines(log.render(display.tally, completed=not cancelled))
    else:
        text.finish(display.tally)
    channel, tally = context.channels.err, display.tally
    canvas = context.create_canvas(channel)
    lines = [*render_review_notes(tally, canvas)]
    command = f"kebab review --run-id {display.run_id}"
    if cancelled and display.run_id:
        lines.append(canvas.step("go on", command))
    if out.is_terminal and not cancelled and display.run_id:
        if tally.safe_fixes:
            lines.append(canvas.step("apply the fixes", f"{command} --apply"))
        if tally.fixes > tally.safe_fixes:
            lines.append(canvas.step("apply all fixes", f"{command} --apply --unsafe"))
    channel.write_lines(lines)
    return Exit.INTERRUPTED if cancelled else display.status


def review_quietly(
    context: CommandContext, request: ReviewRequest | TranslateRequest
) -> tuple[AgentItems | NotFound, bool]:
    """Return the reply, and whether it was cancelled; the progress is events on stderr."""
    if context.flags.machine:
        return run_review(context, request, EventLines(context, ReviewEncoder(), stream=False))
    return run_review(context, request, ReviewDisplay(context, lambda _: None))


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
    run_id = request.run_id
    if not run_id:
        reply, cancelled = review_quietly(context, request)
        if isinstance(reply, NotFound):
            return context.print_reply(reply, render_applied)
        if cancelled:
            raise Cancelled(operation="review")
        run_id = reply.run_id
    fixes = ReviewApplyRequest(run_id=run_id, unsafe=unsafe)
    if dry_run or not yes:
        plan = context.run(replace(fixes, dry_run=True))
        if dry_run or isinstance(plan, NotFound):
            return context.print_reply(plan, render_applied)
        operation = f"review --run-id {shlex.quote(run_id)} --apply" + " --unsafe" * unsafe
        confirm(context, operation, plan, render_fix_plan)
    return context.print_reply(context.run(fixes), render_applied)
