"""Creates, syncs and deletes files, so that a power cut does not lose what must stay.

Whoever replaces a file that cannot be computed again uses it: the stores, the settings files, the
fixes of a review. A file is written and synced under another name first, then renamed, and then the
folder is synced; in another order a cut may leave an empty file.
"""

import os
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from errno import EEXIST
from math import inf
from pathlib import Path
from typing import BinaryIO

from kebab.platform import copy_owner, lock_descriptor, sync_path

_PAUSE_S = 0.01
"""The time between two tries to take a lock."""


@contextmanager
def replace_file(target: Path, mode: int = 0o600) -> Iterator[BinaryIO]:
    """Yield a draft that takes the place of a file when the block ends without an error.

    A new draft has the permissions `mode`, and its name ends with the number of the thread. What is
    in its place is lost only with the rename.

    Raises:
        OSError: The system refuses; the file is as it was.
    """
    draft = target.with_name(f".{target.name}.{threading.get_native_id()}")
    try:
        # A link in its place is not followed.
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        with os.fdopen(os.open(draft, flags, mode), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
        sync_names(target.parent)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def create_copy(paths: Iterable[Path], data: bytes, status: os.stat_result) -> Path:
    """Write a copy to the first path that is free; it gets the owner and permissions of a status.

    Raises:
        OSError: The system refuses; no part of a copy stays.
    """
    for path in paths:
        try:
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            continue
        try:
            with os.fdopen(file, "wb") as copy:
                copy.write(data)
                copy.flush()
                copy_owner(copy.fileno(), status)
                os.fsync(copy.fileno())
        except BaseException:
            path.unlink()
            raise
        sync_names(path.parent)
        return path
    raise FileExistsError(EEXIST, "too many copies of the original")


def sync_names(folder: Path) -> None:
    """Wait until the disk has the names in a folder, where the system can."""
    with suppress(OSError):
        sync_path(folder)


def create_folder(path: Path, mode: int = 0o777) -> None:
    """Create a folder and those above it unless they exist, and wait until the disk has them."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    path.mkdir(mode=mode, parents=True, exist_ok=True)
    for folder in missing:
        sync_names(folder.parent)


def delete_path(path: Path) -> None:
    """Delete a file, or a folder with its content; of a link only the link.

    Raises:
        OSError: The system refuses.
    """
    if path.is_dir() and not path.is_symlink():
        from shutil import rmtree

        rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def hold_lock(path: Path, *, wait: bool = True, most_s: float = inf) -> Iterator[bool]:
    """Yield whether this process alone holds the lock of a file, which is made if it is missing.

    It waits at most `most_s`. The system frees the lock of a process that ends.

    Raises:
        OSError: The system refuses.
    """
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        held, deadline = lock_descriptor(file), time.monotonic() + most_s
        while wait and not held and time.monotonic() < deadline:
            time.sleep(_PAUSE_S)
            held = lock_descriptor(file)
        yield held
    finally:
        os.close(file)
