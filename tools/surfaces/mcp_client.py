"""Talks to `kebab mcp` over its standard input and output, and checks every result."""

import json
import random
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import jsonschema

from tools.surfaces.clients import ERROR, BrokenAnswerError, Node, Result, check_object
from tools.surfaces.random_requests import mutate

PROTOCOL = "2025-06-18"


class McpClient:
    """A server process with one client; calls wait for their answers in order.

    Raises:
        BrokenAnswerError: The server does not answer the handshake.
    """

    def __init__(
        self, environment: Mapping[str, str], folder: Path, *, allow_write: bool = True
    ) -> None:
        flags = ("--allow-write", "--with-ask") if allow_write else ("--with-ask",)
        self.process = subprocess.Popen(  # noqa: S603 - the program is kebab
            [sys.executable, "-m", "kebab", "mcp", *flags],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(environment),
            cwd=folder,
        )
        self._number = 0
        client = {"name": "kebab-tools", "version": "1"}
        told = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client}
        self._request("initialize", told)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        tools = self._request("tools/list", {})["result"]["tools"]
        self.tools = {
            tool["name"]: jsonschema.Draft202012Validator(tool["outputSchema"]) for tool in tools
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End the server by closing its input."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def ask(self, tool: str, raw: bytes) -> Result:
        """Return the result of a tool call with these arguments.

        What is no object is sent as a message, which the server must survive.
        """
        try:
            arguments = json.loads(raw or b"{}")
        except (ValueError, RecursionError):
            return self.send_junk(raw)
        return self.call(tool, arguments)

    def call(self, tool: str, arguments: Any) -> Result:
        """Return the structured result of a tool call, held to its schema.

        Raises:
            BrokenAnswerError: It breaks the schema.
        """
        answer = self._request("tools/call", {"name": tool, "arguments": arguments})
        if "error" in answer:
            code = str(answer["error"]["code"])
            return Result({"schema_version": ERROR, "code": f"jsonrpc {code}"}, 2)
        result = answer["result"]
        found = result.get("structuredContent")
        if result.get("isError"):
            return Result(check_object(json.dumps(found).encode()), 2)
        try:
            self.tools[tool].validate(found)
        except jsonschema.ValidationError as fault:
            raise BrokenAnswerError(f"{tool}: {str(fault)[:500]}") from fault
        return Result({"schema_version": f"tool {tool}", **found}, 0)

    def send_mutated(self, tool: str, raw: bytes, chance: random.Random) -> Result:
        """Send a call whose message has changed bytes, and wait for the answer to a ping."""
        message = b'{"jsonrpc":"2.0","id":"m","method":"tools/call","params":{"name":"%b",'
        return self.send_junk(mutate(message % tool.encode() + b'"arguments":%b}}' % raw, chance))

    def send_junk(self, raw: bytes) -> Result:
        """Send a line that is no message, and wait for the answer to a ping."""
        self._write(raw.replace(b"\n", b" ") + b"\n")
        self._request("ping", {})
        return Result({"schema_version": ERROR, "code": "no message"}, 2)

    def _request(self, method: str, params: Node) -> Node:
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        return self._read_answer(self._number)

    def _send(self, message: Node) -> None:
        self._write(json.dumps(message).encode() + b"\n")

    def _write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def _read_answer(self, number: int) -> Node:
        """Return the answer with this number; others are notifications, or answers to junk."""
        assert self.process.stdout is not None
        while line := self.process.stdout.readline():
            try:
                message: Node = json.loads(line)
            except ValueError as fault:
                raise BrokenAnswerError(f"no JSON on stdout: {line[:200]!r}") from fault
            if message.get("id") == number:
                return message
        raise BrokenAnswerError("the server ended")
