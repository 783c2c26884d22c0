"""`kebab doctor` checks the installation."""

import click

from kebab.cli.command import Command
from kebab.cli.context import CommandContext
from kebab.cli.render.health import render_doctor
from kebab.errors.signal import Exit
from kebab.wire.health import DoctorRequest


@click.command(
    "doctor",
    cls=Command,
    exits=(Exit.UNUSABLE,),
    examples=("kebab doctor", "kebab doctor --json | jq '.checks[] | select(.status == \"fail\")'"),
)
@click.pass_obj
def command(context: CommandContext, /) -> Exit:
    """Check everything and show how to fix problems.

    The command changes nothing. Each failure names the command that fixes it. Invalid settings are
    the first finding, and the other checks go on with defaults.
    """
    with context.open_kebab(report=context.report_settings()) as kebab:
        reply = kebab.run(DoctorRequest())
    return context.print_reply(reply, render_doctor)
