"""What the file system refuses, as the signal for it: the one translation of `OSError`."""

from collections.abc import Iterator
from contextlib import contextmanager

from kebab.errors.catalog import IoError, Op


def refusal(fault: OSError, op: Op, path: object) -> IoError:
    """Return the signal for a refusal, in the system's own words."""
    return IoError(path=str(path), op=op, cause=fault.strerror or str(fault))


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
