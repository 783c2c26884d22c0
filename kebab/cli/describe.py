"""Describes a command, its arguments and its flags as records, for help under `--json`."""

import inspect

import click

from kebab.cli.options import GlobalOption
from kebab.wire.command_help import Help, HelpArgument, HelpCommand, HelpExit, HelpOption

_SIMPLE = (bool, int, float, str)
_TYPE_NAMES = {"integer range": "integer", "float range": "float", "directory": "path"}


def describe_command(command: click.Command, name: str) -> Help:
    """Return the help of a command; its name has its parents, as in `kebab model pull`."""
    ctx = click.Context(command, info_name=name, **command.context_settings)
    text = inspect.cleandoc(command.help or "")
    options = [param for param in command.params if isinstance(param, click.Option)]
    options.sort(key=lambda option: isinstance(option, GlobalOption))
    group = getattr(command, "owner", None) or command
    summaries = group.summarize_commands(ctx) if hasattr(group, "summarize_commands") else []
    return Help(
        name=name,
        usage=" ".join([name, *command.collect_usage_pieces(ctx)]),
        summary=summarize_help(command),
        description=text,
        arguments=[
            describe_argument(param, ctx)
            for param in command.params
            if isinstance(param, click.Argument)
        ],
        options=[describe_option(option) for option in options if not option.hidden],
        commands=[HelpCommand(name=below, summary=summary) for below, summary in summaries],
        examples=list(getattr(command, "examples", ())),
        exits=[
            HelpExit(status=status, meaning=meaning)
            for status, meaning in getattr(command, "exits", ())
        ],
    )


def describe_argument(argument: click.Argument, ctx: click.Context) -> HelpArgument:
    """Return the description of an argument."""
    return HelpArgument(
        name=argument.make_metavar(ctx).strip("[]….{}"),
        type=_name_type(argument),
        choices=_list_choices(argument),
        required=argument.required,
        repeatable=argument.nargs != 1,
    )


def describe_option(option: click.Option) -> HelpOption:
    """Return the description of a flag."""
    long = max(option.opts, key=len)
    short = next((name for name in option.opts if not name.startswith("--")), None)
    takes_value = not (option.is_flag or option.count)
    kind, default = _name_type(option), option.default
    name = "N" if kind in ("integer", "float") else str(option.name).upper()
    # JSON has only simple defaults.
    is_told = isinstance(default, _SIMPLE) and not option.multiple
    rest = [name for name in option.opts if name not in (long, short)]
    return HelpOption(
        name=long,
        short=short if short != long else None,
        others=[*rest, *option.secondary_opts],
        type=kind if takes_value else "boolean",
        metavar=option.metavar or name if takes_value else None,
        choices=_list_choices(option) if takes_value else [],
        minimum=getattr(option.type, "min", None),
        maximum=getattr(option.type, "max", None),
        default=default if is_told else None,
        required=option.required,
        repeatable=option.multiple or option.count,
        shared=isinstance(option, GlobalOption),
        help=option.help or "",
    )


def summarize_help(command: click.Command) -> str:
    """Return the first sentence of the help of a command, without the full stop."""
    text = inspect.cleandoc(command.help or "")
    return " ".join(text.partition("\n\n")[0].split()).partition(". ")[0].removesuffix(".")


def _name_type(param: click.Parameter) -> str:
    name = param.type.name
    return _TYPE_NAMES.get(name, name)


def _list_choices(param: click.Parameter) -> list[str]:
    kind = param.type
    return [str(choice) for choice in kind.choices] if isinstance(kind, click.Choice) else []
