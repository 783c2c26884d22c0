"""`kebab session list|show|rm` lists, shows or deletes ask sessions."""

import click

from kebab.cli.command import Group
from kebab.cli.context import CommandContext
from kebab.cli.options import complete
from kebab.cli.prompt import confirm
from kebab.cli.render.answer import (
    render_removal_plan,
    render_removed_sessions,
    render_session_list,
    render_transcript,
)
from kebab.errors.signal import Exit
from kebab.wire.ask import SessionListRequest, SessionRmRequest, SessionShowRequest


@click.group("session", cls=Group, examples=("kebab session list",))
def command(context: CommandContext, /) -> None:
    """List, show or delete ask sessions."""


@command.command("list", examples=("kebab session list", "kebab session list --json"))
def list_(context: CommandContext, /) -> Exit:
    """List the sessions.

    The most recently used one is first.
    """
    return context.print_reply(context.run(SessionListRequest()), render_session_list)


@command.command("show", examples=("kebab session show backups",))
@click.argument("name", shell_complete=complete("sessions"))
def show(context: CommandContext, /, name: str) -> Exit:
    """Show the turns of a session."""
    return context.print_reply(context.run(SessionShowRequest(name=name)), render_transcript)


@command.command("rm", examples=("kebab session rm backups garden", "kebab session rm --all --yes"))
@click.argument("names", nargs=-1, metavar="[NAME…]", shell_complete=complete("sessions"))
@click.option("--all", "all_sessions", is_flag=True, help="Delete every session.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def rm(
    context: CommandContext, /, names: tuple[str, ...], *, all_sessions: bool, yes: bool
) -> Exit:
    """Delete sessions; documents stay.

    When one name is not found, nothing is deleted. With `--all` and without `--yes`, the command
    asks for confirmation.
    """
    if all_sessions == bool(names):
        raise click.UsageError("give either NAME or `--all`")
    chosen = list(names)
    if all_sessions:
        stored = context.run(SessionListRequest())
        if not yes:
            confirm(context, "session rm --all", stored, render_removal_plan)
        chosen = [session.name for session in stored.sessions]
    return context.print_reply(context.run(SessionRmRequest(names=chosen)), render_removed_sessions)
