"""`kebab schema`."""

import click

from kebab.app.explain import catalogue
from kebab.cli.command import Command
from kebab.cli.render.catalogue import draw_table
from kebab.cli.render.introspection import draw
from kebab.cli.session import Session
from kebab.errors.signal import Exit
from kebab.wire.error import ErrorCatalog


@click.command(
    "schema",
    cls=Command,
    examples=("kebab schema", "kebab schema --json | jq .capabilities", "kebab schema --errors"),
)
@click.option("--errors", is_flag=True, help="List every error code instead.")
@click.pass_obj
def command(session: Session, *, errors: bool) -> Exit:
    """Show what this build is, can do and holds.

    It works without a knowledge base too.
    """
    if errors:
        rows = catalogue()
        assert isinstance(rows, ErrorCatalog)
        return session.answer(rows, draw_table)
    with session.kebab() as kebab:
        reply = kebab.introspect()
    return session.answer(reply, draw)
