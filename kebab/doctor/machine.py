"""Checks the machine: settings, folders, disk space, open files, the writer lock and the log."""

import os
import shlex
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kebab.doctor.findings import Finding, fail, format_count, succeed, suggest_move, warn
from kebab.errors.catalog import ConfigInvalid
from kebab.errors.hints import build_variable_name

_MIB = 1 << 20
_LOW_SPACE = 1024 * _MIB
_FEW_OPEN_FILES = 256
"""The vector store alone keeps dozens of files open during compaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsFile:
    """The settings file, its faults, warnings about its values, and variables without effect."""

    path: Path
    faults: tuple[ConfigInvalid, ...] = ()
    warnings: tuple[str, ...] = ()
    unknown_variables: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineInputs:
    """The inputs of the checks of the machine.

    `folders` are the
    folders that kebab writes to, by purpose. `find_writer` returns the process that is writing.
    """

    read_settings: Callable[[], SettingsFile]
    folders: Mapping[str, Path]
    data: Path
    log: Path
    find_writer: Callable[[], int | None]


def check_settings(read_settings: Callable[[], SettingsFile]) -> Finding:
    """Check that the settings can be used."""
    file = read_settings()
    if file.faults:
        summary = "; ".join(dict.fromkeys(fault.format_message() for fault in file.faults))
        return fail(f"{summary}; defaults are used instead", _suggest_settings_fix(file.faults[0]))
    if file.warnings:
        edit = f"${{EDITOR:-vi}} {_quote(file.path)}"
        return warn(f"{file.path}: {'; '.join(file.warnings)}", edit)
    if file.unknown_variables:
        names = file.unknown_variables
        return warn(f"variables without effect: {', '.join(names)}", f"unset {' '.join(names)}")
    where = file.path if file.path.exists() else f"defaults, no settings file: {file.path}"
    return succeed(str(where))


def check_folders(folders: Mapping[str, Path]) -> Finding:
    """Check that every folder can be written or created."""
    for purpose, path in folders.items():
        existing = _find_existing_folder(path)
        if not existing.is_dir():
            fix = suggest_move(existing)
            return fail(f"a file is in the place of the {purpose} folder: {existing}", fix)
        if os.statvfs(existing).f_flag & os.ST_RDONLY:
            summary = f"the {purpose} folder is on a read-only file system: {existing}"
            return fail(summary, f"df -h {_quote(existing)}")
        if not os.access(existing, os.W_OK | os.X_OK):
            summary = f"no permission to write the {purpose} folder: {existing}"
            return fail(summary, f"chmod u+rwx {_quote(existing)}")
    return succeed(", ".join(f"{purpose}: {path}" for purpose, path in folders.items()))


def check_disk_space(data: Path, free: Callable[[Path], int] | None = None) -> Finding:
    """Check that the disk has space for the index."""
    existing = _find_existing_folder(data)
    space = free(existing) if free else shutil.disk_usage(existing).free
    summary = f"{space / _MIB:,.0f} MiB free: {existing}"
    fix = f"df -h {_quote(existing)}"
    if not space:
        return fail(f"the disk is full, {summary}", fix)
    return warn(f"little space, {summary}", fix) if space < _LOW_SPACE else succeed(summary)


def check_open_files(read_limit: Callable[[], int] | None = None) -> Finding:
    """Check that a process may open enough files."""
    limit = (read_limit or _read_file_limit)()
    summary = f"a process may open {limit:,} files"
    return succeed(summary) if limit >= _FEW_OPEN_FILES else warn(summary, "ulimit -n 1024")


def check_writer(find_writer: Callable[[], int | None]) -> Finding:
    """Report the process that is writing, which is no fault."""
    pid = find_writer()
    return succeed("no process is writing" if pid is None else f"a process is writing: pid {pid}")


def check_log(path: Path) -> Finding:
    """Report where errors are logged."""
    if not path.exists():
        return succeed(f"no error was logged yet: {path}")
    return succeed(f"{format_count(path.stat().st_size, 'byte')}: {path}")


def _suggest_settings_fix(fault: ConfigInvalid) -> str:
    """Return the command that repairs a variable or a file; a replaced file is kept as a copy."""
    if fault.choose_case() in ("", "setting"):
        return _suggest_unset(fault.path) or "kebab init --force"
    return fault.format_hint() or "kebab init"


def _suggest_unset(key: str) -> str | None:
    """Return the command that removes the variable of a setting; None when it is not set."""
    name = build_variable_name(key)
    return f"unset {name}" if os.environ.get(name) else None


def _find_existing_folder(path: Path) -> Path:
    """Return the path, or the nearest parent that exists."""
    candidates = (path, *path.parents)
    return next(folder for folder in candidates if folder.exists() or folder == folder.parent)


def _quote(path: Path) -> str:
    return shlex.quote(str(path))


def _read_file_limit() -> int:
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return soft if soft != resource.RLIM_INFINITY else 1 << 20
