"""The ASGI application: a route and an OpenAPI entry for each operation, and streams of events."""

import asyncio
import inspect
import json
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from functools import cache, partial
from math import ceil
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct, structs
from msgspec.structs import replace

from kebab import __version__
from kebab.app.classify import HEADER, accept_trace
from kebab.app.conversions import to_ingest_progress
from kebab.app.dispatch import NO_ENVELOPE, ReviewFrames, format_event
from kebab.core.progress import Progress, ProgressKind
from kebab.errors.catalog import UsageInvalid
from kebab.errors.signal import Exit, Signal
from kebab.errors.system import translate_import_errors
from kebab.http.guard import Admission, AsgiApp, Guard, Receive, Refusal, Scope, Send
from kebab.http.service import Job, Outcome, Service
from kebab.wire.ask import Answer, AnswerEvent
from kebab.wire.error import ErrorReply
from kebab.wire.ingest import IngestProgress, IngestReport
from kebab.wire.json_schema import Schema, build_components, require_envelope
from kebab.wire.operations import OPERATIONS, REMOTE_OPERATIONS, Operation
from kebab.wire.record import NotFound, Reply, encode_json
from kebab.wire.stream import ReviewEvent

if TYPE_CHECKING:
    from kebab.wire.review import AgentItems

_TERMINAL = (ProgressKind.COMPLETED, ProgressKind.ABORTED)
_MOST_UNSENT = 1_000
"""How many lines may wait for a slow reader before the work waits too."""
_PAUSE_S = 0.01


class EventStream:
    """The lines of one operation. A thread reports events, and the event loop sends lines.

    A heartbeat follows each silence of `silence_s`. The last line says how the work ended.
    """

    silence_s = 1.0
    leaves_at_once = False
    """Whether work that can be stopped between two steps is interrupted when the reader is gone."""

    def __init__(self, operation: str) -> None:
        self.operation = operation
        self._lines: deque[bytes] = deque()
        self._loop = asyncio.get_running_loop()
        self._wake = asyncio.Event()
        self._started = time.monotonic()
        self._closed = False

    def report(self, event: Any) -> None:
        """Take an event of the operation; wait while the reader is slow."""
        self.put(event)

    def build_heartbeat(self) -> Reply:
        """Return the event that says that the work continues."""
        raise NotImplementedError

    def build_end(self, reply: Reply) -> Iterator[Reply]:
        """Yield the last events of work that ended with a reply, which may be `error.v1`."""
        raise NotImplementedError

    def put(self, event: Reply) -> None:
        """Add a line; wait while the reader is slow."""
        self._lines.append(self._encode(event))
        with suppress(RuntimeError):  # the event loop has ended
            self._loop.call_soon_threadsafe(self._wake.set)
        while len(self._lines) > _MOST_UNSENT and not self._closed:
            time.sleep(_PAUSE_S)

    def _encode(self, event: Reply) -> bytes:
        return encode_json(format_event(self.operation, event))

    def elapsed_ms(self) -> int:
        """Return the time since the request."""
        return round((time.monotonic() - self._started) * 1000)

    async def has_started(self, job: Job[Outcome]) -> bool:
        """Wait for the first line, or a silence; return whether there is something to stream.

        Work that fails before is answered like a request without a stream.
        """
        job.future.add_done_callback(lambda _: self._wake.set())
        try:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), self.silence_s)
        except BaseException:  # the end of the server cancels this task, which is no `Exception`
            job.stop()
            raise
        return bool(self._lines) or not (job.future.done() and job.future.result().failed)

    async def iterate_lines(self, job: Job[Outcome]) -> AsyncIterator[bytes]:
        """Yield the lines until the work has ended; leaving early stops the work."""
        try:
            while not job.future.done() or self._lines:
                while self._lines:
                    yield self._lines.popleft()
                if not job.future.done() and not await self._wait():
                    yield self._encode(self.build_heartbeat())
            for event in self.build_end(cast("Reply", job.future.result().reply)):
                yield encode_json(event)
        finally:
            self._closed = True
            job.stop()
            if self.leaves_at_once:
                job.stop()

    async def _wait(self) -> bool:
        """Wait for a line or the end; return False after a silence."""
        try:
            await asyncio.wait_for(self._wake.wait(), self.silence_s)
        except TimeoutError:
            return False
        self._wake.clear()
        return True


