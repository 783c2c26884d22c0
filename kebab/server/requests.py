"""Runs operations in threads, over a pool of open knowledge bases.

The event loop only waits. An operation whose client is gone, or whose deadline has passed, is asked
to stop: its `Cancel` flag is set, and the next event of work that reads raises `KeyboardInterrupt`
in it, which every operation handles as Ctrl-C on the command line. Quick operations do not wait for
long ones.

`kebab.app.facade` makes the request from its JSON, `Kebab.run` runs it on a knowledge base that
stays open between the calls, `format_event` adds the envelope, and `report_failure` turns an
exception of any step into `error.v1`, and logs it.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from pathlib import Path
from threading import Lock
from typing import Any, TypeAlias, TypeVar

import msgspec
from msgspec import Struct

from kebab.app.classify import View, classify_error
from kebab.app.errors import FailedCall, log_failure
from kebab.app.facade import Kebab, decode_operation_request, find_operation_status
from kebab.app.model_adapters import Embedders
from kebab.config.settings import Settings, resolve_paths
from kebab.core.progress import Cancel
from kebab.errors.catalog import (
    Generic,
    InvalidCursor,
    InvalidInput,
    ReadOnly,
    ServerBusy,
    StaleCursor,
    TimedOut,
    UsageInvalid,
    build_catalog,
)
from kebab.errors.signal import Exit, Signal
from kebab.errors.system import translate_import_errors
from kebab.wire.error import ErrorReply
from kebab.wire.library import FetchResult
from kebab.wire.operations import OPERATIONS
from kebab.wire.record import Reply, add_envelope, encode_json, format_timestamp

with translate_import_errors("the server", "anyio", extra="serve"):
    import anyio
    from anyio.to_thread import run_sync

T = TypeVar("T")
R = TypeVar("R", bound=Reply)

ALLOW_WRITE = "--allow-write"
"""The flag of a server that may change the knowledge base."""
DEFAULT_DEADLINE_S = 60.0
_QUICK_THREADS, _LONG_THREADS = 4, 4
_MOST_WAITING = 256
"""How many requests of each kind may wait for a thread; further ones are refused."""
_USAGE_HINT = "kebab serve --help"


class ServerOptions(Struct, frozen=True, kw_only=True):
    """How a server runs operations; it is pickled for worker processes.

    `load_settings` returns the settings of one request, and `config_path` is their file. `render`
    returns the text of a reply as the command line shows it to a program, and `open_file` opens a
    document at a line in the editor of the user.
    """

    config_path: Path
    load_settings: Callable[[], Settings]
    render: Callable[[Reply], str]
    open_file: Callable[[FetchResult, int], None]
    allow_write: bool = False
    read_only: bool = False
    """Whether nothing at all is written, not even the query cache."""
    deadline_s: float = DEFAULT_DEADLINE_S
    """The limit of operations that are not long, 0 for none; waiting counts."""
    workers: int = 1
    """How many processes answer."""
    idle_s: float = 0
    """After so many seconds without a request the server ends; 0 means never."""


class Outcome(Struct, frozen=True):
    """The answer to a request: an HTTP status, and the reply with its envelope."""

    status: int
    reply: Reply

    @property
    def failed(self) -> bool:
        """Whether the reply is `error.v1`."""
        return isinstance(self.reply, ErrorReply)

    @property
    def body(self) -> bytes:
        """The reply as one line of JSON."""
        return encode_json(self.reply) + b"\n"


class Failed(Exception):  # noqa: N818 - it carries an outcome
    """An operation that a request needs has another outcome than the reply that it wants."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__()
        self.outcome = outcome


class Call:
    """One request to an operation."""

    def __init__(self, report: Callable[[Any], None] | None = None) -> None:
        self.cancel = Cancel()
        self.is_given_up = False
        self.writes = False
        """Whether the work only stops between two steps."""
        self._report = report

    def give_up(self) -> None:
        """Stop the work at its next event, because nobody waits for it any more."""
        self.is_given_up = True
        self.cancel.request()

    def report(self, event: Any) -> None:
        """Pass an event on.

        Raises:
            KeyboardInterrupt: Nobody waits for work that reads.
        """
        if self.is_given_up and not self.writes:
            raise KeyboardInterrupt
        if self._report:
            self._report(event)


