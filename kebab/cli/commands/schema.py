"""`kebab schema` describes this build: its statistics, its commands, its schemas."""

from functools import partial
from typing import TYPE_CHECKING

import click

from kebab.cli.command import Command
from kebab.cli.context import CommandContext
from kebab.cli.options import complete
from kebab.errors.signal import Exit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kebab.cli.render.canvas import Canvas
    from kebab.wire.health import Introspection


@click.command(
    "schema",
    cls=Command,
    exits=(Exit.NO,),
    examples=(
        "kebab schema",
        "kebab schema --json | jq .capabilities",
        "kebab schema --commands",
        "kebab schema search_response.v1 | jq '.[\"$defs\"].SearchHit.properties | keys'",
        "kebab schema --errors",
    ),
)
@click.argument("name", required=False, shell_complete=complete("schemas"))
@click.option("--commands", is_flag=True, help="List every command with its flags instead.")
@click.option("--errors", is_flag=True, help="List every error code instead.")
@click.pass_obj
def command(context: CommandContext, /, name: str | None, *, commands: bool, errors: bool) -> Exit:
    """Show capabilities, models and statistics.

    With NAME, print the JSON Schema of one object, such as `search_response.v1`; `.v1` can be left
    out. The command also works without a knowledge base.
    """
    if sum((name is not None, commands, errors)) > 1:
        raise click.UsageError("give one of NAME, `--commands` and `--errors`")
    if name is not None:
        from kebab.cli.render.health import render_schema_document
        from kebab.wire.json_schema import find_schema

        return context.print_reply(find_schema(name), render_schema_document)
    if commands:
        from kebab.cli.command_list import list_commands
        from kebab.cli.render.health import render_command_list

        return context.print_reply(list_commands(), render_command_list)
    if errors:
        from kebab.cli.render.errors import render_error_table
        from kebab.config.settings import Settings
        from kebab.wire.error import ErrorCatalog, ExplainRequest

        catalog = context.run(ExplainRequest(), Settings())
        assert isinstance(catalog, ErrorCatalog)
        return context.print_reply(catalog, render_error_table)
    from kebab.wire.health import SchemaRequest

    reply = context.run(SchemaRequest())
    return context.print_reply(reply, partial(_render, verbose=context.flags.verbose))


def _render(reply: "Introspection", canvas: "Canvas", *, verbose: bool) -> "Iterable[str]":
    from kebab.cli.render.health import render_schema

    return render_schema(reply, canvas, verbose=verbose)
