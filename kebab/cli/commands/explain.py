"""`kebab explain` explains an error code."""

import click

from kebab.cli.command import declare_command
from kebab.cli.context import CommandContext
from kebab.cli.options import complete
from kebab.cli.render.errors import render_error_explanations
from kebab.config.settings import Settings
from kebab.errors.catalog import NotIndexed
from kebab.errors.signal import Exit
from kebab.wire.error import ExplainRequest


@declare_command("explain", examples=(f"kebab explain {NotIndexed.code}",))
@click.argument("code", shell_complete=complete("codes"))
def command(context: CommandContext, /, code: str) -> Exit:
    """Explain an error code.

    The command needs neither settings nor a network. `kebab schema --errors` lists all codes.
    """
    reply = context.run(ExplainRequest(code=code), Settings())
    return context.print_reply(reply, render_error_explanations)
