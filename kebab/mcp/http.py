"""Serves clients over HTTP: an ASGI application that answers each request with one JSON object."""

import asyncio
from base64 import b64decode
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import msgspec

from kebab.mcp import protocol
from kebab.mcp.calls import INVALID_PARAMS, Call, RequestError, RunningCalls, ToolCaller

_HEADER_MISMATCH = -32020
_STATUSES = {
    protocol.PARSE_ERROR: 400,
    protocol.INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    _HEADER_MISMATCH: 400,
    protocol.UNSUPPORTED_VERSION: 400,
    protocol.METHOD_NOT_FOUND: 404,
}
"""The status of an error to a request with an envelope."""
_VERSION, _METHOD, _NAME = b"mcp-protocol-version", b"mcp-method", b"mcp-name"
_NAMED_BY = {"tools/call": "name", "resources/read": "uri"}
"""The field that the header `Mcp-Name` repeats."""
_JSON = {"application/json", "application/*", "*/*"}

_STOP_S = 2.0
"""The longest wait for work to stop when the server ends."""

Body = bytes | dict[str, Any]
_Message = MutableMapping[str, Any]


class McpApplication:
    """The ASGI application; each request stands alone.

    Neither the token nor `Host` and `Origin` are checked here: the server in front of it does.

    Args:
        caller: Runs the tools.
    """

    def __init__(self, caller: ToolCaller) -> None:
        self._protocol = protocol.Protocol(caller, caller.describe_index)
        self._calls = RunningCalls()

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Serve while the context is open."""
        try:
            yield
        finally:
            await asyncio.to_thread(self._calls.stop, _STOP_S)

    async def __call__(
        self,
        scope: _Message,
        receive: Callable[[], Awaitable[_Message]],
        send: Callable[[_Message], Awaitable[None]],
    ) -> None:
        """Answer a request; there is no stream of messages to open with GET."""
        headers = [(b"content-type", b"application/json")]
        if scope["method"] != "POST":
            status, body = 405, b""
            headers = [(b"allow", b"POST")]
        else:
            status, answer = await self._respond(Headers(scope["headers"]), receive)
            body = answer if isinstance(answer, bytes) else msgspec.json.encode(answer)
        headers.append((b"content-length", b"%d" % len(body)))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _respond(
        self, headers: "Headers", receive: Callable[[], Awaitable[_Message]]
    ) -> tuple[int, Body]:
        """Return the status and the body of the answer to a request."""
        if not headers.list_media(b"accept") & _JSON:
            return 406, _refuse("Not Acceptable: the client must accept application/json")
        if "application/json" not in headers.list_media(b"content-type"):
            return 415, _refuse("Unsupported Media Type: it must be application/json")
        raw = bytearray()
        while (part := await receive())["type"] == "http.request":
            raw += part.get("body", b"")
            if not part.get("more_body"):
                break
        message: protocol.Message | None = None
        session = protocol.Session(is_open=True, client=headers.get(b"user-agent"))
        if headers.get(_VERSION) not in (None, *protocol.HANDSHAKE_VERSIONS):
            session.is_stateless = True
        try:
            message = protocol.decode_message(bytes(raw))
            if message.id is msgspec.UNSET or message.method is msgspec.UNSET:
                return 202, b""
            session.admit(message)
            if session.is_stateless:
                headers.check(message)
        except RequestError as fault:
            number = message.id if message else None
            return _STATUSES[fault.code], protocol.build_error(number, fault)
        answer = await self._answer(message, session)
        code = answer.get("error", {}).get("code")
        return (_STATUSES.get(code, 200) if session.is_stateless else 200), answer

    async def _answer(self, message: protocol.Message, session: protocol.Session) -> dict[str, Any]:
        """Answer a request in another thread."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[dict[str, Any]] = loop.create_future()

        def answer(call: Call) -> None:
            response = self._protocol.answer(message, session, cancel=call.cancel)
            with suppress(RuntimeError):  # the event loop has ended
                loop.call_soon_threadsafe(finish, response)

        def finish(response: dict[str, Any]) -> None:
            if not future.done():
                future.set_result(response)

        call = Call(answer)
        self._calls.start(call)
        try:
            return await future
        except asyncio.CancelledError:
            self._calls.give_up(call)
            raise


class Headers:
    """The headers of a request."""

    def __init__(self, pairs: list[tuple[bytes, bytes]]) -> None:
        self._pairs = pairs

    def get(self, name: bytes) -> str | None:
        """Return the first value of a header."""
        return next((value.decode("latin-1") for key, value in self._pairs if key == name), None)

    def list_media(self, name: bytes) -> set[str]:
        """Return the media types of all headers of a name, without their parameters."""
        types = b",".join(value for key, value in self._pairs if key == name)
        return {one.partition(";")[0].strip() for one in types.decode("latin-1").lower().split(",")}

    def check(self, message: protocol.Message) -> None:
        """Check that a request has an envelope, and that the headers repeat what it says.

        Raises:
            RequestError: It has none, or they differ.
        """
        names = [key for key, _ in self._pairs if key in (_VERSION, _METHOD, _NAME)]
        for name in {key for key in names if names.count(key) > 1}:
            raise _build_mismatch(f"{name.decode()} appears more than once")
        version = message.read_meta().get(protocol.VERSION_KEY)
        if version is None or version == self.get(_VERSION):
            protocol.check_envelope(message)
        else:
            raise _build_mismatch(f"{_VERSION.decode()} is not that of the request")
        if self.get(_METHOD) != message.method:
            raise _build_mismatch(f"{_METHOD.decode()} is not that of the request")
        named = (message.params or {}).get(_NAMED_BY.get(str(message.method), ""))
        if named is not None and _decode(self.get(_NAME)) != named:
            raise _build_mismatch(f"{_NAME.decode()} is not that of the request")


def _decode(value: str | None) -> str | None:
    """Return the text of a header; one that no header can hold is sent as Base64."""
    if value is None or not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return b64decode(value[len("=?base64?") : -len("?=")], validate=True).decode()
    except ValueError:
        return None


def _build_mismatch(cause: str) -> RequestError:
    return RequestError(f"the header {cause}", code=_HEADER_MISMATCH)


def _refuse(cause: str) -> dict[str, Any]:
    return protocol.build_error(None, RequestError(cause, code=protocol.INVALID_REQUEST))
