"""`kebab reset`."""

from functools import partial

import click

from kebab.cli.command import Command
from kebab.cli.confirm import confirm
from kebab.cli.render.removal import draw_plan, draw_reset
from kebab.cli.session import Session
from kebab.errors.signal import Exit
from kebab.wire.health import ResetRequest


@click.command("reset", cls=Command, examples=("kebab reset", "kebab reset --yes --json"))
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--models", is_flag=True, help="Delete model weights too.")
@click.pass_obj
def command(session: Session, *, yes: bool, models: bool) -> Exit:
    """Delete the index; files stay.

    Sessions of questions and texts from standard input lie in it and go too. Only what kebab made
    in its data directory is deleted, never a folder it does not own. Settings stay, and so do model
    weights unless `--models` is given. Without `--yes` it asks first.
    """
    with session.kebab() as kebab:
        if not yes:
            plan = kebab.reset(ResetRequest(models=models, dry_run=True))
            confirm(session, "reset", partial(draw_plan, plan))
        reply = kebab.reset(ResetRequest(models=models))
    return session.answer(reply, draw_reset)
