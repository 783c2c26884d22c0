"""`kebab session list|show|rm`."""

from functools import partial

import click

from kebab.app.facade import Kebab
from kebab.cli.command import Command, Group
from kebab.cli.context import CommandContext
from kebab.cli.prompt import confirm
from kebab.cli.render.sessions import (
    render_removal_plan,
    render_removed_sessions,
    render_session_list,
    render_transcript,
)
from kebab.errors.signal import Exit
from kebab.wire.ask import SessionListRequest, SessionRmRequest, SessionShowRequest
from kebab.wire.library import NotFound

_EXITS = (Exit.NO, Exit.UNUSABLE)
_ALL = "session rm --all"


@click.group("session", cls=Group, exits=_EXITS, examples=("kebab session list",))
def command() -> None:
    """List, show or forget sessions of questions."""


@command.command(
    "list",
    cls=Command,
    exits=(Exit.UNUSABLE,),
    examples=("kebab session list", "kebab session list --json"),
)
@click.pass_obj
def list_(context: CommandContext, /) -> Exit:
    """List the sessions, the one used last first."""
    with context.open_kebab() as kebab:
        reply = kebab.session_list(SessionListRequest())
    return context.print_reply(reply, render_session_list)


@command.command("show", cls=Command, exits=_EXITS, examples=("kebab session show backups",))
@click.argument("name")
@click.pass_obj
def show(context: CommandContext, /, name: str) -> Exit:
    """Show the questions and answers of a session."""
    with context.open_kebab() as kebab:
        reply = kebab.session_show(SessionShowRequest(name=name))
    if isinstance(reply, NotFound):
        return context.print_not_found(reply)
    return context.print_reply(reply, render_transcript)


@command.command(
    "rm",
    cls=Command,
    exits=_EXITS,
    examples=("kebab session rm backups garden", "kebab session rm --all --yes"),
)
@click.argument("names", nargs=-1, metavar="[NAME…]")
@click.option("--all", "everything", is_flag=True, help="Forget every session.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_obj
def rm(context: CommandContext, /, names: tuple[str, ...], *, everything: bool, yes: bool) -> Exit:
    """Forget sessions; documents stay.

    When one name is not found, nothing is forgotten. With `--all` and without `--yes` it asks
    first.
    """
    if everything == bool(names):
        raise click.UsageError("give either NAME or `--all`")
    with context.open_kebab() as kebab:
        chosen = _every(context, kebab, yes=yes) if everything else list(names)
        reply = kebab.session_rm(SessionRmRequest(names=chosen))
    if isinstance(reply, NotFound):
        return context.print_not_found(reply)
    return context.print_reply(reply, render_removed_sessions)


def _every(context: CommandContext, kebab: Kebab, *, yes: bool) -> list[str]:
    """Return the names of all sessions, confirmed."""
    found = kebab.session_list(SessionListRequest())
    if not yes:
        confirm(context, _ALL, partial(render_removal_plan, found))
    return [one.name for one in found.sessions]
