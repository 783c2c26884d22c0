"""Deletes the files that kebab created, by name, and no folder with other files."""

from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from pathlib import Path

from kebab.app.context import AppContext
from kebab.app.own_files import list_own_files, list_own_names
from kebab.embed import registry
from kebab.errors.system import build_io_error
from kebab.wire.health import ResetReport, ResetRequest


def reset(context: AppContext, request: ResetRequest) -> ResetReport:
    """Delete everything that kebab created, under the writer lock; a dry run only lists it.

    Raises:
        ReadOnly: Writing is switched off.
        Locked: Another process is writing.
        IoError: Something cannot be deleted.
    """
    if request.dry_run:
        return _build_report(context, models=request.models)
    context.refuse_when_read_only("reset")
    # Without a data directory there is nothing to lock.
    with context.acquire_writer_lock() if context.paths.data.exists() else nullcontext():
        report = _build_report(context, models=request.models)
        for name in report.removed:
            _delete(Path(name))
    with suppress(OSError):  # a folder with other files, or a link, stays
        context.paths.data.rmdir()
    return report


def _build_report(context: AppContext, *, models: bool) -> ResetReport:
    paths = list(_list_paths(context, models=models))
    return ResetReport(
        data_dir=str(context.paths.data),
        removed=[str(path) for path in paths],
        kept=[str(path) for path in _list_children(context.paths.data) if path not in paths],
        bytes_freed=sum(measure_size(path) for path in paths),
        models_removed=models,
    )


def _list_paths(context: AppContext, *, models: bool) -> Iterator[Path]:
    folders = [context.paths.models / model.version for model in registry.MODELS]
    for path in (*list_own_files(context), *(folders if models else ())):
        if path.is_symlink() or path.exists():
            yield from _list_deletable(path, list_own_names(context).get(path))


def _list_deletable(path: Path, is_own: Callable[[str], bool] | None) -> list[Path]:
    """Return a path, or only its entries that kebab created when it has other entries too.

    The folders of kebab have common names, so a user may have had one before.
    """
    if is_own is None or path.is_symlink() or not path.is_dir():
        return [path]
    own = [child for child in _list_children(path) if is_own(child.name)]
    return [path] if len(own) == len(_list_children(path)) else own


def _list_children(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _delete(path: Path) -> None:
    """Delete a file, a link, or a folder with its contents."""
    import shutil

    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    except OSError as fault:
        raise build_io_error(fault, "write", fault.filename or path) from fault


def measure_size(path: Path) -> int:
    """Return the size in bytes of a file or of all files below a folder; 0 without either."""
    if path.is_dir() and not path.is_symlink():
        return sum(measure_size(child) for child in path.iterdir())
    return path.lstat().st_size if path.is_symlink() or path.exists() else 0
