"""Reports an exception that ends the process while kebab cannot import what reports errors.

Only built-in modules are imported, so it works with hardly any memory.
"""

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ERROR = 2
"""The exit status of an error."""

_NO_MEMORY = ("allocat", "out of memory", "failed to map", "can't start new thread")
_JSON_FLAGS = ("--json", "--stream", "--bulk")

_MEMORY = {
    "code": '"out_of_memory"',
    "message": '"there is not enough memory: kebab"',
    "details": '{"operation":"kebab","limit_bytes":null}',
    "hint": '"close other programs, then repeat the command"',
    "kind": '"quota"',
    "retryable": "true",
    "retry": '"transient"',
    "severity": '"error"',
}
_OTHER = {
    "code": '"generic"',
    "message": '"something unexpected went wrong"',
    "details": "{}",
    "hint": '"kebab doctor"',
    "kind": '"unknown"',
    "retryable": "false",
    "retry": '"none"',
    "severity": '"critical"',
}
"""The fields of `error.v1` in JSON, as the rows of the catalogue give them."""


def describe_start_failure(fault: BaseException, arguments: "Sequence[str]") -> str:
    """Return an error in the format of the caller: lines of text, or one line of JSON."""
    words = str(fault).lower()
    lacks_memory = isinstance(fault, MemoryError) or any(one in words for one in _NO_MEMORY)
    fields = _MEMORY if lacks_memory else _OTHER
    return format_failure(fields, arguments)


def format_failure(fields: "Mapping[str, str]", arguments: "Sequence[str]") -> str:
    """Return the fields of `error.v1`, each in JSON, in the format of the caller."""
    if detect_json_output(arguments):
        return _build_json(fields)
    message, hint, code = (fields[name].strip('"') for name in ("message", "hint", "code"))
    return f"error: {message}\nhint: {hint}\ncode: {code}\n"


def detect_json_output(arguments: "Sequence[str]") -> bool:
    """Return whether unparsed arguments ask for JSON.

    This decides only the format of errors that occur before the flags are parsed.
    """
    wanted = False
    for position, argument in enumerate(arguments):
        if argument == "--":
            break
        name, _, value = argument.partition("=")
        if name == "--output-format":
            wanted = (value or "".join(arguments[position + 1 : position + 2])) == "json"
        wanted = wanted or argument in _JSON_FLAGS
    return wanted


def _build_json(fields: "Mapping[str, str]") -> str:
    now = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
    shown = {
        "schema_version": '"error.v1"',
        "command": '"kebab"',
        "timestamp": f'"{now}"',
        "exit_code": str(ERROR),
        "output_format": '"json"',
        "operation": '"kebab"',
        "target": '"kebab"' if fields is _MEMORY else "null",
        "correlation_id": f'"{os.urandom(16).hex()}"',
        **fields,
    }
    return "{" + ",".join(f'"{name}":{value}' for name, value in shown.items()) + "}\n"
