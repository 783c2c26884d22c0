"""`kebab reset`."""

from functools import partial

import click

from kebab.cli.command import Command
from kebab.cli.context import CommandContext
from kebab.cli.prompt import confirm
from kebab.cli.render.documents import render_reset, render_reset_plan
from kebab.errors.signal import Exit
from kebab.wire.health import ResetRequest


@click.command("reset", cls=Command, examples=("kebab reset", "kebab reset --yes --json"))
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option("--models", is_flag=True, help="Delete model weights too.")
@click.pass_obj
def command(context: CommandContext, *, yes: bool, models: bool) -> Exit:
    """Delete the index; files stay.

    Sessions of questions and texts from standard input lie in it and go too. Only what kebab made
    in its data directory is deleted, never a folder it does not own. Settings stay, and so do model
    weights unless `--models` is given. Without `--yes` it asks first.
    """
    with context.open_kebab() as kebab:
        if not yes:
            plan = kebab.reset(ResetRequest(models=models, dry_run=True))
            confirm(context, "reset", partial(render_reset_plan, plan))
        reply = kebab.reset(ResetRequest(models=models))
    return context.print_reply(reply, render_reset)
