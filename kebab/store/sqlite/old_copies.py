"""Keeps a copy of a database before its schema changes."""

from pathlib import Path

import apsw

from kebab.platform import rename_over, sync_path

_DRAFT = ".draft"


def keep_old_copy(database: apsw.Connection, version: int) -> Path:
    """Copy a database beside itself, and delete the copies of earlier schemas.

    The copy has the schema version in its name, such as `kebab.sqlite.V007`. It stays until the
    next change of the schema.

    Raises:
        apsw.Error: The copy cannot be written; nothing has changed.
        OSError: The file system refused; nothing has changed.
    """
    path = Path(database.filename)
    target = path.with_name(f"{path.name}.V{version:03}")
    draft = target.with_name(target.name + _DRAFT)
    try:
        draft.unlink(missing_ok=True)
        database.execute("VACUUM INTO ?", (str(draft),))
        sync_path(draft)
        rename_over(draft, target)
    finally:
        if draft.is_file():
            draft.unlink()
    for copy in list_old_copies(path):
        if copy != target:
            copy.unlink(missing_ok=True)
    return target


def list_old_copies(path: Path) -> list[Path]:
    """Return the copies of a database, and what an interrupted call has left of one."""
    return sorted(path.parent.glob(f"{path.name}.V[0-9][0-9][0-9]*"))
