"""Finds the pictures of notes: only those that lie in the folder of their source."""

from pathlib import Path, PurePosixPath

MOST_PICTURE_BYTES = 20 << 20
_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def detect_picture(data: bytes) -> str | None:
    """Return the media type of a picture by its content, None for anything else."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _SIGNATURES if data.startswith(start)), None)


def locate_picture(file: str, root: str, source: str) -> Path | None:
    """Return the file of a picture that a document names, None unless it lies in the folder."""
    if not source or "\0" in source or PurePosixPath(source).is_absolute():
        return None
    try:
        place = Path(file).parent.joinpath(source).resolve(strict=True)
        inside = place.is_relative_to(Path(root).resolve(strict=True)) and place.is_file()
    except (OSError, ValueError, RuntimeError):
        return None
    return place if inside else None


def read_picture(place: Path) -> tuple[bytes, str] | None:
    """Return a picture and its media type; None when it cannot be read, is too large or none."""
    try:
        with place.open("rb") as opened:
            data = opened.read(MOST_PICTURE_BYTES + 1)
    except OSError:
        return None
    kind = detect_picture(data)
    return None if kind is None or len(data) > MOST_PICTURE_BYTES else (data, kind)
