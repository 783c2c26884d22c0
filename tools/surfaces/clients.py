"""Sends one request to one surface of kebab, and reads every object that comes back."""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import jsonschema

from kebab.app.dispatch import (
    format_reply,
    report_failure,
)
from kebab.app.facade import Kebab
from kebab.app.request_defaults import decode_operation_request
from kebab.config.load import load_settings
from kebab.config.settings import find_default_config
from kebab.wire.json_schema import build_schemas
from kebab.wire.operations import OPERATIONS
from kebab.wire.record import Reply, encode_json
from tools.surfaces.command_lines import CommandLine, build_command_line

if TYPE_CHECKING:
    from kebab.config.settings import Settings
    from kebab.wire.error import ErrorReply

Node = dict[str, Any]
ERROR = "error.v1"
_OK = 200


class Result(NamedTuple):
    """The answer of a surface: the result or the error, and the exit status of the call."""

    reply: Node
    status: int

    @property
    def failed(self) -> bool:
        """Whether it is an error."""
        return bool(self.reply["schema_version"] == ERROR)


class Surface(Protocol):
    """Something that answers requests."""

    def ask(self, operation: str, raw: bytes) -> Result:
        """Return the answer to a request with this body."""


class BrokenAnswerError(AssertionError):
    """A surface broke the contract; the message says how."""


@cache
def _load_validators() -> Mapping[str, jsonschema.Draft202012Validator]:
    return {name: jsonschema.Draft202012Validator(one) for name, one in build_schemas().items()}


def check_object(text: bytes) -> Node:
    """Return an object after a check against its published schema.

    Raises:
        BrokenAnswerError: It is no object, has no schema, or breaks it.
    """
    try:
        found = json.loads(text)
        _load_validators()[found["schema_version"]].validate(found)
    except (ValueError, KeyError, TypeError, jsonschema.ValidationError) as fault:
        raise BrokenAnswerError(f"{str(fault)[:500]}: {text[:500]!r}") from fault
    node: Node = found
    return node


def check_reply(reply: Node, operation: str | None, status: int) -> Result:
    """Return an answer after a check of its envelope; without an operation it may be any.

    Raises:
        BrokenAnswerError: It is not what the operation declares.
    """
    if operation is not None and reply["schema_version"] not in _list_schemas(operation):
        raise BrokenAnswerError(f"{operation} replied {reply['schema_version']}")
    if (reply["exit_code"], reply["output_format"]) != (status, "json"):
        raise BrokenAnswerError(f"the status is {status}: {reply}")
    return Result(reply, status)


def _list_schemas(operation: str) -> set[str]:
    return {ERROR, *(str(one.__struct_config__.tag) for one in OPERATIONS[operation].replies)}


class LibraryClient:
    """Asks the dispatcher in this process, with a new knowledge base for each request.

    With `is_owner` as the command line does, else as a client of a server.
    """

    def __init__(self, *, is_owner: bool = True) -> None:
        self._is_owner = is_owner

    def ask(self, operation: str, raw: bytes) -> Result:
        """Return the answer to a request with this body."""
        reply = self._answer(operation, raw)
        return check_reply(check_object(encode_json(reply)), operation, int(str(reply.exit_code)))

    def _answer(self, operation: str, raw: bytes) -> Reply:
        settings: Settings | None = None
        try:
            settings = load_settings()
            request = decode_operation_request(operation, raw, settings)
            config = find_default_config()
            with Kebab(settings, config_path=config, is_owner=self._is_owner) as kebab:
                return format_reply(operation, kebab.run(request))
        except Exception as fault:  # noqa: BLE001 - the edge of the call
            reply: ErrorReply = report_failure(operation, fault, settings).reply
            return reply


class Output(NamedTuple):
    """The exit status of a process, and its output."""

    status: int
    out: bytes
    err: bytes


Runner = Callable[[CommandLine], Output]


