"""A knowledge base of its own below one folder, and the processes that run against it."""

import os
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

import kebab
from kebab.bench.process import Outcome, Runner, run_process
from kebab.bench.race import Command

PROGRAM = "from kebab.cli.main import run; run()"
"""What the console script does."""

_DROPPED = ("KEBAB_", "XDG_", "_KEBAB", "COV_", "COVERAGE_")


def python(program: str, *arguments: str) -> Command:
    """Return the command that runs a program text in this interpreter."""
    return (sys.executable, "-c", program, *arguments)


def module(name: str, *arguments: str) -> Command:
    """Return the command that runs a module of ours in this interpreter."""
    return (sys.executable, "-m", name, *arguments)


def kebab_command(*arguments: str) -> Command:
    """Return the command that runs kebab as its console script does."""
    return python(PROGRAM, *arguments)


class Bed:
    """Folders of one knowledge base; its processes see no settings of the person at work."""

    def __init__(self, folder: Path, models: Path, runner: Runner = run_process) -> None:
        self.folder = folder
        self.data = folder / "data"
        self._runner = runner
        self._environment = _environment(os.environ, folder, models)
        folder.mkdir(parents=True, exist_ok=True)

    def run(self, command: Command) -> Outcome:
        """Run a command to its end."""
        return self._runner(command, self._environment, self.folder)

    def disk_bytes(self) -> int:
        """Return the space that the knowledge base takes on the disk."""
        files = (path for path in self.data.rglob("*") if path.is_file())
        return sum(path.stat().st_blocks * 512 for path in files)


def _environment(outer: Mapping[str, str], folder: Path, models: Path) -> dict[str, str]:
    """Return the environment without settings, and with a home that is ours."""
    kept = {name: value for name, value in outer.items() if not name.startswith(_DROPPED)}
    ours = {
        "HOME": str(folder / "home"),
        "KEBAB_DATA_DIR": str(folder / "data"),
        "KEBAB_MODELS_DIR": str(models),
        "KEBAB_OFFLINE": "true",  # a fetch of weights would be measured as well
        "ORT_DISABLE_TELEMETRY": "1",  # also where onnxruntime runs without kebab
    }
    return {**kept, **ours, **_import_path(outer.get("PYTHONPATH", "")), **_bytecode(folder)}


def _bytecode(folder: Path) -> dict[str, str]:
    """Return what lets processes keep bytecode, as any installed program has it.

    Where none is to be written beside the sources, all beds of a run share a place of their own.
    """
    if not sys.dont_write_bytecode:
        return {}
    return {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder.parent / "bytecode")}


def _import_path(outer: str) -> dict[str, str]:
    """Return what lets a process in another folder import this very kebab."""
    root = str(Path(kebab.__file__).parents[1])
    if root in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib")):
        return {}
    return {"PYTHONPATH": os.pathsep.join(filter(None, (root, outer)))}
