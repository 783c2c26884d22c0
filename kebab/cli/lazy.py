"""The commands by name, and a group that imports one only when it is called.

`kebab --help` needs names and summaries alone, so they stand here and nothing else is loaded.
"""

import importlib
from typing import Any, NamedTuple

import click

from kebab.cli.command import Group


class Entry(NamedTuple):
    """One line of help."""

    section: str
    summary: str


COMMANDS = {
    "init": Entry("Start", "Write a commented settings file"),
    "ingest": Entry("Start", "Read files into the knowledge base"),
    "search": Entry("Start", "Find passages by words and by meaning"),
    "ask": Entry("Start", "Answer a question from the notes, with citations"),
    "chat": Entry("Start", "Ask one question after another"),
    "list": Entry("Library", "List the documents"),
    "inspect": Entry("Library", "Show all that is known of a document or a passage"),
    "fetch": Entry("Library", "Print original lines of a file"),
    "related": Entry("Library", "Find the documents that are nearest to one"),
    "dupes": Entry("Library", "Find copies and near copies"),
    "why": Entry("Library", "Say why a search finds a document, or where it loses it"),
    "rm": Entry("Library", "Take documents out of the index; files stay"),
    "session": Entry("Library", "List, show or forget sessions of questions"),
    "reset": Entry("Library", "Delete the index; files stay"),
    "doctor": Entry("Health", "Check everything and say how to mend it"),
    "schema": Entry("Health", "Show what this build is, can do and holds"),
    "errors": Entry("Health", "Count what went wrong lately"),
    "explain": Entry("Health", "Explain an error code"),
    "model": Entry("Health", "List, fetch or change the embedding model"),
    "eval": Entry("Health", "Measure how well search finds what it should"),
    "bench": Entry("Health", "Measure speed and size against budgets"),
}


class LazyGroup(Group):
    """The root: subcommands come from the table, their modules when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, imported now."""
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
                formatter.write_dl(rows, col_spacing=max(2, 12 - _widest(rows)))


def _widest(rows: list[tuple[str, str]]) -> int:
    return max(len(name) for name, _ in rows)