def run_process(line: CommandLine, environment: Mapping[str, str], folder: Path) -> Output:
    """Run a command line as a process."""
    done = subprocess.run(  # noqa: S603 - the program is kebab
        [sys.executable, "-m", "kebab", *line.arguments],
        input=line.stdin,
        env=dict(environment),
        cwd=folder,
        capture_output=True,
        check=False,
        timeout=120,
    )
    return Output(done.returncode, done.stdout, done.stderr)


class CommandClient:
    """Asks the command line; `run` runs one, as a process or in this one."""

    def __init__(self, run: Runner) -> None:
        self._run = run

    def ask(self, operation: str, raw: bytes) -> Result:
        """Return the answer to a request with this body.

        Raises:
            InexpressibleError: No command line means the same.
        """
        line = build_command_line(operation, json.loads(raw if raw.strip() else b"{}"))
        return self.run(line, operation)

    def run(self, line: CommandLine, operation: str | None = None) -> Result:
        """Return the answer to a command line, which may run another operation if none is named.

        Raises:
            BrokenAnswerError: The output breaks the contract.
        """
        output = self._run(CommandLine(("--json", *line.arguments), line.stdin))
        if b"Traceback" in output.err:
            raise BrokenAnswerError(output.err.decode(errors="replace")[-2000:])
        results = [check_object(one) for one in output.out.splitlines()]
        asides = [check_object(one) for one in output.err.splitlines()]
        errors = [one for one in asides if one["schema_version"] == ERROR]
        if len(results) + len(errors) != 1:
            raise BrokenAnswerError(f"{line}: {output}"[:1000])
        return check_reply([*results, *errors][0], operation, output.status)


class HttpClient:
    """Asks an HTTP server; each thread has its own connection."""

    def __init__(self, url: str, token: str) -> None:
        import httpx

        self.token = token
        self.address = (str(httpx.URL(url).host), httpx.URL(url).port or 0)
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._client = httpx.Client(base_url=url, headers=headers, timeout=120, trust_env=False)

    def ask(self, operation: str, raw: bytes) -> Result:
        """Return the answer to a request with this body.

        Raises:
            BrokenAnswerError: The HTTP status is not that of the answer.
        """
        response = self._client.post(f"/v1/{operation}", content=raw)
        reply = check_object(response.content)
        result = check_reply(reply, operation, reply["exit_code"])
        if (response.status_code == _OK) is result.failed:
            raise BrokenAnswerError(f"HTTP status {response.status_code}: {reply}")
        return result

    def call_tool(self, tool: str, raw: bytes) -> Result:
        """Return the structured result of a tool call over MCP; `raw` are its arguments.

        Raises:
            BrokenAnswerError: The answer is no message of JSON-RPC.
        """
        message = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%b",'
        body = message % tool.encode() + b'"arguments":%b}}' % (raw or b"{}")
        response = self._client.post("/mcp", content=body, headers=_MCP)
        answer = json.loads(response.content)
        if "result" not in answer:
            code = answer.get("code") or f"jsonrpc {answer['error']['code']}"
            return Result({"schema_version": "error.v1", "code": code}, 2)
        found = answer["result"].get("structuredContent")
        if answer["result"].get("isError"):
            return Result(check_object(json.dumps(found).encode()), 2)
        return Result({"schema_version": f"tool {tool}", **found}, 0)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()


_MCP = {"Accept": "application/json, text/event-stream"}


def list_differences(one: Any, other: Any, path: str = "$") -> list[str]:
    """Return the JSON paths where two values differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        names: Sequence[str] = sorted(one.keys() | other.keys())
        absent = object()
        pairs = [
            (f"{path}.{name}", one.get(name, absent), other.get(name, absent)) for name in names
        ]
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = [
            (f"{path}[{at}]", left, right)
            for at, (left, right) in enumerate(zip(one, other, strict=True))
        ]
    else:
        return (
            [] if one == other and type(one) is type(other) else [f"{path}: {one!r} != {other!r}"]
        )
    return [line for at, left, right in pairs for line in list_differences(left, right, at)]
