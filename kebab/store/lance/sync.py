"""Durability: LanceDB leaves its files to the system's cache, so we wait for the disk."""

import os
from pathlib import Path
from typing import Self

_FOLDERS = ("data", "_deletions", "_transactions", "_versions")


class Fresh:
    """Waits, at the end of the block, until the files that a table gained within are on disk."""

    def __init__(self, table: Path) -> None:
        self._table = table
        self._before: set[Path] = set()

    def _files(self) -> set[Path]:
        found: set[Path] = set()
        for name in _FOLDERS:
            folder = self._table / name
            if folder.is_dir():
                found.update(folder.iterdir())
        return found

    def __enter__(self) -> Self:
        self._before = self._files()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            return
        gained = self._files() - self._before
        for path in [*sorted(gained), *{path.parent for path in gained}, self._table]:
            _flush(path)


def _flush(path: Path) -> None:
    if not path.exists():
        return
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
