"""`kebab doctor` checks the installation, and repairs it with `--fix`."""

from typing import Any

import click

from kebab.cli.command import declare_command
from kebab.cli.context import CommandContext
from kebab.cli.progress import run_work
from kebab.cli.prompt import confirm
from kebab.cli.render.health import render_doctor, render_repair, render_repair_plan
from kebab.errors.signal import Exit
from kebab.wire.health import DoctorRequest, RepairRequest


@declare_command(
    "doctor",
    examples=(
        "kebab doctor",
        "kebab doctor --files",
        "kebab doctor --fix --dry-run",
        "kebab doctor --fix --yes",
    ),
)
@click.option("--files", is_flag=True, help="Compare the content of every file with the index.")
@click.option("--fix", is_flag=True, help="Repair what can be repaired, after showing the plan.")
@click.option("--dry-run", is_flag=True, help="With `--fix`, show the plan and change nothing.")
@click.option("--yes", is_flag=True, help="With `--fix`, do not ask for confirmation.")
@click.option(
    "--source",
    "sources",
    metavar="PATH",
    multiple=True,
    type=click.Path(),
    help="With `--fix`, a folder that was indexed, when nothing tells any more.",
)
def command(context: CommandContext, /, *, files: bool, fix: bool, **repairs: Any) -> Exit:
    """Check everything, and repair with `--fix`.

    Without `--fix` the command changes nothing. Each failure names the command that fixes it.
    Invalid settings are the first finding, and the other checks go on with defaults.

    Files are compared by time and size; `--files` reads every file and compares its content.
    Changed, new and deleted files are a note, as `kebab ingest` reads them.

    `--fix` shows its plan first and asks. It writes the words again from the stored text, and
    computes missing vectors again. A damaged database is moved aside, and its sources
    are read again. Ask sessions and reviews of a damaged database cannot come back. An interrupted
    repair can be run again.
    """
    if fix and files:
        raise click.UsageError("`--files` only compares, without `--fix`")
    if not fix:
        if any(repairs.values()):
            raise click.UsageError("`--dry-run`, `--yes` and `--source` go with `--fix`")
        with context.open_kebab(report=context.report_settings()) as kebab:
            reply = kebab.run(DoctorRequest(files=files))
        return context.print_reply(reply, render_doctor)
    dry_run, sources = repairs["dry_run"], list(repairs["sources"])
    if dry_run or not repairs["yes"]:
        plan, _ = run_work(context, RepairRequest(dry_run=True, sources=sources))
        if dry_run or all(repair.outcome == "refused" for repair in plan.repairs):
            return context.print_reply(plan, render_repair_plan if dry_run else render_repair)
        confirm(context, "doctor --fix", plan, render_repair_plan)
    report, _ = run_work(context, RepairRequest(sources=sources))
    return context.print_reply(report, render_repair)
