"""Runs an operation by its name, from a JSON object to the object that `--json` prints.

HTTP, MCP and other surfaces without flags use it:

1. `kebab.app.facade` makes the request.
2. `Kebab.run` runs it, on a knowledge base that stays open between the calls of a process.
3. `format_reply` adds the envelope.
4. `report_failure` turns an exception of any step into `error.v1`, and logs it.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import NamedTuple, TypeVar

import msgspec

from kebab.app.audit_log import FailedCall, log_failure
from kebab.app.classify import ClassifiedError, build_view, classify_error
from kebab.app.facade import Kebab
from kebab.app.model_adapters import Embedders
from kebab.config.settings import Paths, Settings, resolve_paths
from kebab.core.progress import Cancel
from kebab.errors.catalog import (
    Generic,
    InvalidCursor,
    InvalidInput,
    StaleCursor,
)
from kebab.errors.signal import Exit
from kebab.wire.operations import OPERATIONS
from kebab.wire.record import (
    Reply,
    add_envelope,
    find_exit_status,
    format_timestamp,
)


class _Key(NamedTuple):
    """What the callers of one knowledge base have in common."""

    settings: str
    paths: Paths
    config_path: Path
    read_only: bool


class KebabPool:
    """Leases open knowledge bases, each to one caller at a time; threads may share the pool.

    The knowledge bases of the same settings share their embedding models. The one used last is
    leased first, and of those that are idle the oldest is closed. A knowledge base opens its files
    again when they were replaced. `is_owner` says that the callers are the user of the files.
    """

    def __init__(self, most_idle: int = 4, *, is_owner: bool = True) -> None:
        self._most_idle = most_idle
        self._is_owner = is_owner
        self._idle: list[tuple[_Key, Kebab]] = []
        self._embedders: dict[tuple[bytes, Path], Embedders] = {}
        self._lock = Lock()

    @contextmanager
    def lease(
        self, settings: Settings, *, config_path: Path, read_only: bool = False
    ) -> Iterator[Kebab]:
        """Yield the knowledge base of these settings.

        After an exception other than a refused request it is closed, and the next caller gets a
        new one.

        Raises:
            ConfigInvalid: The settings name an embedding model that does not exist.
        """
        paths, config_path = resolve_paths(settings), config_path.absolute()
        # Names of folders may hold what JSON cannot.
        key = _Key(repr(settings), paths, config_path, read_only)
        kebab = self._take(key) or self._open(settings, config_path, read_only=read_only)
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

    def _take(self, key: _Key) -> "Kebab | None":
        """Return the idle knowledge base that was used last, None when all are leased."""
        with self._lock:
            fitting = [one for one in self._idle if one[0] == key]
            if not fitting:
                return None
            self._idle.remove(fitting[-1])
        return fitting[-1][1]

    def _open(self, settings: Settings, config_path: Path, *, read_only: bool) -> Kebab:
        models = resolve_paths(settings).models
        key = (msgspec.json.encode([settings.models.embedding, settings.offline]), models)
        with self._lock:
            if key not in self._embedders:
                self._embedders[key] = Embedders(settings, models)
            embedders = self._embedders[key]
        return Kebab(
            settings,
            config_path=config_path,
            read_only=read_only,
            embedders=embedders,
            is_owner=self._is_owner,
        )

    def _keep(self, key: _Key, kebab: Kebab) -> None:
        with self._lock:
            self._idle.append((key, kebab))
            too_many = self._idle[: -self._most_idle]
            del self._idle[: -self._most_idle]
        for _, old in too_many:
            old.close()


R = TypeVar("R", bound=Reply)


def find_command_name(operation: str) -> str:
    """Return the command in the shell that runs an operation, as the envelope has it."""
    return OPERATIONS[operation].command if operation in OPERATIONS else operation


def find_operation_status(reply: Reply, cancel: Cancel | None = None) -> Exit:
    """Return the exit status of a reply; a cancelled change of models leaves passages pending."""
    from kebab.wire.health import ModelReport

    if isinstance(reply, ModelReport) and cancel is not None and cancel.requested and reply.pending:
        return Exit.INTERRUPTED
    return find_exit_status(reply)


def format_reply(operation: str, reply: Reply, *, cancel: Cancel | None = None) -> Reply:
    """Return a reply with the envelope that the command line gives it."""
    return format_event(operation, reply, find_operation_status(reply, cancel))


def report_failure(
    operation: str, fault: BaseException, settings: Settings | None
) -> ClassifiedError:
    """Log an exception, and return it as `error.v1` with its envelope.

    The settings are None when they are unusable.
    """
    command = find_command_name(operation)
    view = build_view(settings or Settings())
    classified = classify_error(fault, operation=command, view=view)
    reply = classified.reply
    if reply.code == Generic.code:
        reply = msgspec.structs.replace(reply, hint=f"kebab errors --id {reply.correlation_id}")
    provider = settings.models.llm.provider if settings else None
    log_failure(fault, classified, FailedCall(tuple(command.split()), provider=provider))
    return ClassifiedError(
        format_event(operation, reply, classified.exit), classified.exit, classified.quiet
    )


def format_event(operation: str, event: R, status: Exit | None = None) -> R:
    """Return a reply or an event with its envelope; only a terminal event has a status."""
    return add_envelope(
        event,
        command=find_command_name(operation),
        timestamp=format_timestamp(time.time()),
        exit_code=None if status is None else int(status),
    )
