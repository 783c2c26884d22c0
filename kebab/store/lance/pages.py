"""Pages of a mapped file: which of them count as memory of this process."""

import mmap
from typing import Any


def forget(array: Any) -> None:
    """Take what a mapped array has touched out of the memory of this process.

    The file stays in the memory of the system, from where it is mapped again when it is touched.
    An array that is no mapped one, or a system that cannot, changes nothing.
    """
    owner = array
    while owner is not None and not isinstance(owner, mmap.mmap):
        owner = getattr(owner, "base", None)
    if owner is not None and hasattr(mmap, "MADV_DONTNEED"):
        owner.madvise(mmap.MADV_DONTNEED)
