"""`kebab mcp` serves the knowledge base to an agent over standard input and output."""

import io
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from kebab.cli.command import Command
from kebab.cli.context import CommandContext
from kebab.cli.mcp import build_caller
from kebab.cli.prompt import find_terminal
from kebab.config.settings import Settings
from kebab.errors.signal import Exit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kebab.mcp.tools import Tool

_SETUP = "a client starts this command itself; set one up: kebab install CLIENT --mcp"
"""Tells a person who started the command on a terminal how it is meant."""


@click.command(
    "mcp",
    cls=Command,
    exits=(),
    examples=("kebab mcp", "kebab mcp --data-dir ~/work/kebab --allow-write"),
)
@click.option("--allow-write", is_flag=True, help="Offer the tool `ingest`.")
@click.option("--with-ask", is_flag=True, help="Offer the tool `ask`, for clients without a model.")
@click.option(
    "--text-only",
    is_flag=True,
    help="Return text without structured results, for clients that hide the text beside them.",
)
@click.pass_obj
def command(
    context: CommandContext, /, *, allow_write: bool, with_ask: bool, text_only: bool
) -> Exit:
    """Serve the notes to an agent through MCP.

    MCP is the Model Context Protocol. The client starts this command and talks to it over standard
    input and output. It gets the tools `search`, `read`, `grep`, `outline`, `explain` and `status`,
    and the documents as resources. The server ends when the client closes its input. The entry in
    the settings of most clients is
    `{"mcpServers": {"kebab": {"command": "kebab", "args": ["mcp"]}}}`.
    """
    if allow_write and context.flags.read_only:
        raise click.UsageError("`--allow-write` and `--read-only` exclude each other")
    settings = context.load_settings()
    from kebab.mcp.tools import select_tools

    tools = select_tools(allow_write=allow_write, with_ask=with_ask)
    if find_terminal(context.channels) and not context.flags.machine:
        lines = ["waiting for an MCP client on standard input; Ctrl-C ends", _SETUP]
        context.channels.err.write_lines(lines)
    with suppress(KeyboardInterrupt):
        _serve(context, settings, tools, text_only=text_only)
    return Exit.DONE


def _serve(
    context: CommandContext, settings: Settings, tools: "Sequence[Tool]", *, text_only: bool
) -> None:
    """Serve until the input ends."""
    from kebab.mcp.protocol import Protocol
    from kebab.mcp.stdio import StdioServer

    caller = build_caller(context, settings, tools)
    instructions = caller.describe_index()
    # The first search is quicker when its code and its model were loaded while the client began.
    threading.Thread(target=caller.preload, name="preload", daemon=True).start()
    protocol = Protocol(caller, lambda: instructions, text_only=text_only)
    # A closed standard input is none for Python, and an input that has ended for the protocol.
    source = sys.stdin.buffer if sys.stdin else io.BytesIO()
    StdioServer(protocol, source, context.channels.out.write_bytes).serve()
