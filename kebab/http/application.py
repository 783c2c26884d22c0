"""Builds the ASGI application: one route for each operation, and the documents about them."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from math import ceil
from typing import Any

from kebab.app.trace import HEADER, accept_trace
from kebab.errors.catalog import TimedOut, UsageInvalid
from kebab.errors.signal import Signal
from kebab.errors.system import translate_import_errors
from kebab.http.events import EventStream, build_stream
from kebab.http.guard import Admission, AsgiApp, Guard, Receive, Refusal, Scope, Send
from kebab.http.jobs import Job
from kebab.http.openapi import DOCUMENT_PATH, HEALTH_PATH, build_path, encode_document
from kebab.http.service import Outcome, Service
from kebab.wire.error import ErrorReply
from kebab.wire.operations import OPERATIONS

with translate_import_errors("the HTTP server", "starlette", extra="serve"):
    from starlette.exceptions import HTTPException
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import Response, StreamingResponse
    from starlette.routing import BaseRoute, Route, Router

SERVER = "serve"
"""The command in errors that belong to no operation."""

JSON, NDJSON, EVENT_STREAM = "application/json", "application/x-ndjson", "text/event-stream"

_WRONG_TYPE, _CLIENT_GONE = 415, 499
_BODY_TIMEOUT_S = 30.0
_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
_PATHS = {build_path(name): name for name in OPERATIONS}
"""The operation of each path."""


@dataclass(frozen=True, slots=True)
class MountedApp:
    """Another ASGI application at a path of the server, with what has to run around it."""

    path: str
    app: AsgiApp
    lifespan: Callable[[], AbstractAsyncContextManager[object]] | None = None

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
        return await _build_error_response(service, scope, fault)

    routes: list[BaseRoute] = [
        *(
            Route(path, _OperationEndpoint(service, name).answer, methods=["POST"])
            for path, name in _PATHS.items()
        ),
        Route(HEALTH_PATH, _answer_health, methods=["GET"]),
        Route(DOCUMENT_PATH, _answer_document, methods=["GET"]),
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
        kind = _choose_stream_type(request)
        stream = build_stream(self._operation) if kind else None
        job = self._service.submit(self._operation, raw, stream.report if stream else None)
        if stream is None or not await self._has_started(stream, job):
            return _build_response(await self._wait(request, job))
        lines = stream.iterate_lines(job)
        return StreamingResponse(
            _frame_lines(lines, str(kind)), media_type=kind, headers={**_HEADERS}
        )

    async def _has_started(self, stream: EventStream, job: Job[Outcome]) -> bool:
        """Wait for the first event; work whose client goes away meanwhile is stopped."""
        try:
            return await stream.has_started(job)
        except BaseException:  # a client that leaves cancels this task, which is no `Exception`
            job.stop()
            raise

    async def _wait(self, request: Request, job: Job[Outcome]) -> Outcome:
        """Wait for the outcome, no longer than the deadline and no longer than the client."""
        limit_s = self._service.get_deadline(self._operation)
        gone = asyncio.ensure_future(_wait_for_disconnect(request))
        first: set[asyncio.Future[Any]] = {job.future, gone}
        try:
            await asyncio.wait(first, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
            if job.future.done():
                return job.future.result()
            if gone.done():
                raise ClientDisconnect
        finally:
            gone.cancel()
            job.stop()
        limit_ms = round((limit_s or 0) * 1000)
        raise TimedOut(operation=self._operation, elapsed_ms=limit_ms, deadline_ms=limit_ms)


async def _answer_health(_: Request) -> Response:
    return Response(b'{"status":"ok"}\n', media_type=JSON, headers=_HEADERS)


async def _answer_document(_: Request) -> Response:
    return Response(await asyncio.to_thread(encode_document), media_type=JSON, headers=_HEADERS)


async def _read_body(request: Request) -> bytes:
    """Return the body of a request.

    Raises:
        Refusal: It is too large, too slow, or declared to be something else than JSON.
    """
    try:
        async with asyncio.timeout(_BODY_TIMEOUT_S):
            raw = await request.body()
    except TimeoutError:
        limit_ms = round(_BODY_TIMEOUT_S * 1000)
        late = TimedOut(operation="request body", elapsed_ms=limit_ms, deadline_ms=limit_ms)
        raise Refusal(late, headers={"Connection": "close"}) from None
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if raw and media != JSON:
        cause = f"the content type is not `{JSON}`: {media or 'none'}"
        raise Refusal(UsageInvalid(option="Content-Type", cause=cause), _WRONG_TYPE)
    return raw


def _choose_stream_type(request: Request) -> str | None:
    """Return the content type of events if the client accepts one, else None."""
    accepted = request.headers.get("accept", "").lower()
    return next((kind for kind in (NDJSON, EVENT_STREAM) if kind in accepted), None)


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
    return Response(outcome.body, outcome.status, {**_HEADERS, **more}, JSON)


async def _build_error_response(service: Service, scope: Scope, fault: Exception) -> AsgiApp:
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
    return _build_response(outcome, headers)


def _describe_route(fault: HTTPException, scope: Scope) -> Signal:
    if "Allow" in (fault.headers or {}):
        cause = f"this path does not take the method: {scope['method']}"
        return UsageInvalid(option="method", cause=cause)
    return UsageInvalid(option="path", cause=f"no such path: {scope['path']}")
