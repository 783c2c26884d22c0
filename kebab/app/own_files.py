"""Lists the files that kebab creates in the data directory."""

from collections.abc import Callable, Mapping
from pathlib import Path

from kebab.app.context import AppContext

_ENDS = ("", "-wal", "-shm")


def list_index_files(context: AppContext) -> list[Path]:
    """Return the path of the database and of the files beside it."""
    return _list_files(context.database)


def list_own_files(context: AppContext) -> list[Path]:
    """Return every path that kebab may have created in the data directory, the lock last."""
    from kebab.store.sqlite.connection import LOCK_NAME
    from kebab.store.sqlite.review_database import get_reviews_path

    data = context.paths.data
    databases = [*_list_files(context.database), *_list_files(get_reviews_path(data))]
    return [*databases, get_vectors_folder(context), context.paths.stdin_dir, data / LOCK_NAME]


def list_own_names(context: AppContext) -> Mapping[Path, Callable[[str], bool]]:
    """Return, for each folder of kebab, a predicate of the names that kebab creates in it."""
    from kebab.ingest import stdin
    from kebab.store.lance import layout

    return {
        get_vectors_folder(context): layout.is_own,
        context.paths.stdin_dir: stdin.is_own_file_name,
    }


def get_vectors_folder(context: AppContext) -> Path:
    """Return the folder of the vector tables."""
    from kebab.store.lance import layout

    data = context.paths.data
    return data / layout.get_tables_folder(data).name


def _list_files(database: Path) -> list[Path]:
    return [database.with_name(database.name + end) for end in _ENDS]
