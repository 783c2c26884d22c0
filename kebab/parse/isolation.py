"""Parses in worker processes, so that no file and no plugin can crash or stop the caller.

A parser is isolated when it runs native code or expands its input; the parsers of plugins, which
`kebab.plugins` finds, always are. An ingest has other workers.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol, TypeVar

import msgspec

from kebab.config.settings import Plugins
from kebab.core.documents import ParsedDocument
from kebab.core.media import READABLE_NAMES, format_stored_media, is_built_in
from kebab.core.ports import Parser, is_isolated
from kebab.errors.signal import Signal
from kebab.limits.deadline import build_failure, build_refusal, raise_memory_error
from kebab.limits.worker import START_S, Limits, WorkerProcess, runs_in_worker
from kebab.parse.registry import guard_parser, parse_in_part
from kebab.plugins import Plugin, inspect_plugins

DEFAULT_LIMITS = Limits()


T_co = TypeVar("T_co", covariant=True)


class Reader(Protocol[T_co]):
    """Reads the bytes of a file: a parser, or what reads a part of it."""

    @property
    def version(self) -> str:
        """A name for errors."""

    def parse(self, data: bytes, path: str) -> T_co:
        """Return what was read."""


class ParseTask(NamedTuple):
    """The bytes of a file for a worker."""

    parser: Reader[Any]
    data: bytes
    path: str
    deadline_s: float


def parse_guarded(
    parser: Reader[T_co], data: bytes, path: str, limits: Limits = DEFAULT_LIMITS
) -> T_co:
    """Parse a file under a deadline; an isolated parser runs in a worker process.

    Without a worker, for example when the system has no room for a process, it runs here.

    Raises:
        ParseFailed: The parser refuses the bytes, crashes or needs too much memory.
        TimedOut: The parser takes too long.
        DependencyMissing: The libraries of the parser are not installed.
    """
    if is_isolated(parser):
        try:
            worker = WorkerProcess(run_parser, limits.max_memory_mb)
        except OSError:
            worker = None
        if worker is not None:
            with worker:
                if worker.poll(START_S) and worker.receive() is not None:  # it is ready
                    worker.send(ParseTask(parser, data, path, limits.deadline_s))
                    if late := worker.wait_for_reply(limits.deadline_s):
                        raise late.build_timeout(limits.deadline_s, path)
                    reply = worker.receive()
                    if reply is None or reply.fault:
                        cause = worker.explain_end() if reply is None else reply.fault
                        raise build_failure(path, parser.version, cause)
                    result: T_co | Signal = reply.result
                    if isinstance(result, Signal):
                        raise result
                    return result
    with guard_parser(path, parser.version, limits.deadline_s):
        return parser.parse(data, path)


def run_parser(task: ParseTask) -> Any:
    """Return the document of a task, or the error of the parser; this runs in the worker.

    Raises:
        MemoryError: The parser needs more memory than it may have.
    """
    try:
        with guard_parser(task.path, task.parser.version, task.deadline_s):
            return task.parser.parse(task.data, task.path)
    except Signal as error:
        raise_memory_error(error)
        return error


_PARTS: Any = tuple[tuple([*ParsedDocument.__annotations__.values()][:-1])]  # type: ignore[misc]
"""The types of the fields of a document but the last one."""


class PluginParser:
    """The parser of a plugin, which is imported in a worker process only."""

    isolated = True

    def __init__(self, plugin: Plugin, version: str) -> None:
        self.version = version
        self._plugin = plugin

    @property
    def recipe(self) -> str:
        """What decides the text of a document: the versions of the parser and of its package."""
        return f"{self.version} {self._plugin.package} {self._plugin.version}"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document."""
        if not runs_in_worker():
            cause = "no worker process can be started, and plugins are run in no other"
            raise build_refusal(cause)
        document = parse_in_part(self._plugin.load().parser, data, path)
        try:
            return _copy_document(document)
        except (ValueError, TypeError, OverflowError) as fault:
            cause = f"the parser {self._plugin.label} returned no document"
            if isinstance(document, ParsedDocument):
                cause += f" that can be used: {fault}"
            raise build_refusal(cause) from fault


def _copy_document(document: Any) -> ParsedDocument:
    """Return a document of the declared types only, so that the caller can unpickle it."""
    if not isinstance(document, ParsedDocument):
        raise TypeError("it is no `ParsedDocument`")
    if not isinstance(document.text, str):
        raise TypeError("its text is no `str`")
    # A plugin does not say why a model of kebab failed, which is the last field.
    data = msgspec.json.encode(tuple(document)[:-1], enc_hook=_encode_text)
    copy = ParsedDocument(*msgspec.json.decode(data, type=_PARTS))
    end = 0
    for block in copy.blocks:
        if not end <= block.start < block.end <= len(copy.text):
            raise ValueError(f"a block is out of order: {block.start} to {block.end}")
        end = block.end
    return copy


def _encode_text(value: object) -> str:
    if isinstance(value, str):  # libraries such as Beautiful Soup derive classes from it
        return str(value)
    raise TypeError(f"it has a {type(value).__name__}")


class Formats(NamedTuple):
    """The formats of plugins.

    `parsers` are by media type, `media` is the media type by suffix or file name. `faults` says of
    each plugin, or part of one, that is not used, why.
    """

    parsers: Mapping[str, Parser]
    media: Mapping[str, str]
    faults: tuple[str, ...] = ()


def find_formats(settings: Plugins) -> Formats:
    """Return the formats of all plugins that can be used."""
    parsers, media, faults = dict[str, Parser](), dict[str, str](), list[str]()
    for plugin, facts in inspect_plugins(settings, faults):
        row = facts.media
        assert row is not None, "a parser has a media type"
        stored = format_stored_media(row)
        if is_built_in(row.name) or stored in parsers:
            owner = "kebab itself" if is_built_in(row.name) else "another plugin"
            faults.append(f"{plugin.label}: {owner} reads {row.name}")
            continue
        for name in (*row.suffixes, *row.names):
            if name in media or name in READABLE_NAMES:
                owner = "another plugin" if name in media else "kebab itself"
                faults.append(f"{plugin.label}: {owner} reads {name}")
            else:
                media[name] = stored
        parsers[stored] = PluginParser(plugin, facts.version)
    return Formats(parsers, media, tuple(faults))


def find_parser(settings: Plugins, parsers: Mapping[str, Parser], media: str) -> Parser:
    """Return the parser of a stored document; plugins are asked only where kebab has none."""
    if parser := parsers.get(media):
        return parser
    return find_formats(settings).parsers.get(media) or parsers["text/plain"]
