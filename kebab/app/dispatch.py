"""Runs an operation by its name, from a JSON object to the object that `--json` prints.

HTTP, MCP and other surfaces without flags use it:

1. `decode_operation_request` or `convert_operation_request` makes the request.
2. `Kebab.run` runs it, on a knowledge base that stays open between the calls of a process.
3. `format_reply` adds the envelope.
4. `report_failure` turns an exception of any step into `error.v1`, and logs it.

Each line of `search --bulk` gets its own response or its own error, and the events of a review or a
translation become a stream that ends with `end`.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec
from msgspec import UNSET, Struct, field
from msgspec.structs import replace

from kebab.app.audit_log import FailedCall, log_failure
from kebab.app.classify import ClassifiedError, View, build_view, classify_error
from kebab.app.conversions import format_timestamp
from kebab.app.facade import Kebab
from kebab.app.model_adapters import Embedders
from kebab.app.request_defaults import fill_request, list_request_defaults
from kebab.config.settings import Paths, Settings, resolve_paths
from kebab.core.progress import Cancel
from kebab.errors.catalog import (
    Cancelled,
    Generic,
    InvalidCursor,
    InvalidInput,
    StaleCursor,
    build_catalog,
)
from kebab.errors.signal import Exit, Signal
from kebab.wire.operations import OPERATIONS
from kebab.wire.record import (
    DECODE_ERRORS,
    NotFound,
    Reply,
    Request,
    add_envelope,
    decode_request,
    find_exit_status,
    to_invalid_input,
)
from kebab.wire.search import SearchRequest, SearchResponse
from kebab.wire.stream import BulkSearchItem, ReviewEvent, ReviewEventData

if TYPE_CHECKING:
    from msgspec import UnsetType

    from kebab.wire.error import ErrorReply
    from kebab.wire.review import AgentItems


class _Key(NamedTuple):
    """What the callers of one knowledge base have in common."""

    settings: str
    paths: Paths
    config_path: Path
    read_only: bool

    @property
    def holds_models(self) -> bool:
        """Whether the folder of the models is inside of the data folder."""
        return self.paths.models.is_relative_to(self.paths.data)


class _IdleKebab(NamedTuple):
    """An open knowledge base that no caller uses, and when that began."""

    key: _Key
    kebab: Kebab
    since: float


class KebabPool:
    """Leases open knowledge bases, each to one caller at a time; threads may share the pool.

    The knowledge bases of the same settings share their embedding models. The one used last is
    leased first, and of those that are idle the oldest is closed. A knowledge base opens its files
    again when they were replaced. `is_owner` says that the callers are the user of the files.
    """

    def __init__(self, most_idle: int = 4, *, is_owner: bool = True) -> None:
        self._most_idle = most_idle
        self._is_owner = is_owner
        self._idle: list[_IdleKebab] = []
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

    def release_files(self, unused_s: float = 0.0) -> bool:
        """Close the files of the knowledge bases that nobody used for some seconds.

        Models and what is known of the present state stay in memory, but for models whose files are
        in a data folder. Return whether other files may be open.
        """
        before = time.monotonic() - unused_s
        with self._lock:
            resting = [one for one in self._idle if one.since <= before]
            for one in resting:
                one.kebab.close()
            gone = [one for one in resting if one.key.holds_models]
            self._idle = [one for one in self._idle if one not in gone]
            folders = {one.key.paths.models for one in gone}
            self._embedders = {
                key: held for key, held in self._embedders.items() if key[1] not in folders
            }
            return any(one.since > before for one in self._idle)

    def close(self) -> None:
        """Close the knowledge bases that no caller uses."""
        with self._lock:
            idle, self._idle = self._idle, []
        for one in idle:
            one.kebab.close()

    def _take(self, key: _Key) -> Kebab | None:
        """Return the idle knowledge base that was used last, None when all are leased."""
        with self._lock:
            for one in self._idle:
                if one.key.paths.data == key.paths.data:
                    one.kebab.close_changed_database()
            fitting = [one for one in self._idle if one.key == key]
            if not fitting:
                return None
            self._idle.remove(fitting[-1])
        return fitting[-1].kebab

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
            self._idle.append(_IdleKebab(key, kebab, time.monotonic()))
            too_many = self._idle[: -self._most_idle]
            del self._idle[: -self._most_idle]
        for one in too_many:
            one.kebab.close()


R = TypeVar("R", bound=Reply)


def find_command_name(operation: str) -> str:
    """Return the command in the shell that runs an operation, as the envelope has it."""
    return OPERATIONS[operation].command if operation in OPERATIONS else operation


def decode_operation_request(operation: str, raw: bytes, settings: Settings) -> Request[Reply]:
    """Decode a request from JSON; nothing at all means an empty object.

    Fields that it leaves out have the values of the settings, as on the command line.

    Raises:
        InvalidInput: The text is not JSON, or breaks the schema; `field` is the JSON path.
    """
    raw = raw if raw.strip() else b"{}"
    request: Request[Reply] = decode_request(raw, OPERATIONS[operation].request)
    defaults = list_request_defaults(operation, settings)
    return fill_request(request, msgspec.json.decode(raw), defaults) if defaults else request


def convert_operation_request(
    operation: str, fields: Mapping[str, Any], settings: Settings
) -> Request[Reply]:
    """Return the request of a decoded JSON object; the rest is as in `decode_operation_request`.

    Raises:
        InvalidInput: The object breaks the schema; `field` is the JSON path.
    """
    try:
        request = msgspec.convert(dict(fields), OPERATIONS[operation].request)
    except (msgspec.ValidationError, RecursionError) as fault:
        raise to_invalid_input(fault) from fault
    return fill_request(request, fields, list_request_defaults(operation, settings))


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


class BulkOutcome(Struct):
    """Collects the items of a bulk search to choose its exit status."""

    answered: bool = False
    found: bool = False
    failures: set[Exit] = field(default_factory=set)
    """The exit statuses of the errors."""

    def add(self, item: BulkSearchItem) -> None:
        """Add an item."""
        if item.error:
            self.failures.add(build_catalog()[item.error.code].exit)
        elif item.response:
            self.answered = True
            self.found = self.found or bool(item.response.hits and item.response.convincing)

    @property
    def status(self) -> Exit:
        """The exit status: a convincing hit counts most, an error only when every line failed."""
        if self.found:
            return Exit.DONE
        if self.answered or not self.failures:
            return Exit.NO
        return Exit.UNUSABLE if self.failures == {Exit.UNUSABLE} else Exit.ERROR


def search_lines(
    search_one: Callable[[SearchRequest], SearchResponse], lines: Iterable[bytes], view: View
) -> Iterator[BulkSearchItem]:
    """Yield the response or the error of each line that is not empty.

    A line is a JSON string or a search request. `search_one` is the `search` of a facade.
    """
    filled = (line for line in lines if line.strip())
    for index, line in enumerate(filled):
        query: str | None = None
        try:
            decoded: str | SearchRequest = decode_request(line, str | SearchRequest)
            request = SearchRequest(query=decoded) if isinstance(decoded, str) else decoded
            query = _join_queries(request.query, *request.queries)
            item = BulkSearchItem(index=index, query=query, response=search_one(request))
        except Signal as signal:
            query = _find_query(line) if query is None else query
            error = classify_error(signal, operation="search", view=view).reply
            item = BulkSearchItem(index=index, query=query, error=error)
        yield item


def _find_query(line: bytes) -> str | None:
    """Return the query of a line that is no request, if it has one."""
    try:
        fields = msgspec.json.decode(line)
    except DECODE_ERRORS:
        return None
    if not isinstance(fields, dict):
        return None
    first, more = fields.get("query"), fields.get("queries")
    texts = [first, *(more if isinstance(more, list) else [])]
    return _join_queries(*(text for text in texts if isinstance(text, str)))


def _join_queries(*texts: str) -> str:
    return " | ".join(filter(None, texts))


_FURTHER_PAGES = "there are further pages"
_MODEL_MISSING = "the language model did not answer about all of the text"
NO_ENVELOPE: dict[str, Any] = dict.fromkeys(
    ("command", "timestamp", "exit_code", "output_format"), UNSET
)
"""The fields of the envelope, as pages within events have them."""


class ReviewFrames:
    """The events of one run, as every surface sends them.

    The run reports `stage`, `items` and `progress`. A stream has at least one page, unless the work
    fails before the first. `complete` follows the last page, and `end` is the last event.
    """

    def __init__(self) -> None:
        self.status = Exit.DONE
        """The exit status by the pages so far."""
        self._run_id: str | UnsetType = UNSET
        self._stage: str | UnsetType = UNSET
        self._last_page: AgentItems | None = None

    def note(self, event: ReviewEvent) -> None:
        """Remember what the last events depend on."""
        self._run_id = event.data.run_id or self._run_id
        self._stage = event.data.stage or self._stage
        if event.data.page:
            self._note_page(event.data.page)

    def build_heartbeat(self, elapsed_ms: float) -> ReviewEvent:
        """Return the event that says that the work continues."""
        return self._build("heartbeat", elapsed_ms=elapsed_ms)

    def build_end(
        self, reply: "AgentItems | NotFound", *, cancelled: bool = False
    ) -> Iterator[ReviewEvent]:
        """Yield the last page unless the run reported it, `complete` and `end`.

        Work that was `cancelled` before it was done is not complete, and a document that does not
        exist has no page.
        """
        if isinstance(reply, NotFound):
            fault = reply.error
            self.status = find_exit_status(reply)
            yield self._build("error", message=fault.message, retryable=fault.retryable)
            yield self._build("end", completed=False, reason=fault.kind)
            return
        page = replace(reply, **NO_ENVELOPE)
        if page != self._last_page:
            self._note_page(page)
            yield self._build("items", page=page)
        stopped = cancelled and page.has_more
        if stopped:
            self.status = Exit.INTERRUPTED
        else:
            yield self._build("complete", completed_at=format_timestamp(time.time()))
        reason = Cancelled.code if stopped else _find_reason(page)
        yield self._build("end", completed=not reason, reason=reason)

    def build_failure(self, error: "ErrorReply") -> Iterator[ReviewEvent]:
        """Yield `error` and `end`; an interruption is only the reason of `end`."""
        if error.code != Cancelled.code:
            yield self._build(
                "error",
                stage=self._stage,
                message=error.message,
                retryable=error.retryable,
                code=error.code,
            )
        yield self._build("end", completed=False, reason=error.code)

    def _note_page(self, page: "AgentItems") -> None:
        self.status = max(self.status, find_exit_status(page))
        self._run_id, self._last_page = page.run_id, page

    def _build(self, kind: Any, **fields: Any) -> ReviewEvent:
        return ReviewEvent(type=kind, data=ReviewEventData(run_id=self._run_id, **fields))


def _find_reason(page: "AgentItems") -> "str | UnsetType":
    """Return why the work that a page ends is not all that the run has to do."""
    if page.has_more:
        return _FURTHER_PAGES
    return _MODEL_MISSING if page.partial else UNSET
