"""Deletes what kebab made, by name, and never a folder that holds anything else."""

from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from pathlib import Path

from kebab.app.context import AppContext
from kebab.embed import registry
from kebab.errors.system import build_io_error
from kebab.wire.health import ResetReport, ResetRequest


def reset(context: AppContext, request: ResetRequest) -> ResetReport:
    """Delete everything that kebab made, under the writer lock; a dry run only says what.

    Raises:
        ReadOnly: Writing is switched off.
        Locked: Another process is writing.
        IoError: Something cannot be deleted.
    """
    if request.dry_run:
        return _plan(context, models=request.models)
    context.refuse_when_read_only("reset")
    # The lock file is not made for a folder that does not exist: there is nothing to guard.
    with context.acquire_writer_lock() if context.places.data.exists() else nullcontext():
        report = _plan(context, models=request.models)
        for name in report.removed:
            _delete(Path(name))
    with suppress(OSError):  # a folder that holds anything else, or that is a link, stays
        context.places.data.rmdir()
    return report


def _plan(context: AppContext, *, models: bool) -> ResetReport:
    doomed = list(_doomed(context, models=models))
    return ResetReport(
        data_dir=str(context.places.data),
        removed=[str(path) for path in doomed],
        kept=[str(path) for path in _children(context.places.data) if path not in doomed],
        bytes_freed=sum(measure_size(path) for path in doomed),
        models_removed=models,
    )


def _doomed(context: AppContext, *, models: bool) -> Iterator[Path]:
    folders = [context.places.models / model.version for model in registry.MODELS]
    for path in (*context.list_own_files(), *(folders if models else ())):
        if path.is_symlink() or path.exists():
            yield from _held(path, context.list_own_names().get(path))


def _held(path: Path, is_own: Callable[[str], bool] | None) -> list[Path]:
    """Return a path itself, or what is ours in it when a folder holds anything else too.

    The names of our folders are plain ones: a folder of notes may have had its own before.
    """
    if is_own is None or path.is_symlink() or not path.is_dir():
        return [path]
    own = [child for child in _children(path) if is_own(child.name)]
    return [path] if len(own) == len(_children(path)) else own


def _children(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _delete(path: Path) -> None:
    """Delete a file, a link itself, or a folder with all that is in it."""
    import shutil

    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    except OSError as fault:
        raise build_io_error(fault, "write", fault.filename or path) from fault


def measure_size(path: Path) -> int:
    """Return the bytes of a file, or of all files below a folder; 0 when there is nothing."""
    if path.is_dir() and not path.is_symlink():
        return sum(measure_size(child) for child in path.iterdir())
    return path.lstat().st_size if path.is_symlink() or path.exists() else 0
