"""Puts the MCP server together for the commands that run it."""

from importlib.util import find_spec
from typing import TYPE_CHECKING

from kebab.cli.context import CommandContext
from kebab.config.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kebab.mcp.calls import ToolCaller
    from kebab.mcp.http import McpApplication
    from kebab.mcp.tools import Tool
    from kebab.wire.record import Reply

MCP_PATH = "/mcp"
SDK = "mcp"
"""The library that the extra of the same name installs."""


def build_caller(
    context: CommandContext, settings: Settings, tools: "Sequence[Tool]"
) -> "ToolCaller":
    """Return what runs these tools on the knowledge base of a call."""
    from kebab.app.pool import KebabPool
    from kebab.mcp.calls import ToolCaller

    return ToolCaller(
        settings,
        context.config_path,
        read_only=context.flags.read_only,
        render=_render,
        tools=tools,
        pool=KebabPool(),
    )


def build_application(
    context: CommandContext, settings: Settings, *, allow_write: bool
) -> "McpApplication | None":
    """Return the application that the HTTP server offers at `MCP_PATH`; None without the SDK."""
    if find_spec(SDK) is None:
        return None
    from kebab.mcp.http import McpApplication
    from kebab.mcp.resources import Resources
    from kebab.mcp.server import Handlers
    from kebab.mcp.tools import select_tools

    tools = select_tools(allow_write=allow_write, with_ask=False)
    caller = build_caller(context, settings, tools)
    handlers = Handlers(caller, Resources(caller), text_only=False)
    return McpApplication(handlers, caller.describe_index)


def _render(reply: "Reply") -> str:
    """Render a reply; the renderers are imported after the handshake."""
    from kebab.cli.mcp_text import render_for_model

    return render_for_model(reply)
