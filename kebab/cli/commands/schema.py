"""`kebab schema` describes this build: its statistics, its commands, its schemas."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import click

from kebab.cli.command import EXIT_MEANINGS, Command, DefaultGroup, Group, root
from kebab.cli.context import CommandContext
from kebab.cli.describe import describe_argument, describe_option, summarize_help
from kebab.cli.options import MODES, GlobalOption, complete, create_global_options, filter_options
from kebab.errors.signal import Exit
from kebab.wire.command_help import CommandList, CommandUsage, HelpArgument, HelpOption

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


_FILTERS = "FILTERS"
_LONGEST_CHOICES = 30
"""Longer lists of values are only in the help of their command."""

_MODES, _MODE = "|".join(MODES.choices), "MODE"


def iterate_commands() -> Iterator[tuple[str, Command]]:
    """Yield every command that runs by itself, with the words that call it."""
    context = click.Context(root, info_name="kebab")
    for name in root.list_commands(context):
        command = root.get_command(context, name)
        assert isinstance(command, Command)
        if isinstance(command, DefaultGroup):
            yield name, command.default
        if isinstance(command, Group):
            for below, inner in command.commands.items():
                assert isinstance(inner, Command)
                yield f"{name} {below}", inner
        else:
            yield name, command


def list_commands() -> CommandList:
    """Return every command on one line, with what all of them share."""

    @filter_options
    def carry() -> None: ...

    filters = _describe(click.command()(carry).params)
    # `--output-format json` is `--json`.
    shared = [one for one in _describe(create_global_options()) if one.name != "--output-format"]
    return CommandList(
        global_flags=_format_options(shared),
        filters=_format_options(filters),
        modes=_MODES,
        commands=[
            CommandUsage(
                usage=_format_usage(path, command, filters), summary=summarize_help(command)
            )
            for path, command in iterate_commands()
        ],
        exits={str(status.value): meaning for status, meaning in EXIT_MEANINGS.items()},
    )


def _format_usage(path: str, command: Command, filters: Sequence[HelpOption]) -> str:
    context = click.Context(command, info_name=path)
    arguments = [
        _format_argument(describe_argument(param, context))
        for param in command.params
        if isinstance(param, click.Argument)
    ]
    options = _describe([param for param in command.params if not isinstance(param, GlobalOption)])
    shared = [option for option in options if option in filters]
    own = [option for option in options if option not in shared]
    # A command that takes all filters but one, as `related` does, still names the group.
    group = [f"[{_FILTERS}]"] if len(shared) > 1 else [_format_options(shared)]
    return " ".join(filter(None, [path, *arguments, *group, _format_options(own)]))


def _describe(params: Sequence[click.Parameter]) -> list[HelpOption]:
    options = [param for param in params if isinstance(param, click.Option)]
    return [describe_option(option) for option in options if not option.hidden]


def _format_argument(argument: HelpArgument) -> str:
    words = argument.name + ("…" if argument.repeatable else "")
    return words if argument.required else f"[{words}]"


def _format_options(options: Sequence[HelpOption]) -> str:
    """Return flags in brackets; neighbours share a pair, except those that can be repeated."""
    parts: list[str] = []
    for option in options:
        ending = "]…" if option.repeatable else "]"
        if parts and parts[-1].endswith("]") and not option.repeatable:
            parts[-1] = f"{parts[-1][:-1]} {_format_option(option)}]"
        else:
            parts.append(f"[{_format_option(option)}{ending}")
    return " ".join(parts)


def _format_option(option: HelpOption) -> str:
    value = "|".join(option.choices)
    if value == _MODES:
        value = _MODE
    elif not value or len(value) > _LONGEST_CHOICES:
        value = option.metavar or ""
    return " ".join(filter(None, (option.short or option.name, value)))
