"""`kebab doctor` checks the installation, and repairs it with `--fix`."""

from functools import partial

import click

from kebab.cli.command import Command
from kebab.cli.context import CommandContext
from kebab.cli.options import complete_paths
from kebab.cli.progress import run_cancellable_work
from kebab.cli.prompt import confirm
from kebab.cli.render.health import (
    render_doctor_end,
    render_doctor_part,
    render_repair,
    render_repair_plan,
)
from kebab.errors.signal import Exit
from kebab.wire.health import DoctorRequest
from kebab.wire.repair import RepairRequest


@click.command(
    "doctor",
    cls=Command,
    exits=(Exit.UNUSABLE,),
    examples=(
        "kebab doctor",
        "kebab doctor --json | jq '.checks[] | select(.status == \"fail\")'",
        "kebab doctor --fix --dry-run",
        "kebab doctor --fix --yes",
    ),
)
@click.option("--deep", is_flag=True, help="Compare every passage; `--fix` does so, too.")
@click.option("--fix", is_flag=True, help="Repair what can be repaired, after showing the plan.")
@click.option("--dry-run", is_flag=True, help="With `--fix`, show the plan and change nothing.")
@click.option("--yes", is_flag=True, help="With `--fix`, do not ask for confirmation.")
@click.option(
    "--source",
    "sources",
    metavar="PATH",
    multiple=True,
    shell_complete=complete_paths,
    help="With `--fix`, a folder that was indexed, when the index does not tell any more.",
)
@click.pass_obj
def command(
    context: CommandContext,
    /,
    *,
    deep: bool,
    fix: bool,
    dry_run: bool,
    yes: bool,
    sources: tuple[str, ...],
) -> Exit:
    """Check everything, and repair with `--fix`.

    Of thousands of passages only a sample is compared with the stored hashes and words, unless
    `--deep` is given. Without `--fix` the command changes nothing. Each failure names the command
    that fixes it. Invalid settings are the first finding, and the other checks go on with defaults.

    `--fix` repairs the database, the word index, the vectors, the reviews and the files of the
    embedding model. It shows the plan first and asks. What a repair replaces is copied before; the
    reply names the copy and the command that puts it back. Damaged documents are read again from
    their files. What cannot be repaired is refused with a reason. An interrupted repair can be run
    again.
    """
    if not fix:
        if dry_run or yes or sources:
            raise click.UsageError("`--dry-run`, `--yes` and `--source` go with `--fix`")
        show = partial(context.print_part, render=render_doctor_part)
        with context.open_kebab(report=context.report_settings()) as kebab:
            reply = kebab.run(DoctorRequest(deep=deep), report=show)
        return context.print_reply(reply, render_doctor_end)
    if not yes:
        request = RepairRequest(dry_run=True, sources=list(sources))
        plan = run_cancellable_work(context, request)[0]
        if dry_run or all(repair.outcome == "refused" for repair in plan.repairs):
            return context.print_reply(plan, render_repair_plan if dry_run else render_repair)
        confirm(context, "doctor --fix", partial(render_repair_plan, plan))
    context.release_stores()
    report = run_cancellable_work(context, RepairRequest(sources=list(sources)))[0]
    return context.print_reply(report, render_repair)
