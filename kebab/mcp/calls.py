"""Runs tool calls: arguments to requests, replies to results, exceptions to `isError` results."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from kebab.app.dispatch import convert_operation_request, report_failure, run_operation
from kebab.app.facade import Kebab
from kebab.app.pool import KebabPool
from kebab.app.trace import accept_trace
from kebab.config.settings import Settings
from kebab.core.progress import Cancel
from kebab.errors.catalog import InvalidInput
from kebab.mcp.arguments import Arguments
from kebab.mcp.instructions import build_instructions
from kebab.mcp.tools import RunOperation, Tool, ToolOutput
from kebab.wire.record import Reply, encode_json, to_invalid_input

Render = Callable[[Reply], str]
"""Returns the text of a reply as the command line shows it to a program."""
Report = Callable[[Any], None]


class ToolCaller:
    """Runs tools on one knowledge base; threads may share it.

    Args:
        settings: The settings of every call.
        config_path: The settings file.
        read_only: Whether every write is refused.
        render: Renders replies.
        tools: The tools that may be called.
        pool: Keeps knowledge bases open between calls.
    """

    def __init__(
        self,
        settings: Settings,
        config_path: Path,
        *,
        read_only: bool,
        render: Render,
        tools: Sequence[Tool],
        pool: KebabPool,
    ) -> None:
        self.settings = settings
        self._config_path = config_path
        self._read_only = read_only
        self._render = render
        self._pool = pool
        self.tools = {tool.name: tool for tool in tools}

    def list_tools(self, *, structured: bool) -> list[dict[str, Any]]:
        """Return the entries of `tools/list`, always in the same order."""
        return [tool.describe(structured=structured) for tool in self.tools.values()]

    def describe_index(self) -> str:
        """Return the instructions of the server; an index that cannot be read is described too."""
        try:
            text: str = self.run(build_instructions)
        except Exception as fault:  # noqa: BLE001 - a client shall see the tools and the reason
            reply = report_failure("schema", fault, self.settings).reply
            return f"The index of kebab cannot be read: {reply.message}. Tell the user."
        return text

    def run(self, use: Callable[[Kebab], Any]) -> Any:
        """Return what a function makes of the knowledge base; signals pass through."""
        with self._pool.lease(
            self.settings, config_path=self._config_path, read_only=self._read_only
        ) as kebab:
            return use(kebab)

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        structured: bool = True,
        report: Report | None = None,
        cancel: Cancel | None = None,
        trace: object = None,
    ) -> dict[str, Any]:
        """Return the result of a tool call; a failure is a result too, with the caller's trace.

        Without `structured` the result is only text, for clients that would hide the text
        otherwise.
        """
        tool = self.tools[name]
        with accept_trace(trace):
            try:
                given = _read_arguments(tool, arguments)
                output: ToolOutput = self.run(
                    lambda kebab: tool.run(self._bind(kebab, report, cancel), given)
                )
            except Exception as fault:  # noqa: BLE001 - every failure becomes a result
                return self._build_failure(tool, fault, structured=structured)
        shown = output.shown
        text = shown if isinstance(shown, str) else self._render(shown)
        if not structured:
            return {"content": [_build_text(text)]}
        return {
            "content": [_build_text(text), *output.links],
            "structuredContent": msgspec.to_builtins(output.result),
        }

    def _bind(self, kebab: Kebab, report: Report | None, cancel: Cancel | None) -> RunOperation:
        """Return the function by which a tool runs operations of this knowledge base."""

        def run(operation: str, fields: dict[str, Any]) -> Reply:
            given = {name: value for name, value in fields.items() if value is not None}
            request = convert_operation_request(operation, given, self.settings)
            return run_operation(kebab, operation, request, report=report, cancel=cancel)

        return run

    def _build_failure(self, tool: Tool, fault: Exception, *, structured: bool) -> dict[str, Any]:
        """Return the result for an exception: how to mend the call, and its `error.v1`."""
        reply = report_failure(tool.operation, fault, self.settings).reply
        text = self._render(reply)
        if isinstance(fault, InvalidInput):
            text += f"\narguments of {tool.name}: {_describe_arguments(tool)}"
        result: dict[str, Any] = {"content": [_build_text(text)], "isError": True}
        if structured:
            result["structuredContent"] = msgspec.json.decode(encode_json(reply))
        return result


def _read_arguments(tool: Tool, arguments: Mapping[str, Any]) -> Arguments:
    """Return the arguments of a call; null means left out, and a number may be a string.

    Raises:
        InvalidInput: The arguments break the schema of the tool.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    try:
        return msgspec.convert(given, tool.arguments, strict=False)
    except (msgspec.ValidationError, RecursionError) as fault:
        raise to_invalid_input(fault) from fault


def _describe_arguments(tool: Tool) -> str:
    """Return the names of the arguments, with those that are required."""
    schema = tool.input_schema
    required = schema.get("required", ())
    names = [
        f"{name} (required)" if name in required else name for name in schema.get("properties", ())
    ]
    return ", ".join(names) or "none"


def _build_text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}
