"""Runs the command line in this process and captures its output."""

import io
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from kebab.cli.channels import OutputChannel, OutputChannels
from kebab.cli.main import main


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The exit status and the output of one call."""

    status: int
    out: str
    err: str

    @property
    def reply(self) -> dict[str, Any]:
        """The only object on stdout."""
        (line,) = self.out.splitlines()
        reply: dict[str, Any] = json.loads(line)
        return reply

    @property
    def events(self) -> list[dict[str, Any]]:
        """The objects on stdout."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def asides(self) -> list[dict[str, Any]]:
        """The objects on stderr."""
        return [json.loads(line) for line in self.err.splitlines()]

    @property
    def fault(self) -> dict[str, Any]:
        """The only error on stderr."""
        (fault,) = (event for event in self.asides if event["schema_version"] == "error.v1")
        return fault


def run(
    *arguments: str, opener: Callable[..., Any] | None = None, stdin: bytes = b""
) -> CommandResult:
    """Run one command line; `opener` stands in for the real knowledge base."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, standard_input(stdin):
        channels = OutputChannels(
            OutputChannel(out.fileno(), "<stdout>"), OutputChannel(err.fileno(), "<stderr>")
        )
        with patch("kebab.app.facade.Kebab", opener) if opener else nullcontext():
            status = main(arguments, channels)
        return CommandResult(int(status), _text(out), _text(err))


def environment(home: os.PathLike[str] | str) -> dict[str, str]:
    """Return an environment whose folders are all below `home`."""
    outside = ("KEBAB_", "XDG_", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "OLLAMA_", "VISUAL")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(outside)}
    places = ("CONFIG", "DATA", "CACHE", "STATE")
    folders = {f"XDG_{place}_HOME": os.path.join(home, place.lower()) for place in places}  # noqa: PTH118 - a string is wanted
    own = {"HOME": os.fspath(home), "KEBAB_OFFLINE": "true", "EDITOR": "no-such-editor"}
    return {**inherited, **folders, **own}


@contextmanager
def enter_environment(environ: Mapping[str, str], folder: Path) -> Iterator[None]:
    """Let this process have the environment of a home, and work in a folder of it."""
    settings = ("KEBAB_", "OLLAMA_", "OPENAI_", "XDG_")
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ.keys() - environ.keys():
            if name.startswith(settings) or "proxy" in name.lower():
                patch.delenv(name)
        for name, value in environ.items():
            patch.setenv(name, value)
        patch.chdir(folder)
        yield


@contextmanager
def standard_input(data: bytes) -> Iterator[None]:
    """Replace standard input by these bytes."""
    before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(data))
    try:
        yield
    finally:
        sys.stdin = before


def _text(file: Any) -> str:
    file.seek(0)
    text: str = file.read().decode("utf-8")
    return text
