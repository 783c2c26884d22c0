"""`kebab schema`."""

from typing import TYPE_CHECKING

import click

from kebab.cli.command import Command
from kebab.cli.session import Session
from kebab.errors.signal import Exit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kebab.cli.render.page import Page
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
    from kebab.wire.introspect import SchemaRequest

    with session.kebab() as kebab:
        reply = kebab.schema(SchemaRequest())
    return session.answer(reply, _draw)


def _catalogue(session: Session) -> Exit:
    from kebab.cli.render.catalogue import draw_table
    from kebab.config.model import Settings
    from kebab.wire.error import ErrorCatalog, ExplainRequest

    with session.kebab(Settings()) as kebab:
        reply = kebab.explain(ExplainRequest())
    assert isinstance(reply, ErrorCatalog)
    return session.answer(reply, draw_table)


def _draw(reply: "Introspection", page: "Page") -> "Iterable[str]":
    from kebab.cli.render.introspection import draw

    return draw(reply, page)