class AnswerStream(EventStream):
    """`answer_event.v1` lines; the last one is `final` or `error`."""

    silence_s = 3.0

    def build_heartbeat(self) -> Reply:
        """Return a heartbeat."""
        return AnswerEvent(type="heartbeat", elapsed_ms=self.elapsed_ms())

    def build_end(self, reply: Reply) -> Iterator[Reply]:
        """Yield the answer or the error as an event."""
        inner = replace(reply, **NO_ENVELOPE)
        event = (
            AnswerEvent(type="error", error=inner)
            if isinstance(inner, ErrorReply)
            else AnswerEvent(type="final", answer=cast("Answer", inner))
        )
        yield _copy_envelope(reply, event)


class ReviewStream(EventStream):
    """`review_event.v1` lines; the last one is `end`."""

    silence_s = 3.0
    leaves_at_once = True
    """A request to a language model is of no use without a reader."""

    def __init__(self, operation: str) -> None:
        super().__init__(operation)
        self._frames = ReviewFrames()

    def report(self, event: ReviewEvent) -> None:
        """Take an event."""
        self._frames.note(event)
        self.put(event)

    def build_heartbeat(self) -> Reply:
        """Return a heartbeat."""
        return self._frames.build_heartbeat(self.elapsed_ms())

    def build_end(self, reply: Reply) -> Iterator[Reply]:
        """Yield the last page unless it was sent, or the error, and the end."""
        if isinstance(reply, ErrorReply):
            events = list(self._frames.build_failure(reply))
            status = cast("Exit", reply.exit_code)
        else:
            events = list(self._frames.build_end(cast("AgentItems | NotFound", reply)))
            status = self._frames.status
        for event in events:
            yield format_event(self.operation, event, None if event.type == "items" else status)


class WorkStream(EventStream):
    """`ingest_progress.v1` lines. The last one is terminal and has the report of an ingest.

    An error, and a reply that is no report, is a line of its own: the error before the terminal
    event, the reply after it.
    """

    def __init__(self, operation: str) -> None:
        super().__init__(operation)
        self._last = Progress(kind=ProgressKind.HEARTBEAT)
        self._terminal: IngestProgress | None = None

    def report(self, event: Progress) -> None:
        """Take an event; a terminal one waits for the reply."""
        if event.kind in _TERMINAL:
            self._terminal = to_ingest_progress(event)
        else:
            self._last = event
            self.put(to_ingest_progress(event))

    def build_heartbeat(self) -> Reply:
        """Return a heartbeat with the phase and the path of the last event."""
        kind, last, elapsed = ProgressKind.HEARTBEAT, self._last, self.elapsed_ms()
        return to_ingest_progress(
            Progress(kind=kind, phase=last.phase, path=last.path, elapsed_ms=elapsed)
        )

    def build_end(self, reply: Reply) -> Iterator[Reply]:
        """Yield the terminal event, and the reply where it is not part of it."""
        failed = isinstance(reply, ErrorReply)
        stopped = failed or (isinstance(reply, IngestReport) and reply.cancelled)
        end = self._terminal or IngestProgress(
            kind="aborted" if stopped else "completed", elapsed_ms=self.elapsed_ms()
        )
        if failed:
            yield reply
            end = replace(end, kind="aborted")
        if isinstance(reply, IngestReport):
            yield _copy_envelope(reply, replace(end, report=replace(reply, **NO_ENVELOPE)))
            return
        yield _copy_envelope(reply, end)
        if not failed:
            yield reply


def build_stream(operation: str) -> EventStream | None:
    """Return the stream of an operation; None when it has none."""
    events = OPERATIONS[operation].stream
    if events is None:
        return None
    streams: dict[type[Reply], type[EventStream]] = {
        AnswerEvent: AnswerStream,
        ReviewEvent: ReviewStream,
    }
    return streams.get(events, WorkStream)(operation)


def _copy_envelope(source: Reply, event: Reply) -> Reply:
    return replace(event, **{name: getattr(source, name) for name in NO_ENVELOPE})


PREFIX = "/v1"
HEALTH_PATH, DOCUMENT_PATH = f"{PREFIX}/health", f"{PREFIX}/openapi.json"

_DESCRIPTION = (
    "Every operation of kebab takes its request as a JSON object, where an empty body means all"
    " defaults, and answers with the object that `--json` prints. An honest negative result has the"
    " status 200 as well; `exit_code` tells it apart. Errors are `error.v1`."
)
_EFFECTS = {
    "reads": "",
    "writes": " It writes, so the server needs `--allow-write`.",
    "deletes": " It deletes, so the server needs `--allow-write`.",
}


def build_path(operation: str) -> str:
    """Return the path of an operation."""
    return f"{PREFIX}/{operation}"


