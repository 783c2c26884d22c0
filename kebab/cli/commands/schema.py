"""`kebab schema`."""

from typing import TYPE_CHECKING

import click

from kebab.cli.command import Command
from kebab.cli.session import Session
from kebab.errors.signal import Exit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kebab.cli.render.canvas import Canvas
    from kebab.wire.introspect import Introspection


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
        return _catalogue(session)
    with session.kebab() as kebab:
        reply = kebab.introspect()
    return session.answer(reply, _draw)


def _catalogue(session: Session) -> Exit:
    from kebab.app.explain import catalogue
    from kebab.cli.render.catalogue import draw_table
    from kebab.wire.error import ErrorCatalog

    rows = catalogue()
    assert isinstance(rows, ErrorCatalog)
    return session.answer(rows, draw_table)


def _draw(reply: "Introspection", canvas: "Canvas") -> "Iterable[str]":
    from kebab.cli.render.introspection import draw

    return draw(reply, canvas)
