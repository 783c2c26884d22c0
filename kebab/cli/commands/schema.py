"""`kebab schema` shows version, capabilities, models and statistics."""

from typing import TYPE_CHECKING

import click

from kebab.cli.command import Command
from kebab.cli.context import CommandContext
from kebab.errors.signal import Exit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kebab.cli.render.canvas import Canvas
    from kebab.wire.health import Introspection


@click.command(
    "schema",
    cls=Command,
    examples=("kebab schema", "kebab schema --json | jq .capabilities", "kebab schema --errors"),
)
@click.option("--errors", is_flag=True, help="List every error code instead.")
@click.pass_obj
def command(context: CommandContext, *, errors: bool) -> Exit:
    """Show version, capabilities, models and statistics.

    The command also works without a knowledge base.
    """
    if errors:
        return _print_error_codes(context)
    from kebab.wire.health import SchemaRequest

    with context.open_kebab() as kebab:
        reply = kebab.schema(SchemaRequest())
    return context.print_reply(reply, _render)


def _print_error_codes(context: CommandContext) -> Exit:
    from kebab.cli.render.errors import render_error_table
    from kebab.config.settings import Settings
    from kebab.wire.error import ErrorCatalog, ExplainRequest

    with context.open_kebab(Settings()) as kebab:
        reply = kebab.explain(ExplainRequest())
    assert isinstance(reply, ErrorCatalog)
    return context.print_reply(reply, render_error_table)


def _render(reply: "Introspection", canvas: "Canvas") -> "Iterable[str]":
    from kebab.cli.render.health import render_schema

    return render_schema(reply, canvas)
