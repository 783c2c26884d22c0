"""What the file system refuses, as the signal for it: the one translation of `OSError`.

Whoever is no adapter speaks of files and folders through here alone.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from kebab.errors.catalog import IoError, Op
from kebab.errors.place import absolute


def refusal(fault: OSError, op: Op, path: object) -> IoError:
    """Return the signal for a refusal, in the system's own words."""
    return IoError(path=absolute(path), op=op, cause=fault.strerror or str(fault))


def unfit(path: object, cause: str) -> IoError:
    """Return the signal for a place that cannot be read, for a reason that kebab found itself."""
    return IoError(path=absolute(path), op="read", cause=cause)


def exhausted() -> IoError:
    """Return the signal for a machine that has no memory left."""
    return IoError(path="<memory>", op="create", cause="out of memory")


@contextmanager
def refused(path: object, op: Op) -> Iterator[None]:
    """Turn a refusal of the file system within into the signal for it.

    Raises:
        IoError: The file system refused.
    """
    try:
        yield
    except OSError as fault:
        raise refusal(fault, op, path) from fault
