"""Runs the operations that requests name, in threads over a pool of knowledge bases."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from kebab.app.dispatch import (
    decode_operation_request,
    format_reply,
    report_failure,
    run_operation,
)
from kebab.app.pool import KebabPool
from kebab.config.settings import Settings
from kebab.core.progress import Cancel
from kebab.errors.catalog import Cancelled, ReadOnly, UsageInvalid, build_catalog
from kebab.errors.signal import Signal
from kebab.http.jobs import Job, JobThreads
from kebab.wire.error import ErrorReply
from kebab.wire.operations import OPERATIONS
from kebab.wire.record import encode_json

if TYPE_CHECKING:
    from kebab.app.facade import Kebab
    from kebab.wire.record import Reply

ALLOW_WRITE = "--allow-write"
"""The flag of a server that may change the knowledge base."""

DEFAULT_DEADLINE_S = 60.0

_USAGE_HINT = "kebab serve --help"
_SLOW = frozenset({"doctor", "rank"})
"""Operations that may take seconds, besides those that write or report their progress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceOptions:
    """How a server runs operations.

    `load_settings` returns the settings of one request, and `config_path` is their file.
    """

    config_path: Path
    load_settings: Callable[[], Settings]
    allow_write: bool = False
    read_only: bool = False
    """Whether nothing at all is written, not even the query cache."""
    deadline_s: float = DEFAULT_DEADLINE_S
    """The limit of operations that are not long; waiting counts."""
    quick_threads: int = 2
    long_threads: int = 4
    most_waiting: int = 256
    """How many requests wait at most for the threads of each kind."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer to a request: an HTTP status, the reply with its envelope, and its JSON."""

    status: int
    reply: "Reply"
    body: bytes

    @property
    def failed(self) -> bool:
        """Whether the reply is `error.v1`."""
        return isinstance(self.reply, ErrorReply)


def is_long(operation: str) -> bool:
    """Return whether an operation may take so long that no other request may wait for it."""
    declared = OPERATIONS[operation]
    return declared.effect != "reads" or declared.events is not None or operation in _SLOW


def build_failure(
    operation: str, fault: BaseException, settings: Settings | None, status: int | None = None
) -> Outcome:
    """Log an exception and return it as `error.v1`; the status is that of its row unless given."""
    reply = report_failure(operation, fault, settings).reply
    if isinstance(fault, UsageInvalid):
        reply = msgspec.structs.replace(reply, hint=_USAGE_HINT)
    return Outcome(status or build_catalog()[reply.code].meaning.http, reply, encode_line(reply))


def encode_line(reply: "Reply") -> bytes:
    """Return a reply as one line of JSON."""
    return encode_json(reply) + b"\n"


class Service:
    """Answers requests; the event loop submits them, and threads do the work."""

    def __init__(self, options: ServiceOptions, pool: KebabPool | None = None) -> None:
        self.options = options
        self._pool = pool or KebabPool(options.quick_threads + options.long_threads)
        waiting = options.most_waiting
        self._quick = JobThreads("quick", options.quick_threads, waiting)
        self._long = JobThreads("long", options.long_threads, waiting)

    def submit(
        self, operation: str, raw: bytes, report: Callable[[Any], None] | None = None
    ) -> Job[Outcome]:
        """Queue a request with this body; `report` receives its events in another thread.

        Raises:
            ServerBusy: Too many requests are waiting.
        """
        cancel = Cancel()
        flag = cancel if OPERATIONS[operation].cancellable else None
        # Each copy of the context has the trace of the request.
        answer, refuse = copy_context().run, copy_context().run
        job = Job(
            lambda: answer(self._answer, operation, raw, report, cancel),
            flag,
            lambda: refuse(self.refuse, operation, Cancelled(operation=operation), None),
        )
        (self._long if is_long(operation) else self._quick).submit(job)
        return job

    def refuse(self, operation: str, fault: Exception, status: int | None) -> Outcome:
        """Return the answer to a request that does not become a job."""
        try:
            settings = self.options.load_settings()
        except Signal:
            settings = None  # the error is worded without them
        return build_failure(operation, fault, settings, status)

    def get_deadline(self, operation: str) -> float | None:
        """Return the seconds that an operation may take; None for long ones, which limit it."""
        return None if is_long(operation) else self.options.deadline_s or None

    def stop(self) -> None:
        """Stop all work."""
        self._quick.stop()
        self._long.stop()

    def close(self) -> None:
        """Stop all work and close the knowledge bases that are not in use."""
        self.stop()
        self._pool.close()

    def _answer(
        self, operation: str, raw: bytes, report: Callable[[Any], None] | None, cancel: Cancel
    ) -> Outcome:
        """Do the work of a request; every exception becomes an error."""
        settings: Settings | None = None
        try:
            settings = self.options.load_settings()
            request = decode_operation_request(operation, raw, settings)
            with self._lease(operation, settings) as kebab:
                reply = run_operation(kebab, operation, request, report=report, cancel=cancel)
            reply = format_reply(operation, reply, cancel=cancel)
            return Outcome(200, reply, encode_line(reply))
        except BaseException as fault:  # noqa: BLE001 - the edge of the request
            return build_failure(operation, fault, settings)

    @contextmanager
    def _lease(self, operation: str, settings: Settings) -> "Iterator[Kebab]":
        """Yield a knowledge base that refuses what this server must not do."""
        options = self.options
        refuses = OPERATIONS[operation].effect != "reads" and not options.allow_write
        read_only = options.read_only or refuses
        try:
            with self._pool.lease(
                settings, config_path=options.config_path, read_only=read_only
            ) as kebab:
                yield kebab
        except ReadOnly as refused:
            if options.read_only:
                raise
            raise ReadOnly(operation=refused.operation, needs=ALLOW_WRITE) from refused
