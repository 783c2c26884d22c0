"""Finds the pictures of notes: only those that lie in the folder of their source."""

from pathlib import Path, PurePosixPath

PICTURE_TYPES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
}
"""The media types that are shown; SVG is none, because it may hold scripts."""


def is_picture(name: str) -> bool:
    """Return whether the name of a file is that of a picture."""
    return PurePosixPath(name).suffix.lower() in PICTURE_TYPES


def locate_picture(file: str, root: str, source: str) -> Path | None:
    """Return the file of a picture that a document names, None unless it lies in the folder."""
    if not is_picture(source) or "\0" in source or PurePosixPath(source).is_absolute():
        return None
    try:
        place = Path(file).parent.joinpath(source).resolve(strict=True)
        inside = place.is_relative_to(Path(root).resolve(strict=True)) and place.is_file()
    except (OSError, ValueError, RuntimeError):
        return None
    return place if inside and is_picture(place.name) else None
