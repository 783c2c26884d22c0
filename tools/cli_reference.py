"""Builds the reference of the command line and its man page from the commands."""

import inspect
from collections.abc import Iterable

import click

from kebab.cli.command import COMMANDS, EXIT_MEANINGS, Command, root
from kebab.cli.commands.help import TOPICS
from kebab.cli.commands.schema import iterate_commands, list_commands
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


def build_man_page() -> str:
    """Return `kebab.1` in the macros of man(7)."""
    listing = list_commands()
    shared = [_record_plain(option) for option in create_global_options()]
    shared += [("FILTERS", listing.filters), ("MODE", listing.modes)]
    statuses = [(str(status.value), meaning) for status, meaning in EXIT_MEANINGS.items()]
    sections = [
        ("NAME", [r"kebab \- search your own files on your own machine"]),
        ("SYNOPSIS", [r".B kebab", r"[\fIOPTIONS\fR] \fICOMMAND\fR \fI...\fR"]),
        ("DESCRIPTION", [_escape(" ".join(inspect.cleandoc(root.help or "").split()))]),
        ("COMMANDS", _list_terms((one.usage, one.summary) for one in listing.commands)),
        ("OPTIONS", _list_terms(shared)),
        ("EXIT STATUS", _list_terms(statuses)),
        (
            "EXAMPLES",
            [line for one in root.examples for line in (".PP", ".EX", _escape(one), ".EE")],
        ),
        ("SEE ALSO", _list_terms((f"kebab help {name}", text) for name, text in TOPICS.items())),
    ]
    lines = [line for title, body in sections for line in (f'.SH "{title}"', *body)]
    return "\n".join(['.TH KEBAB 1 "" kebab', ".nh", *lines, ""])


def _list_terms(rows: Iterable[tuple[str, str]]) -> list[str]:
    """Return terms in bold with their meanings below them."""
    return [line for term, text in rows for line in (".TP", f".B {_escape(term)}", _escape(text))]


def _escape(text: str) -> str:
    """Return text that roff prints as it is."""
    text = text.replace("\\", r"\e").replace("-", r"\-").replace("`", "")
    return rf"\&{text}" if text.startswith((".", "'")) else text


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
    name, text = _record_plain(option)
    return name.replace("|", "\\|"), text.replace("|", "\\|")


def _record_plain(option: click.Parameter) -> tuple[str, str]:
    record = option.get_help_record(click.Context(root))
    assert record is not None
    return record
