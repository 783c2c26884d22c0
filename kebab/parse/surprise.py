"""What code raises when its input breaks an assumption; one such file never ends a run."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from kebab.errors.catalog import ParseFailed

SURPRISES: tuple[type[Exception], ...] = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    BufferError,
    EOFError,
    LookupError,
    MemoryError,
    NameError,
    RuntimeError,
    StopIteration,
    SystemError,
    TypeError,
    ValueError,
    re.error,
)
"""Every exception of Python that a parser and the libraries below it may raise for odd bytes."""


@contextmanager
def surprised(path: str, parser: str) -> Iterator[None]:
    """Turn what a parser raises for a file that it was not made for into `ParseFailed`."""
    try:
        yield
    except SURPRISES as fault:
        cause = f"{type(fault).__name__}: {fault}"
        raise ParseFailed(path=path, parser=parser, cause=cause) from fault
