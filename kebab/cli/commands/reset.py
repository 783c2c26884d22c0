"""`kebab reset`."""

import sys

import click

from kebab.cli.command import Command
from kebab.cli.render.page import page
from kebab.cli.render.removal import draw_plan, draw_reset
from kebab.cli.session import Session
from kebab.errors.catalog import Cancelled, ConfirmationRequired
from kebab.errors.signal import Exit
from kebab.wire.health import ResetReport


@click.command("reset", cls=Command, examples=("kebab reset", "kebab reset --yes --json"))
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--models", is_flag=True, help="Delete model weights too.")
@click.pass_obj
def command(session: Session, *, yes: bool, models: bool) -> Exit:
    """Delete the index; files stay.

    Only what kebab made in its data directory is deleted, never a folder it does not own. Settings
    stay, and so do model weights unless `--models` is given. Without `--yes` it asks first.
    """
    with session.kebab() as kebab:
        if not yes:
            _confirm(session, kebab.plan_reset(models=models))
        reply = kebab.reset(models=models)
    return session.answer(reply, draw_reset)


def _confirm(session: Session, /, plan: ResetReport) -> None:
    """Ask the person at the terminal.

    Raises:
        ConfirmationRequired: There is none.
        Cancelled: The answer was no.
    """
    channel = session.channels.err
    person = sys.stdin is not None and sys.stdin.isatty() and channel.terminal
    if session.flags.machine or not person:
        raise ConfirmationRequired(operation="reset")
    channel.write("\n".join(draw_plan(plan, page(channel, session.flags.color))) + "\n")
    channel.write("go on? [y/N] ")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Cancelled(operation="reset")
