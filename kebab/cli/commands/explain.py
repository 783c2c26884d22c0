"""`kebab explain`."""

import click

from kebab.app.explain import catalogue
from kebab.cli.command import Command
from kebab.cli.render.catalogue import draw_explanation
from kebab.cli.session import Session
from kebab.errors.signal import Exit
from kebab.wire.library import NotFound


@click.command("explain", cls=Command, exits=(Exit.NO,), examples=("kebab explain not_indexed",))
@click.argument("code")
@click.pass_obj
def command(session: Session, /, code: str) -> Exit:
    """Explain an error code.

    It needs neither settings nor a network. `kebab schema --errors` lists all codes.
    """
    reply = catalogue(code)
    if isinstance(reply, NotFound):
        return session.missing(reply)
    return session.answer(reply, draw_explanation)
