"""Writes the commented settings file and creates the data directory."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

from kebab.app.context import AppContext
from kebab.config.template import build_toml
from kebab.errors.system import build_io_error, build_read_error
from kebab.text.normalize import escape_undecodable
from kebab.wire.health import InitReport, InitRequest


def init(context: AppContext, request: InitRequest) -> InitReport:
    """Write the settings file unless it is there, and make the data directory.

    Raises:
        ReadOnly: Writing is switched off.
        IoError: The workspace is no folder, or a file cannot be written.
    """
    context.refuse_when_read_only("init")
    root = _folder(request.workspace) if request.workspace else None
    written = request.force or not context.config_path.exists()
    try:
        context.places.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        if written:
            context.config_path.parent.mkdir(parents=True, exist_ok=True)
            _write(context.config_path, build_toml(root or ""))
    except OSError as fault:
        raise build_io_error(fault, "create", fault.filename or context.config_path) from fault
    return InitReport(
        config_path=str(context.config_path),
        written=written,
        data_dir=str(context.places.data),
        workspace=(root if written else None) or context.settings.workspace or None,
    )


def _write(path: Path, text: str) -> None:
    """Write a file wholly or not at all: half of a settings file would stop every command."""
    place = Path(os.path.realpath(path))
    draft = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        with draft.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if place.exists():
            shutil.copymode(place, draft)
        if place.is_dir():
            # Nothing is in it, or this is refused.
            place.rmdir()
        draft.replace(place)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def _folder(workspace: str) -> str:
    path = Path(workspace).expanduser().resolve()
    if not path.is_dir():
        raise build_read_error(path, "no such folder")
    if escape_undecodable(str(path)) != str(path):
        raise build_read_error(path, "the name is not valid UTF-8")
    return str(path)