def build_document(more: Mapping[str, Schema] = MappingProxyType({})) -> Schema:
    """Return the document, OpenAPI 3.1; `more` are the paths of other applications."""
    forms = [
        form
        for operation in REMOTE_OPERATIONS.values()
        for form in (operation.request, *operation.replies, operation.stream)
        if form is not None
    ]
    return {
        "openapi": "3.1.0",
        "info": {"title": "kebab", "version": __version__, "description": _DESCRIPTION},
        "security": [{"token": []}],
        "paths": {
            **{build_path(name): _describe(name, one) for name, one in REMOTE_OPERATIONS.items()},
            HEALTH_PATH: _describe_document("health", "Say that the server lives.", _HEALTH),
            DOCUMENT_PATH: _describe_document("openapi", "Return this document.", _OBJECT),
            **more,
        },
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "responses": {
                "Error": {
                    "description": "An error; its status is that of the code in the catalogue.",
                    "content": {"application/json": {"schema": require_envelope(ErrorReply)}},
                }
            },
            "schemas": build_components([*dict.fromkeys(forms), ErrorReply]),
        },
    }


@cache
def encode_document(*describe: Callable[[], Schema]) -> bytes:
    """Return the document as JSON, with the paths that other applications describe."""
    more = {path: item for one in describe for path, item in one().items()}
    return json.dumps(build_document(more), ensure_ascii=False).encode() + b"\n"


_OBJECT: Schema = {"type": "object"}
_HEALTH: Schema = {
    "type": "object",
    "properties": {"status": {"const": "ok"}},
    "required": ["status"],
}
_ERRORS = {status: {"$ref": "#/components/responses/Error"} for status in ("4XX", "5XX")}


def _describe(name: str, operation: Operation) -> Schema:
    request = operation.request
    needed = any(field.required for field in structs.fields(request))
    replies = [require_envelope(reply) for reply in operation.replies]
    explained = inspect.cleandoc(operation.replies[0].__doc__ or "")
    summary = explained.partition("\n\n")[0].replace("\n", " ")
    schema = {"$ref": f"#/components/schemas/{request.__name__}"}
    content = {
        "application/json": {"schema": replies[0] if len(replies) == 1 else {"anyOf": replies}}
    }
    if operation.stream is not None:
        content |= {
            "application/x-ndjson": {"schema": require_envelope(operation.stream)},
            "text/event-stream": {"schema": {"type": "string"}},
        }
    return {
        "post": {
            "operationId": name,
            "summary": summary + _EFFECTS[operation.effect],
            "requestBody": {
                "required": needed,
                "content": {"application/json": {"schema": schema}},
            },
            "responses": {"200": {"description": "The reply.", "content": content}, **_ERRORS},
        }
    }


def _describe_document(name: str, summary: str, schema: Schema) -> Schema:
    item = {
        "operationId": name,
        "summary": summary,
        "responses": {
            "200": {
                "description": "The document.",
                "content": {"application/json": {"schema": schema}},
            },
            **_ERRORS,
        },
    }
    return {"get": {**item, "security": []} if name == "health" else item}


with translate_import_errors("the HTTP server", "starlette", extra="serve"):
    from starlette.exceptions import HTTPException
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import Response, StreamingResponse
    from starlette.routing import BaseRoute, Route, Router

SERVER = "serve"
"""The command in errors that belong to no operation."""

JSON, NDJSON, EVENT_STREAM = "application/json", "application/x-ndjson", "text/event-stream"

_WRONG_TYPE, _CLIENT_GONE = 415, 499
HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
_PATHS = {build_path(name): name for name in REMOTE_OPERATIONS}
"""The operation of each path."""


class MountedApp(Struct, frozen=True):
    """Another ASGI application at a path of the server, with what has to run around it.

    `open_paths` need no token. `admits` says whether the cookies of a request replace the token.
    `show_error` returns the page of an error for a request, None where JSON is the answer.
    `describe` returns the paths of the OpenAPI document.
    """

    path: str
    app: AsgiApp
    lifespan: Callable[[], AbstractAsyncContextManager[object]] | None = None
    open_paths: Collection[str] = ()
    admits: Callable[[Scope, str], bool] | None = None
    show_error: Callable[[Scope, ErrorReply, int], AsgiApp | None] | None = None
    describe: Callable[[], Schema] = dict

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        await self.app(scope, receive, send)


def build_application(
    service: Service, admission: Admission, mounts: Sequence[MountedApp] = ()
) -> AsgiApp:
    """Return the application; `mounts` are behind the same checks as the operations."""

    @asynccontextmanager
    async def run_mounts(_: Any) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for mount in mounts:
                if mount.lifespan is not None:
                    await stack.enter_async_context(mount.lifespan())
            yield

    async def refuse(scope: Scope, fault: Exception) -> AsgiApp:
        return await _build_error_response(service, scope, fault, mounts)

    routes: list[BaseRoute] = [
        *(
            Route(path, _OperationEndpoint(service, name).answer, methods=["POST"])
            for path, name in _PATHS.items()
        ),
        Route(HEALTH_PATH, _answer_health, methods=["GET"]),
        Route(DOCUMENT_PATH, partial(_answer_document, mounts), methods=["GET"]),
        *(Route(mount.path, mount) for mount in mounts),
    ]
    router = Router(routes, redirect_slashes=False, lifespan=run_mounts)
    guard = Guard(router, admission, refuse)

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope.get("headers", ()))
        with accept_trace(headers.get(HEADER.encode(), b"").decode("latin-1")):
            await guard(scope, receive, send)

    return answer


