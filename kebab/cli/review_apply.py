"""Reviews documents without showing the findings, and applies the fixes after confirmation."""

from __future__ import annotations

import shlex
from functools import partial
from typing import TYPE_CHECKING

from kebab.cli.progress import report_events
from kebab.cli.prompt import confirm
from kebab.cli.render.review_runs import render_applied, render_fix_plan
from kebab.cli.review import HiddenPages, ReviewDisplay
from kebab.cli.review_stream import ReviewEvents
from kebab.errors.catalog import Cancelled
from kebab.wire.library import NotFound
from kebab.wire.review_runs import ReviewApplyRequest

if TYPE_CHECKING:
    from kebab.app.facade import Kebab
    from kebab.cli.context import CommandContext
    from kebab.errors.signal import Exit
    from kebab.wire.review import AgentItems, ReviewRequest


def review_quietly(
    context: CommandContext, kebab: Kebab, request: ReviewRequest
) -> tuple[AgentItems | NotFound, bool]:
    """Return the reply, and whether it was cancelled; the progress is events on stderr."""
    machine = context.flags.machine
    text = ReviewDisplay(context, HiddenPages())
    with (
        report_events(context, ReviewEvents(context, stream=False) if machine else text) as report,
        context.interrupts.cancelling(text.announce_stop) as cancel,
    ):
        reply = kebab.review(request, report=report, cancel=cancel)
    return reply, cancel.requested


def review_and_apply(
    context: CommandContext, request: ReviewRequest, *, dry_run: bool, yes: bool
) -> Exit:
    """Review all documents unless a run is given, and apply the fixes.

    Raises:
        Cancelled: The review was interrupted, or the answer was no.
        ConfirmationRequired: Nobody can confirm, and `yes` is not given.
        ReadOnly: Writing is switched off.
    """
    if not dry_run or not request.run_id:  # fixes are those of a stored run
        context.require_writable("review --apply")
    with context.open_kebab() as kebab:
        if request.run_id:
            return _apply_fixes(context, kebab, request.run_id, dry_run=dry_run, yes=yes)
        reply, cancelled = review_quietly(context, kebab, request)
        if isinstance(reply, NotFound):
            return context.print_reply(reply, render_applied)
        if cancelled:
            raise Cancelled(operation="review")
        return _apply_fixes(context, kebab, reply.run_id, dry_run=dry_run, yes=yes)


def _apply_fixes(
    context: CommandContext, kebab: Kebab, run_id: str, *, dry_run: bool, yes: bool
) -> Exit:
    """Apply the fixes of a run after confirmation, or show what would change."""
    if dry_run or not yes:
        plan = kebab.review_apply(ReviewApplyRequest(run_id=run_id, dry_run=True))
        if dry_run or isinstance(plan, NotFound):
            return context.print_reply(plan, render_applied)
        operation = f"review --run-id {shlex.quote(run_id)} --apply"
        confirm(context, operation, partial(render_fix_plan, plan))
    reply = kebab.review_apply(ReviewApplyRequest(run_id=run_id))
    return context.print_reply(reply, render_applied)
