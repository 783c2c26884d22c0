"""Defines the root command and the table of commands.

A command is imported only when it is called: `kebab --help` reads names and summaries from the
table.
"""

import importlib
from typing import Any, NamedTuple

import click

from kebab import __version__
from kebab.cli.command import Group


class CommandEntry(NamedTuple):
    """One line of help."""

    section: str
    summary: str


COMMANDS = {
    "init": CommandEntry("Start", "Write a commented settings file"),
    "ingest": CommandEntry("Start", "Read files into the knowledge base"),
    "search": CommandEntry("Start", "Find passages by words and by meaning"),
    "ask": CommandEntry("Start", "Answer a question from the notes, with citations"),
    "chat": CommandEntry("Start", "Ask one question after another"),
    "list": CommandEntry("Library", "List the documents"),
    "inspect": CommandEntry("Library", "Show all metadata of a document or a passage"),
    "fetch": CommandEntry("Library", "Print original lines of a file"),
    "related": CommandEntry("Library", "Find documents that are similar to one document"),
    "dupes": CommandEntry("Library", "Find copies and near copies"),
    "why": CommandEntry("Library", "Explain why a search finds or misses a document"),
    "rm": CommandEntry("Library", "Remove documents from the index; files stay"),
    "session": CommandEntry("Library", "List, show or delete ask sessions"),
    "reset": CommandEntry("Library", "Delete the index; files stay"),
    "doctor": CommandEntry("Health", "Check everything and show how to fix problems"),
    "schema": CommandEntry("Health", "Show version, capabilities, models and statistics"),
    "errors": CommandEntry("Health", "Count recent errors"),
    "explain": CommandEntry("Health", "Explain an error code"),
    "model": CommandEntry("Health", "List, download or change the embedding model"),
    "eval": CommandEntry("Health", "Measure search quality"),
    "bench": CommandEntry("Health", "Measure speed and size against budgets"),
}


class LazyGroup(Group):
    """A group that imports the module of a command when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command after importing its module."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module: Any = importlib.import_module(f"kebab.cli.commands.{cmd_name}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the names with their summaries, section by section."""
        del ctx
        for section in dict.fromkeys(entry.section for entry in COMMANDS.values()):
            with formatter.section(section):
                rows = [
                    (name, entry.summary)
                    for name, entry in COMMANDS.items()
                    if entry.section == section
                ]
                longest = max(len(name) for name, _ in rows)
                formatter.write_dl(rows, col_spacing=max(2, 12 - longest))


def _show_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click calls it
    del param
    if value and ctx.obj is not None:
        ctx.obj.channels.out.write(f"kebab {__version__}\n")
        ctx.exit()


@click.group(
    "kebab",
    cls=LazyGroup,
    examples=(
        "kebab ingest ~/notes",
        'kebab search "how do I restore a backup"',
        "kebab fetch chunk ID --context 5",
    ),
    subcommand_metavar="COMMAND …",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Print the version.",
)
def root() -> None:
    """Search your own files on your own machine.

    kebab finds exact passages in your notes by words and by meaning, in English, Korean and other
    languages, with or without a network. Every command prints strict JSON with `--json`.
    """