class _OperationEndpoint:
    """The route of one operation."""

    def __init__(self, service: Service, operation: str) -> None:
        self._service = service
        self._operation = operation

    async def answer(self, request: Request) -> Response:
        """Answer with one JSON object, or with events if the client asks for them."""
        raw = await _read_body(request)
        accepted = request.headers.get("accept", "").lower()
        kind = next((kind for kind in (NDJSON, EVENT_STREAM) if kind in accepted), None)
        stream = build_stream(self._operation) if kind else None
        job = self._service.submit(self._operation, raw, stream.report if stream else None)
        if stream is None or not await stream.has_started(job):
            return _build_response(await self._wait(request, job))
        lines = stream.iterate_lines(job)
        return StreamingResponse(
            _frame_lines(lines, str(kind)), media_type=kind, headers={**HEADERS}
        )

    async def _wait(self, request: Request, job: Job[Outcome]) -> Outcome:
        """Wait for the outcome, no longer than the deadline and no longer than the client."""
        gone = asyncio.ensure_future(_wait_for_disconnect(request))
        try:
            outcome = await self._service.wait(self._operation, job, gone)
        finally:
            gone.cancel()
        if outcome is None:
            raise ClientDisconnect
        return outcome


async def _answer_health(_: Request) -> Response:
    return Response(b'{"status":"ok"}\n', media_type=JSON, headers=HEADERS)


async def _answer_document(mounts: Sequence[MountedApp], _: Request) -> Response:
    body = await asyncio.to_thread(encode_document, *(one.describe for one in mounts))
    return Response(body, media_type=JSON, headers=HEADERS)


async def _read_body(request: Request) -> bytes:
    """Return the body of a request."""
    raw = await request.body()
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if raw and media != JSON:
        cause = f"the content type is not `{JSON}`: {media or 'none'}"
        raise Refusal(UsageInvalid(option="Content-Type", cause=cause), _WRONG_TYPE)
    return raw


async def _frame_lines(lines: AsyncIterator[bytes], kind: str) -> AsyncIterator[bytes]:
    before, after = (b"data: ", b"\n\n") if kind == EVENT_STREAM else (b"", b"\n")
    try:
        async for line in lines:
            yield before + line + after
    finally:
        await lines.aclose()  # type: ignore[attr-defined]


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _build_response(outcome: Outcome, headers: dict[str, str] | None = None) -> Response:
    more = dict(headers or {})
    reply = outcome.reply
    if isinstance(reply, ErrorReply) and reply.retry_after_ms and outcome.status in (429, 503):
        more["Retry-After"] = str(ceil(reply.retry_after_ms / 1000))
    return Response(outcome.body, outcome.status, {**HEADERS, **more}, JSON)


async def _build_error_response(
    service: Service, scope: Scope, fault: Exception, mounts: Sequence[MountedApp] = ()
) -> AsgiApp:
    """Return the response to a request that never became an operation, or was given up."""
    if isinstance(fault, ClientDisconnect):
        return Response(status_code=_CLIENT_GONE)
    status, headers, signal = None, {}, fault
    if isinstance(fault, Refusal):
        status, headers, signal = fault.status, fault.headers, fault.signal
    elif isinstance(fault, HTTPException):
        headers = dict(fault.headers or {})
        if scope["method"] == "OPTIONS" and "Allow" in headers:
            return Response(status_code=204, headers=headers)
        status, signal = fault.status_code, _describe_route(fault, scope)
    name = _PATHS.get(scope["path"], SERVER)
    outcome = await asyncio.to_thread(service.refuse, name, signal, status)
    for mount in mounts:
        error = cast("ErrorReply", outcome.reply)
        if mount.show_error and (page := mount.show_error(scope, error, outcome.status)):
            return page
    return _build_response(outcome, headers)


def _describe_route(fault: HTTPException, scope: Scope) -> Signal:
    if "Allow" in (fault.headers or {}):
        cause = f"this path does not take the method: {scope['method']}"
        return UsageInvalid(option="method", cause=cause)
    return UsageInvalid(option="path", cause=f"no such path: {scope['path']}")
