"""Builds the entry for the MCP server of kebab, and compares it with one that is found."""

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

Entry = dict[str, Any]
NAME = "kebab"
"""The name of the server in every client."""
REMOTE_KEYS = ("url", "httpUrl", "serverUrl")
"""The keys by which an entry names a server on the network instead of a program."""


class EntryError(ValueError):
    """A file cannot be edited safely; the text is the reason."""


def build_entry(
    fixed: Mapping[str, str], flags: Sequence[str], arguments: Sequence[str] = sys.argv
) -> Entry:
    """Return the entry that starts the MCP server.

    Args:
        fixed: The members that the client asks for besides the command.
        flags: Flags of the server.
        arguments: How this process was started.
    """
    program, *first = find_program(arguments)
    return {**fixed, "command": program, "args": [*first, "mcp", *flags]}


def find_program(arguments: Sequence[str]) -> list[str]:
    """Return the words that start this kebab with an absolute path.

    A client may have another `PATH` than the shell, so a bare name does not do. Links are kept,
    because those of pipx and uv stay when what they point to moves.
    """
    called = None
    with suppress(FileNotFoundError):  # the working folder was deleted
        called = Path(os.path.abspath(arguments[0])) if arguments and arguments[0] else None  # noqa: PTH100 - keeps links
    beside = Path(sys.executable).with_name(NAME)
    for path in (called, beside, beside.with_suffix(".exe")):
        if path and path.name in (NAME, f"{NAME}.exe") and path.is_file():
            return [str(path)]
    return [sys.executable, "-m", NAME]


def is_current(found: Any, wanted: Entry) -> bool:
    """Return whether an entry needs no change; members that kebab does not set are free."""
    return keeps_members(found) and all(found.get(key) == wanted[key] for key in wanted)


def keeps_members(found: Any) -> bool:
    """Return whether an entry keeps its other members when it is changed.

    An entry that is no object, or that names a server on the network, is replaced as a whole.
    """
    return isinstance(found, dict) and not any(key in found for key in REMOTE_KEYS)
