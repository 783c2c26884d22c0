"""Creates, lists and deletes the files of kebab.

Creates the data directory, and deletes by name only what kebab created.
"""

import os
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from pathlib import Path

from kebab.app.context import AppContext
from kebab.config.load import build_toml, keep_copy, replace_settings_file
from kebab.embed import registry
from kebab.errors.system import build_io_error, build_read_error, escape_undecodable
from kebab.platform import create_folder, delete_path
from kebab.wire.health import InitReport, InitRequest, ResetReport, ResetRequest

_ENDS = ("", "-wal", "-shm")


def list_index_files(context: AppContext) -> list[Path]:
    """Return the path of the database and of the files beside it."""
    return _list_files(context.database)


def list_own_files(context: AppContext) -> list[Path]:
    """Return every path that kebab may have created in the data directory, the lock last.

    The list of sources comes first: what a killed call leaves of the others is no source again.
    """
    from kebab.store.sqlite import lock
    from kebab.store.sqlite.lock import LOCK_NAME, PICTURES, SOURCES
    from kebab.store.sqlite.reviews import get_reviews_path

    data = context.paths.data
    databases = [*_list_files(context.database), *_list_files(get_reviews_path(data))]
    folders = [get_vectors_folder(context), context.paths.stdin_dir, data / lock.FOLDER]
    folders.append(context.paths.objects_dir)
    names = (SOURCES, PICTURES)
    files = [path for name in names for path in (data / name, *sorted(data.glob(f".{name}.*")))]
    return [*files, *databases, *folders, data / LOCK_NAME]


def list_index_entries(context: AppContext) -> Iterator[Path]:
    """Yield every file and folder of the index that exists, and the data directory first."""
    yield from filter(Path.exists, (context.paths.data,))
    for path in filter(Path.exists, list_own_files(context)):
        yield path
        if path.is_dir():
            yield from path.rglob("*")


def list_remains(context: AppContext) -> list[Path]:
    """Return the files of an index whose database does not exist or is empty."""
    from kebab.store.sqlite.lock import SOURCES
    from kebab.store.sqlite.writer import load_sources

    database = context.database
    if database.exists() and database.stat().st_size:
        return []
    log = database.with_name(f"{database.name}-wal")
    logs = [log] if log.exists() and log.stat().st_size else []
    listed = [database.with_name(SOURCES)] if load_sources(database.parent) else []
    return [*logs, *_list_children(get_vectors_folder(context)), *listed]


def list_leftovers(context: AppContext) -> list[Path]:
    """Return the files that killed calls have left; an ingest deletes those of vectors itself."""
    from kebab.store.sqlite.lock import PICTURES, SOURCES, read_writer

    writer = read_writer(context.paths.data)
    if writer is not None and writer.pid != os.getpid():
        return []  # that call may still use them
    data = context.paths.data
    starts = tuple(f".{name}." for name in (SOURCES, PICTURES))
    drafts = [path for path in _list_children(data) if path.name.startswith(starts)]
    downloads = [path for path in _list_children(context.paths.models) if path.name[0] == "."]
    return [*drafts, *downloads]


def get_vectors_folder(context: AppContext) -> Path:
    """Return the folder of the vector tables."""
    from kebab.store.vectors import get_tables_folder

    data = context.paths.data
    return data / get_tables_folder(data).name


def _list_files(database: Path) -> list[Path]:
    from kebab.store.sqlite.copies import DAMAGED

    files = [database.with_name(database.name + end) for end in _ENDS]
    damaged = sorted(database.parent.glob(f"{database.name}.{DAMAGED}-*"))
    return [*files, *damaged]


def init(context: AppContext, request: InitRequest) -> InitReport:
    """Write the settings file unless it exists, and create the data directory.

    Raises:
        ReadOnly: Writing is switched off.
        IoError: The workspace is not a folder, or a file cannot be written.
    """
    context.refuse_when_read_only("init")
    root = None
    if request.workspace:
        if "\0" in request.workspace:
            raise build_read_error(repr(request.workspace), "not a path")
        folder = Path(os.path.expanduser(request.workspace)).resolve()  # noqa: PTH111 - a `~` of nobody is a name
        if not folder.is_dir():
            raise build_read_error(folder, "no such folder")
        root = str(folder)
        if escape_undecodable(root) != root:
            raise build_read_error(folder, "the name is not valid UTF-8")
    written = request.force or not context.config_path.exists()
    backup = None
    try:
        create_folder(context.paths.data, 0o700)
        if written:
            create_folder(context.config_path.parent)
            text = build_toml(root or "")
            backup = keep_copy(context.config_path, text)
            replace_settings_file(context.config_path, text.encode())
    except OSError as fault:
        raise build_io_error(fault, "create", fault.filename or context.config_path) from fault
    return InitReport(
        config_path=str(context.config_path),
        written=written,
        backup_path=str(backup) if backup else None,
        data_dir=str(context.paths.data),
        workspace=(root if written else None) or context.settings.workspace or None,
    )


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
        for path in map(Path, report.removed):
            try:
                delete_path(path)
            except OSError as fault:
                raise build_io_error(fault, "write", fault.filename or path) from fault
    with suppress(OSError):  # a folder with other files, or a link, stays
        context.paths.data.rmdir()
    return report


def _build_report(context: AppContext, *, models: bool) -> ResetReport:
    """Return what would be deleted.

    The folders of kebab have common names, so a user may have had one before: where one has other
    entries too, only those are deleted that kebab created.
    """
    from kebab.ingest.run import is_own_file_name
    from kebab.store import vectors

    folders = [
        context.paths.models / model.version for model in (registry.MODELS if models else ())
    ]
    is_own = {
        get_vectors_folder(context): vectors.is_own,
        context.paths.stdin_dir: is_own_file_name,
    }
    paths: list[Path] = []
    for path in (*list_own_files(context), *folders):
        if path in is_own and path.is_dir() and not path.is_symlink():
            inside = _list_children(path)
            own = [child for child in inside if is_own[path](child.name)]
            paths += [path] if len(own) == len(inside) else own
        elif path.is_symlink() or path.exists():
            paths.append(path)
    return ResetReport(
        data_dir=str(context.paths.data),
        removed=[str(path) for path in paths],
        kept=[str(path) for path in _list_children(context.paths.data) if path not in paths],
        bytes_freed=sum(measure_size(path) for path in paths),
        models_removed=models,
    )


def _list_children(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def measure_size(path: Path) -> int:
    """Return the size in bytes of a file or of all files below a folder; 0 without either."""
    if path.is_dir() and not path.is_symlink():
        return sum(measure_size(child) for child in path.iterdir())
    return path.lstat().st_size if path.is_symlink() or path.exists() else 0
