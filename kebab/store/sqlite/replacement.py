"""Replaces the files of a knowledge base by those of another one, which was built beside them.

The new files are built in `import/new` below the data directory. When they are durable, the folder
becomes `import/ready`. Moving the old database away decides: from then on the new files count, and
whoever opens the knowledge base next completes the change. While it is incomplete there is no
database, so that only a reader that finds none has to look for it.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from kebab.core.durable import delete_path
from kebab.errors.system import translate_os_errors
from kebab.platform import sync_path

FOLDER = "import"
_NEW, _READY, _INSTALLING, _REPLACED = "new", "ready", "installing", "replaced"

LOCK_NAME = "writer.lock"
"""The file that a writer locks; it is empty while nobody writes."""

SOURCES = "sources.json"
"""The file of the sources, for an index whose database is lost."""

PICTURES = "pictures.jsonl"
"""The file of what models wrote about pictures, which serves any index."""

FILES = (
    *(f"kebab.sqlite{end}" for end in ("", "-wal", "-shm")),
    *(f"reviews.sqlite{end}" for end in ("", "-wal", "-shm")),
    *("lance", "stdin", SOURCES),
)
"""The files and folders of a knowledge base, the database first."""


def get_staging_folder(data_dir: Path) -> Path:
    """Return the folder in which new files are built."""
    return data_dir / FOLDER / _NEW


def is_incomplete(data_dir: Path) -> bool:
    """Return whether a replacement was decided and the new database is not there yet."""
    folder = data_dir / FOLDER
    is_begun = (folder / _READY).exists() or (folder / _INSTALLING).exists()
    return is_begun and not os.path.lexists(data_dir / FILES[0])


def decide_replacement(data_dir: Path) -> None:
    """Let the staged files count, after they are durable. The caller holds the writer lock.

    Raises:
        IoError: The file system refused; the old files still count.
    """
    staged = get_staging_folder(data_dir)
    with translate_os_errors(staged, "write"):
        for path in (*_walk(staged), staged):
            sync_path(path)
        staged.rename(staged.with_name(_READY))
        replaced = staged.with_name(_REPLACED)
        replaced.mkdir()
        sync_path(staged.parent)
        if os.path.lexists(data_dir / FILES[0]):
            (data_dir / FILES[0]).rename(replaced / FILES[0])
            sync_path(data_dir)


def complete_replacement(data_dir: Path) -> None:
    """Complete a replacement that was decided, and delete what is left of others.

    The caller holds the writer lock. A call that ends early is continued by the next one.

    Raises:
        IoError: The file system refused.
    """
    folder = data_dir / FOLDER
    if not folder.exists():
        return
    ready, installing, replaced = (folder / name for name in (_READY, _INSTALLING, _REPLACED))
    with translate_os_errors(data_dir, "write"):
        if ready.exists() and is_incomplete(data_dir):
            replaced.mkdir(exist_ok=True)
            for name in FILES:
                # Only a file that was created meanwhile can be there twice.
                if os.path.lexists(data_dir / name):
                    delete_path(replaced / name)
                    (data_dir / name).rename(replaced / name)
            sync_path(data_dir)
            ready.rename(installing)
            sync_path(folder)
        if installing.exists():
            for name in reversed(FILES):
                if (installing / name).exists():
                    delete_path(data_dir / name)
                    (installing / name).rename(data_dir / name)
            sync_path(data_dir)
        delete_path(folder)


def discard_staged_files(data_dir: Path) -> None:
    """Delete new files that were not decided for."""
    from shutil import rmtree

    rmtree(data_dir / FOLDER, ignore_errors=True)


def _walk(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        yield from (Path(parent, name) for name in (*names, *folders))
