"""Writes the commented settings file and creates the data directory."""

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path

from kebab.app.context import AppContext
from kebab.config.template import build_toml
from kebab.errors.system import build_io_error, build_read_error
from kebab.text.normalize import escape_undecodable
from kebab.wire.health import InitReport, InitRequest


def init(context: AppContext, request: InitRequest) -> InitReport:
    """Write the settings file unless it exists, and create the data directory.

    Raises:
        ReadOnly: Writing is switched off.
        IoError: The workspace is not a folder, or a file cannot be written.
    """
    context.refuse_when_read_only("init")
    root = _resolve_workspace(request.workspace) if request.workspace else None
    written = request.force or not context.config_path.exists()
    backup = None
    try:
        context.paths.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        if written:
            context.config_path.parent.mkdir(parents=True, exist_ok=True)
            text = build_toml(root or "")
            backup = keep_copy(context.config_path, text)
            replace_file(context.config_path, text.encode())
    except OSError as fault:
        raise build_io_error(fault, "create", fault.filename or context.config_path) from fault
    return InitReport(
        config_path=str(context.config_path),
        written=written,
        backup_path=str(backup) if backup else None,
        data_dir=str(context.paths.data),
        workspace=(root if written else None) or context.settings.workspace or None,
    )


def keep_copy(path: Path, text: str) -> Path | None:
    """Copy a file that is about to be replaced; return the copy.

    Returns:
        The copy, which never replaces an earlier one; None when the file does not exist, or has
        this text already.

    Raises:
        IoError: The path is neither a file nor an empty folder.
    """
    target = Path(os.path.realpath(path))
    if not target.exists() or target.is_dir():
        return None
    if not target.is_file():
        raise build_read_error(path, "it is not a regular file")
    old = target.read_bytes()
    if old == text.encode():
        return None
    for name in _list_backup_names(target.name):
        copy = target.with_name(name)
        try:
            with copy.open("xb") as file:
                file.write(old)
        except FileExistsError:
            continue
        shutil.copystat(target, copy)
        return copy
    return None  # pragma: no cover - there is always another name


def _list_backup_names(name: str) -> Iterator[str]:
    yield f"{name}.bak"
    for number in count(1):
        yield f"{name}.bak.{number}"


def replace_file(path: Path, data: bytes) -> None:
    """Replace a settings file atomically, because a partial one would break its program.

    A link stays, and what it points to is replaced. The file keeps its permissions; what it holds
    may be secret, so the draft has no more than those at any time.
    """
    target = Path(os.path.realpath(path))
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        mode = 0o600 if target.is_file() else 0o666
        with open(draft, "wb", opener=partial(os.open, mode=mode)) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if target.is_file():
            shutil.copymode(target, draft)
        if target.is_dir():
            # The system refuses this unless the folder is empty.
            target.rmdir()
        draft.replace(target)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def _resolve_workspace(workspace: str) -> str:
    if "\0" in workspace:
        raise build_read_error(repr(workspace), "not a path")
    path = Path(os.path.expanduser(workspace)).resolve()  # noqa: PTH111 - a `~` of nobody is a name
    if not path.is_dir():
        raise build_read_error(path, "no such folder")
    if escape_undecodable(str(path)) != str(path):
        raise build_read_error(path, "the name is not valid UTF-8")
    return str(path)
