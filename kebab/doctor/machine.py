"""What kebab needs of the machine: settings, folders, space, file descriptors, the writer lock."""

import os
import shlex
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kebab.doctor.findings import Finding, fail, format_count, succeed, warn
from kebab.errors.catalog import ConfigInvalid

_MIB = 1 << 20
_LITTLE_SPACE = 1024 * _MIB
_NO_SPACE = 100 * _MIB
_FEW_DESCRIPTORS = 256
"""The vector store alone keeps dozens of files open while it compacts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsFile:
    """Where the settings were read from, and what was odd about them."""

    path: Path
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineInputs:
    """What to ask about the machine.

    `settings` raises `ConfigInvalid` when they cannot be used. `folders` are the places kebab
    writes to, by what they are for. `holder` names the process that is writing.
    """

    settings: Callable[[], SettingsFile]
    folders: Mapping[str, Path]
    data: Path
    log: Path
    holder: Callable[[], int | None]


def check_settings(load: Callable[[], SettingsFile]) -> Finding:
    """Look whether the settings can be used."""
    try:
        file = load()
    except ConfigInvalid as signal:
        return fail(signal.format_message(), _settings_fix(signal.path))
    if file.warnings:
        edit = f"${{EDITOR:-vi}} {shlex.quote(str(file.path))}"
        return warn(f"{file.path}: {'; '.join(file.warnings)}", edit)
    where = file.path if file.path.exists() else f"defaults, there is no file: {file.path}"
    return succeed(str(where))


def check_folders(folders: Mapping[str, Path]) -> Finding:
    """Look whether every folder can be written to, or be made."""
    for purpose, path in folders.items():
        ground = _find_existing(path)
        if not ground.is_dir():
            moved = f"mv {_quoted(ground)} {_quoted(ground.with_name(f'{ground.name}.old'))}"
            return fail(f"a file stands in the way of the {purpose} folder: {ground}", moved)
        if not os.access(ground, os.W_OK | os.X_OK):
            return fail(
                f"no permission to write the {purpose} folder: {ground}",
                f"chmod u+rwx {_quoted(ground)}",
            )
    return succeed(", ".join(f"{purpose}: {path}" for purpose, path in folders.items()))


def check_disk_space(data: Path, free: Callable[[Path], int] | None = None) -> Finding:
    """Look whether there is space to index into."""
    ground = _find_existing(data)
    space = free(ground) if free else shutil.disk_usage(ground).free
    summary = f"{space / _MIB:,.0f} MiB free: {ground}"
    look = f"df -h {_quoted(ground)}"
    if space < _NO_SPACE:
        return fail(f"the disk is full, {summary}", look)
    return warn(f"little space, {summary}", look) if space < _LITTLE_SPACE else succeed(summary)


def check_open_files(soft_limit: Callable[[], int] | None = None) -> Finding:
    """Look whether a process may open enough files."""
    limit = (soft_limit or _read_file_limit)()
    summary = f"a process may open {limit:,} files"
    return succeed(summary) if limit >= _FEW_DESCRIPTORS else warn(summary, "ulimit -n 1024")


def check_writer(holder: Callable[[], int | None]) -> Finding:
    """Look who is writing; a writer is no fault."""
    pid = holder()
    return succeed("nobody is writing" if pid is None else f"being written by process: {pid}")


def check_log(path: Path) -> Finding:
    """Tell where faults are written down."""
    if not path.exists():
        return succeed(f"no fault was ever logged: {path}")
    return succeed(f"{format_count(path.stat().st_size, 'byte')}: {path}")


def _settings_fix(origin: str) -> str:
    """Return the fix by where the fault is: a variable, or a file."""
    if origin.startswith("$"):
        return f"unset {origin[1:]}"
    return f"kebab --config {shlex.quote(origin)} init --force"


def _find_existing(path: Path) -> Path:
    """Return the path, or the nearest parent that exists."""
    return next(place for place in (path, *path.parents) if place.exists() or place == place.parent)


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))


def _read_file_limit() -> int:
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return soft if soft != resource.RLIM_INFINITY else 1 << 20
