"""Runs commands in a knowledge base of their own, and measures their time and memory.

The system counts the memory of the parent as part of the peak memory of a new process, so the
benchmark itself must not import anything large.
"""

import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import kebab

Command: TypeAlias = Sequence[str]

PROGRAM = "from kebab.cli.main import run; run()"
"""The program text of the console script."""

_RSS_UNIT = 1 if sys.platform == "darwin" else 1024
_SHOWN_ERROR = 300
_DROPPED = ("KEBAB_", "XDG_", "_KEBAB", "COV_", "COVERAGE_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of one process. `peak_bytes` is the most memory that it held at once.

    `cpu_seconds` is the processor time of the process and of those that it has waited for.
    """

    status: int
    seconds: float
    cpu_seconds: float = 0.0
    peak_bytes: int = 0
    out: bytes = b""
    err: bytes = b""

    def describe_failure(self) -> str | None:
        """Return why the process failed, or None when it succeeded."""
        if self.status == 0:
            return None
        text = self.err.decode(errors="replace").strip()[-_SHOWN_ERROR:]
        return f"exit status {self.status}: {text}" if text else f"exit status {self.status}"

    def parse_reply(self) -> dict[str, Any]:
        """Return the JSON object on stdout, or an empty one when there is none."""
        try:
            reply = json.loads(self.out)
        except ValueError:
            return {}
        return reply if isinstance(reply, dict) else {}


Runner: TypeAlias = Callable[[Command, Mapping[str, str], Path], Outcome]
"""Runs a command in a folder with exactly this environment."""


def run_process(command: Command, environment: Mapping[str, str], folder: Path) -> Outcome:
    """Run a command to its end; its output goes into files, so the process never blocks."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        started = time.perf_counter()
        process = subprocess.Popen(  # noqa: S603 - our own interpreter, or `cp`
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment, cwd=folder
        )
        with ExitStack() as undo:
            undo.callback(process.wait)
            undo.callback(process.kill)
            _, status, usage = os.wait4(process.pid, 0)
            undo.pop_all()
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return Outcome(
            status=process.returncode,
            seconds=seconds,
            cpu_seconds=usage.ru_utime + usage.ru_stime,
            peak_bytes=usage.ru_maxrss * _RSS_UNIT,
            out=out.read(),
            err=err.read(),
        )


def build_python_command(program: str, *arguments: str) -> Command:
    """Return the command that runs a program text in this interpreter."""
    return (sys.executable, "-c", program, *arguments)


def build_module_command(name: str, *arguments: str) -> Command:
    """Return the command that runs a module in this interpreter."""
    return (sys.executable, "-m", name, *arguments)


def build_kebab_command(*arguments: str) -> Command:
    """Return the command that runs kebab as its console script does."""
    return build_python_command(PROGRAM, *arguments)


class Sandbox:
    """A knowledge base in a folder of its own; its processes ignore the settings of the user."""

    def __init__(self, folder: Path, models: Path, runner: Runner = run_process) -> None:
        self.folder = folder
        self.data = folder / "data"
        self._runner = runner
        self.environment: Mapping[str, str] = _build_environment(os.environ, folder, models)
        folder.mkdir(parents=True, exist_ok=True)

    def with_variables(self, variables: Mapping[str, str]) -> "Sandbox":
        """Return the same knowledge base with further environment variables."""
        other = copy(self)
        other.environment = {**self.environment, **variables}
        return other

    def run(self, command: Command) -> Outcome:
        """Run a command to its end."""
        return self._runner(command, self.environment, self.folder)

    def count_disk_bytes(self) -> int:
        """Return the disk space of the knowledge base."""
        files = (path for path in self.data.rglob("*") if path.is_file())
        return sum(path.stat().st_blocks * 512 for path in files)


def _build_environment(outer: Mapping[str, str], folder: Path, models: Path) -> dict[str, str]:
    """Return the environment without settings and with a home inside the folder."""
    inherited = {name: value for name, value in outer.items() if not name.startswith(_DROPPED)}
    settings = {
        "HOME": str(folder / "home"),
        "KEBAB_DATA_DIR": str(folder / "data"),
        "KEBAB_MODELS_DIR": str(models),
        "KEBAB_DAEMON_AUTO": "false",  # a measured process does its own work
        "KEBAB_OFFLINE": "true",  # the time to download a model is not measured
        "ORT_DISABLE_TELEMETRY": "1",  # also where onnxruntime runs without kebab
    }
    import_path = _build_import_path(outer.get("PYTHONPATH", ""))
    return {**inherited, **settings, **import_path, **_build_bytecode_settings(folder)}


def _build_bytecode_settings(folder: Path) -> dict[str, str]:
    """Return what lets processes cache bytecode, as an installed program does.

    When bytecode may not be written beside the sources, all sandboxes of a run share one cache.
    """
    if not sys.dont_write_bytecode:
        return {}
    return {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder.parent / "bytecode")}


def _build_import_path(outer: str) -> dict[str, str]:
    """Return what lets a process in another folder import this copy of kebab."""
    root = str(Path(kebab.__file__).parents[1])
    if root in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib")):
        return {}
    return {"PYTHONPATH": os.pathsep.join(filter(None, (root, outer)))}