def find_command_name(operation: str) -> str:
    """Return the command in the shell that runs an operation, as the envelope has it."""
    return OPERATIONS[operation].command if operation in OPERATIONS else operation


def report_failure(operation: str, fault: BaseException, settings: Settings | None) -> ErrorReply:
    """Log an exception, and return it as `error.v1` with its envelope.

    The settings are None when they are unusable.
    """
    command = find_command_name(operation)
    view = View((settings or Settings()).lang)
    classified = classify_error(fault, operation=command, view=view)
    reply = classified.reply
    if reply.code == Generic.code:
        reply = msgspec.structs.replace(reply, hint=f"kebab errors --id {reply.correlation_id}")
    provider = settings.models.llm.provider if settings else None
    log_failure(fault, classified, FailedCall(tuple(command.split()), provider=provider))
    return format_event(operation, reply, classified.exit)


def format_event(operation: str, event: R, status: Exit | None = None) -> R:
    """Return a reply or an event with its envelope; only a terminal event has a status."""
    return add_envelope(
        event,
        command=find_command_name(operation),
        timestamp=format_timestamp(time.time()),
        exit_code=None if status is None else int(status),
    )


class KebabPool:
    """Leases open knowledge bases, each to one caller at a time; threads may share the pool.

    The knowledge bases of the same settings share their embedding models. The one used last is
    leased first, and of those that are idle the oldest is closed. A knowledge base opens its files
    again when they were replaced.
    """

    def __init__(self, config_path: Path, most_idle: int) -> None:
        self._config_path = config_path.absolute()
        self._most_idle = most_idle
        self._idle: list[tuple[_Key, Kebab]] = []
        self._embedders: tuple[_Key, Embedders] | None = None
        self._lock = Lock()

    @contextmanager
    def lease(self, settings: Settings, *, read_only: bool = False) -> Iterator[Kebab]:
        """Yield the knowledge base of these settings.

        After an exception other than a refused request it is closed, and the next caller gets a
        new one.

        Raises:
            ConfigInvalid: The settings name an embedding model that does not exist.
        """
        key = settings, read_only
        with self._lock:
            fitting = [one for one in self._idle if one[0] == key]
            if fitting:
                self._idle.remove(fitting[-1])
        kebab = fitting[-1][1] if fitting else self._open(settings, read_only=read_only)
        try:
            yield kebab
        except (InvalidInput, InvalidCursor, StaleCursor):
            self._keep(key, kebab)
            raise
        except BaseException:  # Ctrl-C too may have stopped it between two statements
            kebab.close()
            raise
        self._keep(key, kebab)

    def close(self) -> None:
        """Close the knowledge bases that no caller uses."""
        with self._lock:
            idle, self._idle = self._idle, []
        for _, kebab in idle:
            kebab.close()

    def _open(self, settings: Settings, *, read_only: bool) -> Kebab:
        key = (settings.models.embedding, settings.models_dir), settings.offline
        with self._lock:
            if self._embedders is None or self._embedders[0] != key:
                self._embedders = key, Embedders(settings, resolve_paths(settings).models)
            embedders = self._embedders[1]
        return Kebab(
            settings,
            config_path=self._config_path,
            read_only=read_only,
            embedders=embedders,
            is_owner=False,
        )

    def _keep(self, key: "_Key", kebab: Kebab) -> None:
        with self._lock:
            self._idle.append((key, kebab))
            too_many = self._idle[: -self._most_idle]
            del self._idle[: -self._most_idle]
        for _, old in too_many:
            old.close()


_Key: TypeAlias = tuple[Any, bool]
"""What the callers of one knowledge base, or of the same models, have in common."""


