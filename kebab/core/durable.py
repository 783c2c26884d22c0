"""Waits until the disk has files and names, so that a power cut does not lose them.

Whoever replaces a file that cannot be computed again uses it: the stores, the settings files, the
fixes of a review. A file is written and synced under another name first, then renamed, and then the
folder is synced; in another order a cut may leave an empty file.
"""

import os
from contextlib import suppress
from pathlib import Path


def sync_path(path: Path) -> None:
    """Wait until the disk has the bytes of a file or the names in a folder.

    Raises:
        OSError: The system refuses.
    """
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


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
