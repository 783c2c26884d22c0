"""`kebab mcp` serves the knowledge base to an agent over standard input and output."""

import io
import sys
from contextlib import closing, suppress

import click

from kebab.cli.command import declare_command
from kebab.cli.commands.serve import build_options
from kebab.cli.context import CommandContext
from kebab.cli.prompt import find_terminal
from kebab.errors.signal import Exit


@declare_command("mcp", examples=("kebab mcp", "kebab mcp --data-dir ~/work/kebab --allow-write"))
@click.option("--allow-write", is_flag=True, help="Offer the tool `ingest`.")
@click.option("--with-ask", is_flag=True, help="Offer the tool `ask`, for clients without a model.")
@click.option(
    "--text-only",
    is_flag=True,
    help="Return text without structured results, for clients that hide the text beside them.",
)
def command(
    context: CommandContext, /, *, allow_write: bool, with_ask: bool, text_only: bool
) -> Exit:
    """Serve the notes to an agent through MCP.

    MCP is the Model Context Protocol. The client starts this command and talks to it over standard
    input and output. It gets the tools `search`, `read`, `grep`, `outline` and `status`.
    The server ends when the client closes its input. The entry in the settings of most clients is
    `{"mcpServers": {"kebab": {"command": "kebab", "args": ["mcp"]}}}`.
    """
    if allow_write and context.flags.read_only:
        raise click.UsageError("`--allow-write` and `--read-only` exclude each other")
    context.load_settings()
    if find_terminal(context.channels) and not context.flags.machine:
        wait = "waiting for an MCP client on standard input; Ctrl-C ends"
        setup = "a client starts this command itself; set one up: kebab install CLIENT --mcp"
        context.channels.err.write_lines([wait, setup])
    from kebab.server.requests import Operations

    options = build_options(context, allow_write=allow_write)
    with suppress(KeyboardInterrupt), closing(Operations(options)) as operations:
        import anyio

        from kebab.server.mcp import McpServer

        server = McpServer(operations, with_ask=with_ask, text_only=text_only)
        # A closed standard input is none for Python, and an input that has ended for the protocol.
        source = sys.stdin.buffer if sys.stdin else io.BytesIO()
        stdin = io.TextIOWrapper(source, encoding="utf-8", errors="replace")
        descriptor = context.channels.out.descriptor
        stdout = open(descriptor, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        anyio.run(server.serve_stdio, stdin, stdout)
    return Exit.DONE