class Operations:
    """Runs the requests of one process."""

    def __init__(self, options: ServerOptions) -> None:
        self.options = options
        self._pool = KebabPool(options.config_path, _QUICK_THREADS + _LONG_THREADS)
        self._threads = {
            False: anyio.CapacityLimiter(_QUICK_THREADS),
            True: anyio.CapacityLimiter(_LONG_THREADS),
        }
        self._running: set[Call] = set()
        self._last_at = time.monotonic()

    def measure_idle(self) -> float:
        """Return for how many seconds nothing was asked for; 0 while something runs."""
        return 0.0 if self._running else time.monotonic() - self._last_at

    async def answer(self, operation: str, raw: bytes, call: Call | None = None) -> Outcome:
        """Return the outcome of a request, given as JSON.

        Raises:
            ServerBusy: Too many requests are waiting.
            TimedOut: It takes longer than the deadline.
        """
        call = call or Call()
        return await self.run(operation, lambda: self._answer(operation, raw, call), call)

    async def run(self, operation: str, work: Callable[[], T], call: Call) -> T:
        """Return what work for an operation returns, which is done in a thread.

        When this is cancelled, the work is given up.

        Raises:
            ServerBusy: Too many requests are waiting.
            TimedOut: It takes longer than the deadline.
        """
        declared = OPERATIONS[operation]
        call.writes = declared.effect != "reads"
        # No other request may wait for one of these.
        long = declared.takes_long or call.writes or bool(declared.events_path)
        threads = self._threads[long]
        if threads.statistics().tasks_waiting >= _MOST_WAITING:
            raise ServerBusy(waiting=_MOST_WAITING)
        limit_s = None if long else self.options.deadline_s or None
        in_context = copy_context().run  # which has the trace of the request
        self._running.add(call)
        try:
            with anyio.fail_after(limit_s):
                return await run_sync(
                    lambda: in_context(work), abandon_on_cancel=True, limiter=threads
                )
        except TimeoutError:
            limit_ms = round((limit_s or 0) * 1000)
            raise TimedOut(operation=operation, elapsed_ms=limit_ms, deadline_ms=limit_ms) from None
        finally:
            call.give_up()
            self._running.discard(call)
            self._last_at = time.monotonic()

    def close(self) -> None:
        """Ask all work to stop, and close the knowledge bases that are not in use."""
        for call in [*self._running]:
            call.give_up()
        self._pool.close()

    def refuse(self, operation: str, fault: BaseException, status: int | None = None) -> Outcome:
        """Return the answer to a request that does not reach its operation."""
        try:
            settings = self.options.load_settings()
        except Signal:
            settings = None  # the error is worded without them
        return build_failure(operation, fault, settings, status)

    def _answer(self, operation: str, raw: bytes, call: Call) -> Outcome:
        """Do the work of a request in this thread; every exception becomes an error."""
        settings = None
        try:
            settings = self.options.load_settings()
            request = decode_operation_request(operation, raw, settings)
            with self.open(operation, settings) as kebab:
                reply = kebab.run(request, report=call.report, cancel=call.cancel)
            status = find_operation_status(reply, call.cancel)
            return Outcome(200, format_event(operation, reply, status))
        except BaseException as fault:  # noqa: BLE001 - the edge of the request
            return build_failure(operation, fault, settings)

    @contextmanager
    def open(self, operation: str, settings: Settings) -> Iterator[Kebab]:
        """Yield a knowledge base that refuses what this server must not do."""
        options = self.options
        refuses = OPERATIONS[operation].effect != "reads" and not options.allow_write
        read_only = options.read_only or refuses
        try:
            with self._pool.lease(settings, read_only=read_only) as kebab:
                yield kebab
        except ReadOnly as refused:
            if options.read_only:
                raise
            raise ReadOnly(operation=refused.operation, needs=ALLOW_WRITE) from refused


def build_failure(
    operation: str, fault: BaseException, settings: Settings | None, status: int | None = None
) -> Outcome:
    """Log an exception and return it as `error.v1`; the status is that of its row unless given."""
    reply = report_failure(operation, fault, settings)
    if isinstance(fault, UsageInvalid):
        reply = msgspec.structs.replace(reply, hint=_USAGE_HINT)
    return Outcome(status or build_catalog()[reply.code].http, reply)
