"""Creates, syncs and deletes files, so that a power cut does not lose what must stay.

Whoever replaces a file that cannot be computed again uses it: the stores, the settings files, the
fixes of a review. A file is written and synced under another name first, then renamed, and then the
folder is synced; in another order a cut may leave an empty file.
"""

from contextlib import suppress
from pathlib import Path

from kebab.platform import sync_path


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
