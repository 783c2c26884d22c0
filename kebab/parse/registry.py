"""Declares the parser of each media type, and the guard that limits a parser."""

import re
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from types import FrameType

from kebab.core.documents import ParsedDocument
from kebab.core.file_ports import Parser
from kebab.core.media import DOCX, MEDIA_TYPES, CitationKind
from kebab.errors.catalog import ParseFailed, TimedOut
from kebab.parse.markdown import MarkdownParser
from kebab.parse.plain_text import TextParser


class LazyParser:
    """A parser whose module is imported when the first file is read.

    `extra` is the extra of the package that installs its libraries. An `isolated` parser runs
    native code or expands its input, so ingest runs it in a worker process with limits.
    """

    def __init__(
        self,
        version: str,
        target: str,
        *arguments: str,
        extra: str | None = None,
        isolated: bool = False,
    ) -> None:
        """Name the class as `module:Class`, below `kebab.parse`, with the arguments to build it."""
        self.version = version
        self.extra = extra
        self.isolated = isolated
        self._target = target
        self._arguments = arguments

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document.

        Raises:
            ParseFailed: The bytes are not what the media type promises.
            DependencyMissing: The libraries of the parser are not installed.
        """
        return _load_parser(self._target, *self._arguments).parse(data, path)


@cache
def _load_parser(target: str, *arguments: str) -> Parser:
    module, _, name = target.partition(":")
    parser: Parser = getattr(import_module(f"kebab.parse.{module}"), name)(*arguments)
    return parser


PARSERS: Mapping[str, Parser] = {
    "text/markdown": MarkdownParser(),
    "text/plain": TextParser(),
    DOCX: LazyParser("docx-v1", "docx:DocxParser", isolated=True),
    "text/x-rst": LazyParser("rst-v1", "rst:RstParser"),
    **{
        media.name: LazyParser(
            "code-v1", "code:CodeParser", media.language, extra="code", isolated=True
        )
        for media in MEDIA_TYPES
        if media.cites is CitationKind.CODE
    },
    "text/x-source": LazyParser("source-v1", "code:SourceParser"),
}
"""The parser of every media type of `kebab.core.media`; a new format needs a row in both."""


def list_parser_versions() -> list[str]:
    """Return the labels of all parsers, each once, in order."""
    return sorted({parser.version for parser in PARSERS.values()})


_SHORTEST_ALARM_S = 0.001


class _DeadlinePassed(BaseException):
    """The deadline passed; this is no `Exception`, so that no parser catches it."""


@contextmanager
def limit_time(seconds: float, path: str, operation: str = "parse") -> Iterator[None]:
    """Raise `TimedOut` when the block needs longer for this file; 0 means no limit.

    The error names the setting with the limit only for the operation `parse`.

    On the main thread an alarm interrupts the block. Other threads have no alarm, so the error is
    raised after the block ends.
    """
    started = time.monotonic()
    try:
        with _set_alarm(seconds):
            yield
    except _DeadlinePassed:
        raise _build_timeout(started, seconds, path, operation) from None
    if seconds and time.monotonic() - started > seconds:
        raise _build_timeout(started, seconds, path, operation)


@contextmanager
def _set_alarm(seconds: float) -> Iterator[None]:
    if not seconds or not _can_set_alarm():
        yield
        return
    started = time.monotonic()
    other_alarm, interval = signal.getitimer(signal.ITIMER_REAL)
    before = signal.signal(signal.SIGALRM, _raise_deadline_passed)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.signal(signal.SIGALRM, before or signal.SIG_DFL)
        if other_alarm:
            # An alarm that was set before for another purpose is set again.
            left = max(other_alarm - (time.monotonic() - started), _SHORTEST_ALARM_S)
            signal.setitimer(signal.ITIMER_REAL, left, interval)


def _can_set_alarm() -> bool:
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


def _raise_deadline_passed(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise _DeadlinePassed


def _build_timeout(started: float, seconds: float, path: str, operation: str) -> TimedOut:
    return TimedOut(
        operation=operation,
        elapsed_ms=round((time.monotonic() - started) * 1000),
        deadline_ms=round(seconds * 1000),
        setting="ingest.deadline_s" if operation == "parse" else None,
        path=path,
    )


PARSER_EXCEPTIONS: tuple[type[Exception], ...] = (
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
"""The exceptions that parsers and their libraries may raise for unusual bytes."""


@contextmanager
def convert_exceptions(path: str, parser: str) -> Iterator[None]:
    """Turn unexpected exceptions of a parser into `ParseFailed`."""
    try:
        yield
    except PARSER_EXCEPTIONS as fault:
        cause = f"the parser failed: {fault}" if str(fault) else "the parser failed"
        raise ParseFailed(path=path, parser=parser, cause=cause) from fault


@contextmanager
def guard_parser(path: str, parser: str, seconds: float) -> Iterator[None]:
    """Run a parser under a deadline, and turn its unexpected exceptions into `ParseFailed`."""
    with limit_time(seconds, path), convert_exceptions(path, parser):
        yield
