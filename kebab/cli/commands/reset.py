"""`kebab reset` deletes the index."""

import click

from kebab.cli.command import declare_command
from kebab.cli.context import CommandContext
from kebab.cli.prompt import confirm
from kebab.cli.render.documents import render_reset, render_reset_plan
from kebab.errors.signal import Exit
from kebab.wire.health import ResetRequest


@declare_command("reset", examples=("kebab reset", "kebab reset --yes --json"))
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option("--models", is_flag=True, help="Delete model weights too.")
def command(context: CommandContext, *, yes: bool, models: bool) -> Exit:
    """Delete the index; files stay.

    The index includes ask sessions and texts from standard input; they are deleted too. The
    command deletes only files that kebab created in its data directory, and never a folder that
    kebab does not own. Settings stay. Model weights stay unless `--models` is given. Without
    `--yes`, the command asks for confirmation.
    """
    if not yes:
        plan = context.run(ResetRequest(models=models, dry_run=True))
        confirm(context, "reset", plan, render_reset_plan)
    return context.print_reply(context.run(ResetRequest(models=models)), render_reset)
