"""Replaces the files of a knowledge base by those of another one, which was built beside them.

The new files are built in `import/new` below the data directory. When they are durable, the folder
becomes `import/ready`. Deleting the old database decides: from then on the new files count, and
whoever opens the knowledge base next completes the change. While it is incomplete there is no
database, so that only a reader that finds none has to look for it.
"""

import os
from pathlib import Path

from kebab.core.durable import delete_path
from kebab.errors.system import translate_os_errors
from kebab.platform import sync_path

FOLDER = "import"
_NEW, _READY = "new", "ready"

LOCK_NAME = "writer.lock"
"""The file that a writer locks; it is empty while nobody writes."""

SOURCES = "sources.json"
"""The file of the sources, for an index whose database is lost."""

PICTURES = "pictures.jsonl"
"""The file of what models wrote about pictures, which serves any index."""

_LOGS = ("-wal", "-shm")
FILES = (
    *(f"kebab.sqlite{end}" for end in ("", *_LOGS)),
    *(f"reviews.sqlite{end}" for end in ("", *_LOGS)),
    *("lance", "stdin", SOURCES),
)
"""The files and folders of a knowledge base, the database first; a new base has all but logs."""


def get_staging_folder(data_dir: Path) -> Path:
    """Return the folder in which new files are built."""
    return data_dir / FOLDER / _NEW


def is_incomplete(data_dir: Path) -> bool:
    """Return whether a replacement was decided and the new database is not there yet."""
    is_begun = (data_dir / FOLDER / _READY / FILES[0]).exists()
    return is_begun and not os.path.lexists(data_dir / FILES[0])


def decide_replacement(data_dir: Path) -> None:
    """Let the staged files count, after they are durable. The caller holds the writer lock.

    Raises:
        IoError: The file system refused; the old files still count.
    """
    staged = get_staging_folder(data_dir)
    with translate_os_errors(staged, "write"):
        for parent, folders, names in os.walk(staged):
            for name in (*names, *folders):
                sync_path(Path(parent, name))
        sync_path(staged)
        staged.rename(staged.with_name(_READY))
        sync_path(staged.parent)
        (data_dir / FILES[0]).unlink(missing_ok=True)
        sync_path(data_dir)


def complete_replacement(data_dir: Path) -> None:
    """Complete a replacement that was decided, and delete what is left of others.

    The caller holds the writer lock. A call that ends early is continued by the next one, so a file
    of the old base is deleted when its successor comes, and the database comes last.

    Raises:
        IoError: The file system refused.
    """
    folder = data_dir / FOLDER
    if not folder.exists():
        return
    with translate_os_errors(data_dir, "write"):
        if is_incomplete(data_dir):
            for name in reversed(FILES):
                new, old = folder / _READY / name, data_dir / name
                if new.exists() or name.endswith(_LOGS):
                    delete_path(old)
                if new.exists():
                    new.rename(old)
            sync_path(data_dir)
        delete_path(folder)


def discard_staged_files(data_dir: Path) -> None:
    """Delete new files that were not decided for."""
    from shutil import rmtree

    rmtree(data_dir / FOLDER, ignore_errors=True)
