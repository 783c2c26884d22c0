"""Builds the reference of the command line from the commands."""

import inspect

import click

from kebab.cli.command import COMMANDS, EXIT_MEANINGS, Command, root
from kebab.cli.commands.help import TOPICS
from kebab.cli.commands.schema import iterate_commands
from kebab.cli.options import GlobalOption, create_global_options


def build_commands_table() -> str:
    """Return the commands as a Markdown table."""
    rows = ["| command | what |", "|---|---|"]
    rows += [f"| `kebab {name}` | {summary} |" for name, summary in COMMANDS.items()]
    return "\n".join(rows)


def build_topics_table(prefix: str) -> str:
    """Return the pages as a Markdown table; `prefix` is the folder of the pages."""
    rows = ["| page | what |", "|---|---|"]
    rows += [f"| [`{name}`]({prefix}{name}.md) | {summary} |" for name, summary in TOPICS.items()]
    return "\n".join(rows)


def build_reference_page() -> str:
    """Return `cli.md`."""
    return "\n".join(
        [
            "# Command line",
            "",
            "Generated from `kebab/cli/`. Flags of every command go before or after its name.",
            "",
            *_build_statuses(),
            *_build_shared_options(),
            *(
                line
                for path, command in iterate_commands()
                for line in _build_section(path, command)
            ),
        ]
    )


def _build_statuses() -> list[str]:
    rows = [f"| {status.value} | {meaning} |" for status, meaning in EXIT_MEANINGS.items()]
    return [
        "## Exit status",
        "",
        "| status | meaning |",
        "|---|---|",
        *rows,
        "",
        "Treat an unknown exit status as failure.",
        "",
    ]


def _build_shared_options() -> list[str]:
    return ["## Global flags", "", *_build_flags(create_global_options()), ""]


def _build_section(path: str, command: Command) -> list[str]:
    context = click.Context(command, info_name=f"kebab {path}", **command.context_settings)
    usage = " ".join(command.collect_usage_pieces(context))
    own = [one for one in command.params if not isinstance(one, GlobalOption)]
    options = [one for one in own if isinstance(one, click.Option) and not one.hidden]
    statuses = ", ".join(f"{status}" for status, _ in command.exits)
    return [
        f"## kebab {path}",
        "",
        f"`kebab {path} {usage}`",
        "",
        inspect.cleandoc(command.help or ""),
        "",
        *([*_build_flags(options), ""] if options else []),
        "```sh",
        *command.examples,
        "```",
        "",
        f"Exit status: {statuses}.",
        "",
    ]


def _build_flags(options: list[click.Parameter] | list[click.Option]) -> list[str]:
    rows = ["| flag | what |", "|---|---|"]
    for option in options:
        assert isinstance(option, click.Option)
        names, text = _record(option)
        rows.append(f"| `{names}` | {text} |")
    return rows


def _record(option: click.Option) -> tuple[str, str]:
    """Return an option as help shows it, safe for a Markdown table."""
    record = option.get_help_record(click.Context(root))
    assert record is not None
    return record[0].replace("|", "\\|"), record[1].replace("|", "\\|")
