"""Contains the way to keep a file that is derived from a store and may be lost at any time.

The key file of the vectors and the signatures of passages are such files.
"""

import os
import threading
import zlib
from pathlib import Path

from kebab.platform import rename_over


class DerivedFile:
    """A file with a checksum, which is always replaced as a whole.

    Args:
        path: The file; a draft has its name between `.` and the number of the writing thread.
        magic: The first bytes; a file that begins in another way counts as missing.
        read_only: Whether nothing is ever written.
    """

    def __init__(self, path: Path, magic: bytes, *, read_only: bool = False) -> None:
        self.path = path
        self._magic = magic
        self._read_only = read_only

    def read(self) -> bytes | None:
        """Return the content; None when there is none that is whole."""
        start = len(self._magic) + 4
        try:
            raw = self.path.read_bytes()
        except OSError:
            return None
        content = memoryview(raw)[start:]
        is_whole = raw[:start] == self._magic + zlib.crc32(content).to_bytes(4, "little")
        return bytes(content) if is_whole else None

    def write(self, content: bytes) -> None:
        """Write a new file beside the old one, then replace the old one.

        Raises:
            OSError: The file system refused; the old file stays.
        """
        if self._read_only:
            return
        draft = self.path.with_name(f".{self.path.name}.{threading.get_native_id()}")
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            with draft.open("wb") as file:
                file.write(self._magic + zlib.crc32(content).to_bytes(4, "little"))
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            rename_over(draft, self.path)
        finally:
            draft.unlink(missing_ok=True)
