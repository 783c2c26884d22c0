"""Defines the root command, the table of commands, and the click classes of commands.

`ctx.obj` is the `CommandContext` of the call, its state; `--json` sets its flag `machine`.
"""

import inspect
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from keyword import iskeyword
from typing import TYPE_CHECKING, Any

import click

from kebab import __version__
from kebab.cli.options import GlobalOption, select_global_options
from kebab.errors.signal import Exit

if TYPE_CHECKING:
    from kebab.cli.context import CommandContext
    from kebab.wire.record import Reply

_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

EXIT_MEANINGS = {
    Exit.DONE: "done",
    Exit.NO: "no hit, nothing with this name, or findings; stdout says so",
    Exit.ERROR: "an error: stderr has it, stdout is empty",
    Exit.UNUSABLE: "no index, or a check failed",
    Exit.INTERRUPTED: "interrupted; completed work is kept",
    Exit.READER_GONE: "the reader closed the pipe",
}


class Command(click.Command):
    """A command whose help ends with its examples and exit statuses.

    Its function gets the context of the call.
    """

    def __init__(
        self, name: str | None = None, *, examples: Sequence[str] = (), **attrs: Any
    ) -> None:
        own = attrs.get("params") or []
        attrs["params"] = [*own, *select_global_options(own)]
        attrs.setdefault("context_settings", _SETTINGS)
        if callback := attrs.get("callback"):
            attrs["callback"] = click.pass_obj(callback)
        super().__init__(name, **attrs)
        self.examples = tuple(examples)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; an error names this command, also one of click's parser."""
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise

    def invoke(self, ctx: click.Context) -> Any:
        """Store the name and the parameters of the command in the context, and run it."""
        ctx.obj.flags_parsed = not isinstance(self, click.Group)
        ctx.obj.params = self.params
        ctx.obj.command = ctx.command_path.partition(" ")[2] or ctx.command_path
        return super().invoke(ctx)

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Return the help flag; it writes to the channel of results."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.callback = _show_help
        return option

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command's own flags, then the global flags."""
        own: list[tuple[str, str]] = []
        shared: list[tuple[str, str]] = []
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if record:
                (shared if isinstance(param, GlobalOption) else own).append(record)
        for title, records in (("Options", own), ("Global options", shared)):
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples and the exit statuses."""
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:
                    formatter.write(f"{'':{formatter.current_indent}}{example}\n")
        with formatter.section("Exit status"):
            rows = [(str(status.value), meaning) for status, meaning in EXIT_MEANINGS.items()]
            formatter.write_dl(rows)


def summarize_help(command: click.Command) -> str:
    """Return the first sentence of the help of a command, without the full stop."""
    text = inspect.cleandoc(command.help or "")
    return " ".join(text.partition("\n\n")[0].split()).partition(". ")[0].removesuffix(".")


declare_command = partial(click.command, cls=Command)


class Group(Command, click.Group):
    """A command with subcommands."""

    command_class: type[click.Command] | None = Command

    def __init__(self, name: str | None = None, **attrs: Any) -> None:
        attrs = {"no_args_is_help": False, "subcommand_metavar": "COMMAND …", **attrs}
        super().__init__(name, **attrs)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the subcommands, then the flags."""
        self.format_commands(ctx, formatter)
        super().format_options(ctx, formatter)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the subcommand that the arguments name.

        Raises:
            UsageError: No subcommand has this name; its hint is the call that was meant.
        """
        if self.get_command(ctx, args[0]) is None and not ctx.resilient_parsing:
            from kebab.cli.hints import refuse_command

            raise refuse_command(self, ctx, args)
        return super().resolve_command(ctx, args)


def _show_help(ctx: click.Context, param: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click calls it
    if value and not ctx.resilient_parsing:
        show_help(ctx)
        ctx.exit()


def show_help(ctx: click.Context) -> None:
    """Print the help of a command."""
    if _wants_json(ctx):
        from kebab.wire.health import HelpPage

        _print_json(ctx, HelpPage(topic=ctx.command_path, text=ctx.get_help()))
    else:
        ctx.obj.channels.out.write(ctx.get_help() + "\n")


def _wants_json(ctx: click.Context) -> bool:
    """Return whether the call asks for JSON; not all of its flags are parsed yet."""
    from kebab.errors.start import detect_json_output

    return ctx.obj.flags.machine or detect_json_output(ctx.obj.arguments)


def _print_json(ctx: click.Context, reply: "Reply") -> None:
    """Print an object before the command runs; the context does not know its name yet."""
    ctx.obj.command = ctx.command_path.partition(" ")[2] or ctx.command_path
    ctx.obj.write_json(reply, Exit.DONE)


SECTIONS = {
    "Every day": {
        "ingest": "Read files into the knowledge base",
        "search": "Find passages by words and by meaning",
        "ask": "Answer a question from the notes, with citations",
        "open": "Open a file at a hit or a reference, or the web page",
        "review": "Find mistakes in documents",
        "watch": "Keep the index current",
        "list": "List the documents",
        "doctor": "Check everything, and repair with `--fix`",
    },
    "Read": {
        "fetch": "Print original lines of a file",
        "grep": "Search files for a regular expression",
        "outline": "Show the headings of a document or a folder",
        "related": "Find similar documents",
        "inspect": "Show all metadata of a document or a passage",
        "chat": "Ask one question after another",
        "session": "List, show or delete ask sessions",
        "translate": "Translate a document",
    },
    "Maintain": {
        "init": "Write a commented settings file",
        "source": "List, add or remove sources; files stay",
        "rm": "Remove documents from the index; files stay",
        "dupes": "Find copies and near copies",
        "model": "List, download or change the embedding model",
        "reset": "Delete the index; files stay",
        "help": "Show a page of the documentation",
        "completion": "Print the completion script of a shell",
    },
    "Share": {
        "export": "Write the knowledge base into one file",
        "import": "Make an exported file the knowledge base",
        "publish": "Publish the knowledge base, so that others can search it",
        "serve": "Serve the operations, MCP and the web page over HTTP",
    },
    "Agents and editors": {
        "install": "Let a coding agent or an editor use kebab",
        "mcp": "Serve the notes to an agent through MCP",
    },
    "Developer": {
        "explain": "Explain an error code",
        "errors": "Count recent errors",
        "schema": "Show capabilities, models and statistics",
        "eval": "Measure search quality",
    },
}
"""The sections of help, with the summary of each command."""

COMMANDS = {name: summary for rows in SECTIONS.values() for name, summary in rows.items()}
"""The summary of each command, in the order of help."""


class LazyGroup(Group):
    """A group that imports the module of a command when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command after importing its module."""
        if cmd_name not in COMMANDS:
            return None
        # A module cannot have the name of a keyword.
        module = f"kebab.cli.commands.{cmd_name}" + "_" * iskeyword(cmd_name)
        command: click.Command = import_module(module).command
        return command

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, and the names of the flags; the help of a command explains them."""
        self.format_commands(ctx, formatter)
        shared = [max(one.opts, key=len) for one in self.params if isinstance(one, GlobalOption)]
        with formatter.section("Options, before or after a command"):
            formatter.write_text("  ".join([*shared, "--version", "--help"]))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the names with their summaries, section by section."""
        for section, rows in SECTIONS.items():
            with formatter.section(section):
                formatter.write_dl([*rows.items()], col_spacing=max(2, 12 - max(map(len, rows))))


def _show_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click calls it
    if value and ctx.obj is not None:
        if _wants_json(ctx):
            from kebab.wire.health import Version

            _print_json(ctx, Version(kebab_version=__version__))
        else:
            ctx.obj.channels.out.write(f"kebab {__version__}\n")
        ctx.exit()


@click.group(
    "kebab",
    cls=LazyGroup,
    examples=(
        "kebab ingest ~/notes",
        'kebab search "how do I restore a backup"',
        "kebab fetch 'notes/backup.md#L12-L20' --section",
    ),
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Print the version.",
)
def root(_: "CommandContext") -> None:
    """Search your own files on your own machine.

    kebab finds exact passages in your notes by words and by meaning, in English, Korean and other
    languages, with or without a network. Every command prints strict JSON with `--json`.
    """
