"""`kebab schema` describes this build: its statistics, its commands, its schemas."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, get_args

import click

from kebab.cli.command import EXIT_MEANINGS, Command, Group, declare_command, root, summarize_help
from kebab.cli.options import GlobalOption, complete, create_global_options, filter_options
from kebab.config.settings import Settings
from kebab.wire.error import ErrorCatalog, ExplainRequest
from kebab.wire.health import CommandList, CommandUsage, SchemaDocument, SchemaRequest
from kebab.wire.search import ModeName

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kebab.cli.context import CommandContext
    from kebab.cli.render.canvas import Canvas
    from kebab.errors.signal import Exit


@declare_command(
    "schema",
    examples=(
        "kebab schema",
        "kebab schema --json | jq .capabilities",
        "kebab schema --commands --for agents",
        "kebab schema --errors",
    ),
)
@click.argument("name", required=False, shell_complete=complete("schemas"))
@click.option("--commands", is_flag=True, help="List every command with its flags instead.")
@click.option(
    "--for",
    "reader",
    type=click.Choice(["agents"]),
    help="With `--commands`: only those by which an agent reads.",
)
@click.option("--errors", is_flag=True, help="List every error code instead.")
def command(
    context: CommandContext,
    /,
    name: str | None,
    *,
    commands: bool,
    reader: str | None,
    errors: bool,
) -> Exit:
    """Show capabilities, models and statistics.

    With NAME, print the JSON Schema of one object, such as `search_response.v1`; `.v1` can be left
    out. The command also works without a knowledge base.
    """
    if sum((name is not None, commands, errors)) > 1:
        raise click.UsageError("give one of NAME, `--commands` and `--errors`")
    if reader and not commands:
        raise click.UsageError("`--for` goes with `--commands`")
    reply: Any
    if name is not None:
        from kebab.wire.json_schema import find_schema

        reply = find_schema(name)
    elif errors:
        reply = context.run(ExplainRequest(), Settings())
    else:
        reply = list_commands(reading=bool(reader)) if commands else context.run(SchemaRequest())
    return context.print_reply(reply, _render)


def _render(reply: Any, canvas: Canvas) -> Iterable[str]:
    from kebab.cli.render import errors, health  # `--json` does not wait for them

    if isinstance(reply, SchemaDocument):
        return json.dumps(reply.document, indent=2, ensure_ascii=False).splitlines()
    if isinstance(reply, ErrorCatalog):
        return errors.render_error_table(reply, canvas)
    render = health.render_command_list if isinstance(reply, CommandList) else health.render_schema
    return render(reply, canvas)


_LONGEST_CHOICES = 30
"""Longer lists of values are only in the help of their command."""

_MODES = "|".join(get_args(ModeName))


def iterate_commands() -> Iterator[tuple[str, Command]]:
    """Yield every command that runs by itself, with the words that call it."""
    context = click.Context(root, info_name="kebab")
    for name in root.list_commands(context):
        command = root.get_command(context, name)
        assert isinstance(command, Command)
        if isinstance(command, Group):
            for below, inner in command.commands.items():
                assert isinstance(inner, Command)
                yield f"{name} {below}", inner
        else:
            yield name, command


_READING = ("search", "fetch", "grep", "outline", "list")
_NARROWING = ("tag", "property", "path_glob", "since", "until")


def list_commands(*, reading: bool = False) -> CommandList:
    """Return every command on one line, with what all of them share.

    Those for `reading` are what an agent needs, in 1,000 characters of text.
    """
    carrier = click.command("filters")(filter_options(lambda: None))
    filters = {_format_option(one): one for one in carrier.params}
    # `--output-format json` is `--json`.
    shared = [one for one in create_global_options() if one.name != "output_format"]
    if reading:
        shared = [one for one in shared if one.name == "json"]
    return CommandList(
        global_flags=_format_options(shared),
        filters=_format_options(
            [one for one in filters.values() if not reading or one.name in _NARROWING]
        ),
        modes=_MODES,
        commands=[
            CommandUsage(
                usage=_format_usage(path, command, filters), summary=summarize_help(command)
            )
            for path, command in iterate_commands()
            if not reading or path in _READING
        ],
        exits={
            str(status.value): meaning for status, meaning in EXIT_MEANINGS.items() if not reading
        },
    )


def _format_usage(path: str, command: Command, filters: Mapping[str, click.Parameter]) -> str:
    context = click.Context(command, info_name=path)
    arguments = []
    for one in command.params:
        if isinstance(one, click.Argument):
            words = one.make_metavar(context).strip("[]….{}") + "…" * (one.nargs != 1)
            arguments.append(words if one.required else f"[{words}]")
    options = [one for one in command.params if not isinstance(one, GlobalOption | click.Argument)]

    def is_filter(option: click.Parameter) -> bool:
        same = filters.get(_format_option(option))
        return same is not None and vars(same).get("help") == vars(option).get("help")

    own = [option for option in options if not is_filter(option)]
    group = ["[FILTERS]"] * (len(own) < len(options))
    return " ".join(filter(None, [path, *arguments, *group, _format_options(own)]))


def _format_options(options: Sequence[click.Parameter]) -> str:
    """Return flags, with a sign behind those that can be repeated."""
    return " ".join(
        _format_option(option) + "…" * option.multiple
        for option in options
        if isinstance(option, click.Option) and not option.hidden
    )


def _format_option(option: click.Parameter) -> str:
    name = min(option.opts, key=lambda name: name.startswith("--"))  # a letter, else the first
    if getattr(option, "is_flag", False):
        return name
    kind = option.type
    value = "|".join(map(str, kind.choices)) if isinstance(kind, click.Choice) else ""
    if value == _MODES:
        return f"{name} MODE"
    if not value or len(value) > _LONGEST_CHOICES:
        is_number = isinstance(kind, click.types.IntParamType | click.types.FloatParamType)
        value = option.metavar or ("N" if is_number else str(option.name).upper())
    return f"{name} {value}"
