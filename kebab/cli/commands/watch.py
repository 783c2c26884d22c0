"""`kebab watch` keeps the index current while files change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kebab.cli.command import declare_command
from kebab.cli.options import ndjson_option
from kebab.errors.signal import Exit

if TYPE_CHECKING:
    from kebab.cli.context import CommandContext
    from kebab.wire.ingest import IngestReport, IngestRequest


@declare_command(
    "watch",
    examples=(
        "kebab watch",
        "kebab watch ~/notes",
        "kebab watch --stream | jq -c 'select(.kind == \"indexed\") | .report.items'",
    ),
)
@click.argument("paths", nargs=-1, metavar="[PATH]…", type=click.Path())
@ndjson_option("--stream", help="Send events as NDJSON on stdout, the last with the summary.")
def command(context: CommandContext, /, paths: tuple[str, ...], *, stream: bool) -> Exit:
    """Keep the index current.

    PATH is a folder or a file. Without PATH, the command watches every folder of the index. It
    first brings the index up to date, and then reads each file a moment after it was saved,
    created, moved or deleted; searches find the change at once. Files that `kebab ingest` leaves
    out are left out. Ctrl-C or SIGTERM ends it, with exit status 0 between two runs and 130 within
    one.
    """
    from kebab.cli.progress import choose_work_display, report_events
    from kebab.cli.render.ingest import render_watch_event, render_watch_report
    from kebab.platform import is_reader_gone
    from kebab.server.watcher import build_watcher
    from kebab.wire.stream import WatchEvent

    settings = context.load_settings()
    context.require_writable("watch")

    def emit(event: WatchEvent) -> None:
        if context.flags.machine:
            (context.write_json if stream else context.write_event)(event, None)
            return
        problem = event.kind in ("waiting", "failed", "polling")
        channel = context.channels.err if problem else context.channels.out
        canvas = context.create_canvas(channel)
        channel.write_lines(list(render_watch_event(event, canvas)))

    def ingest_first(request: IngestRequest) -> IngestReport:
        with report_events(context, choose_work_display(context)) as reporter:
            report = kebab.run(request, report=reporter, cancel=cancel)
            reporter.finish(0, cancelled=report.cancelled)
        return report

    if stream:
        context.on_error = lambda fault: context.write_json(
            WatchEvent(kind="ended", error=fault.reply), fault.exit
        )
    with (
        context.open_kebab(settings) as kebab,
        context.interrupts.cancelling(lambda: None) as cancel,
    ):
        reply = build_watcher(
            kebab,
            settings,
            context.config_path,
            list(paths),
            cancel=cancel,
            emit=emit,
            ingest_first=ingest_first,
            is_stopped=lambda: is_reader_gone(context.channels.out.descriptor),
        ).run()
    status = Exit.INTERRUPTED if reply.interrupted else Exit.DONE
    if stream:
        context.write_json(WatchEvent(kind="ended", summary=reply), status)
        return status
    return context.print_reply(reply, render_watch_report, status)
