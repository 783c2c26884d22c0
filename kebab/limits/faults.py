"""Describes what happened to a parser that crashed or failed, as the error of its file."""

from kebab.errors.catalog import ParseFailed
from kebab.errors.signal import Signal


def describe_failure(fault: BaseException) -> str:
    """Return the cause of an error of a file whose parser raised an unexpected exception."""
    return f"the parser failed: {fault}" if str(fault) else "the parser failed"


def describe_exhaustion(max_memory_mb: int) -> str:
    """Return the cause of an error of a file that needs too much memory."""
    return f"needs more than {max_memory_mb:,} MB of memory"


def build_failure(path: str, parser: str, cause: str) -> ParseFailed:
    """Return the error of a file that ended its worker, or that is not what its name says."""
    return ParseFailed(path=path, parser=parser, cause=cause)


def raise_memory_error(error: Signal) -> None:
    """Raise the lack of memory that an error of a parser comes from, if it does."""
    if isinstance(error.__cause__, MemoryError):
        raise error.__cause__
