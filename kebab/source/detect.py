"""Chooses the media type of a file: by its name, and by its first bytes where that says nothing.

Files without a suffix and with an unknown one are opened. A text of unknown suffix is read when it
is small and has short lines, so that data and generated files stay out. Files whose suffix names a
format without text are never opened.
"""

from kebab.core.content import HEAD_BYTES, detect_media_by_content
from kebab.core.files import get_suffix
from kebab.core.media import PLAIN, detect_media_type
from kebab.core.unsupported import describe_unsupported

MAX_UNKNOWN_BYTES = 256 * 1024
"""The largest text of unknown suffix that is read."""

_MAX_LINE = 2000
_DISGUISES = frozenset({".doc", ".xls", ".ppt"})
"""Old formats whose suffix programs also give to HTML, RTF and new formats."""


def detect_file_media(absolute: str, size: int) -> str | None:
    """Return the media type of a regular file, None when no parser reads it.

    Raises:
        OSError: The file cannot be opened.
    """
    name = absolute.rpartition("/")[2]
    media = detect_media_type(name)
    if media is not None:
        return media
    suffix = get_suffix(name)
    known = describe_unsupported(suffix) is not None
    if not size or (known and suffix not in _DISGUISES):
        return None
    with open(absolute, "rb") as file:  # noqa: PTH123 - a path string from the scan
        head = file.read(HEAD_BYTES)
    media = detect_media_by_content(head)
    if media != PLAIN or not suffix:
        return media
    return None if known or size > MAX_UNKNOWN_BYTES or _has_long_lines(head) else media


def _has_long_lines(head: bytes) -> bool:
    """Return whether a line is so long that a program wrote it."""
    return max(map(len, head.split(b"\n"))) > _MAX_LINE
