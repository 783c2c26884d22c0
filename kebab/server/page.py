"""The web page: static files that call the published API, and the routes that only the page needs.

Those render documents and snippets, show pictures, open the editor, and let a browser in.
"""

import asyncio
import json
import mimetypes
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Annotated, Any, TypeVar
from urllib.parse import urlencode

import msgspec
from msgspec import Meta, Struct

from kebab import __version__
from kebab.core.media import MEDIA_TYPES
from kebab.errors.catalog import ReadOnly, UsageInvalid
from kebab.errors.system import translate_import_errors
from kebab.llm.endpoint import read_address
from kebab.review.items import swap_copy
from kebab.server.reader import (
    ReadRequest,
    TextToRender,
    build_article,
    build_missing,
    find_picture,
    find_place,
    load_part,
    render_text,
)
from kebab.server.rendering import build_tag, escape, render
from kebab.server.requests import ALLOW_WRITE, Failed, Operations, Outcome
from kebab.server.running import Sessions, build_cookie
from kebab.wire.operations import find_operation
from kebab.wire.record import (
    NotFound,
    Reply,
    Request,
    decode_request,
    encode_json,
    to_invalid_input,
)

with translate_import_errors("the web page", "starlette", extra="serve"):
    from starlette.requests import Request as HttpRequest
    from starlette.responses import FileResponse, RedirectResponse, Response
    from starlette.routing import Route
    from starlette.staticfiles import StaticFiles

R = TypeVar("R", bound=Reply)

STATIC = Path(__file__).with_name("static")
_PAGE, _ENTRANCE = (
    Template((STATIC / name).read_text(encoding="utf-8")) for name in ("index.html", "message.html")
)
mimetypes.add_type("text/javascript", ".js")  # a system may have another type for it
mimetypes.add_type("image/webp", ".webp")
_UNAUTHORIZED = 401
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
    " form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_PICTURE_POLICY = "default-src 'none'; sandbox"


class OpenRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """The document to open, and the line."""

    doc: str
    line: Annotated[int, Meta(ge=1)] = 1


class UndoRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """The document whose original is put back, and the name of the copy beside it."""

    doc: str
    backup: str


class RenderRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """Snippets or answers to render."""

    texts: Annotated[list[TextToRender], Meta(max_length=200)]


_TYPES = escape(json.dumps({media.name: media.label for media in MEDIA_TYPES}))
"""The labels of media types, which are those of the terminal."""


class WebPage:
    """The page and its routes.

    Neither tokens nor `Host` and `Origin` are checked here: the guard in front of it does.
    """

    def __init__(self, operations: Operations, sessions: Sessions) -> None:
        self._operations = operations
        self._sessions = sessions
        self._assets = StaticFiles(directory=STATIC)
        self.open_paths = {"/login", *(f"/static/{one.name}" for one in STATIC.iterdir())}
        """The paths that need neither a token nor a session."""
        self.routes = [
            Route(path, handler, methods=[method])
            for path, method, handler in (
                ("/", "GET", self._show_page),
                ("/static/{name}", "GET", self._send_asset),
                ("/read/{doc}", "GET", self._read),
                ("/read/{doc}/image", "GET", self._send_picture),
                ("/page/render", "POST", self._render_texts),
                ("/page/open", "POST", self._open_file),
                ("/page/undo", "POST", self._undo_change),
                ("/login", "GET", self._log_in),
                ("/logout", "POST", self._log_out),
            )
        ]

    def admits(self, scope: Mapping[str, Any], cookies: str) -> bool:
        """Return whether the cookies of a request have a session of this server."""
        return self._sessions.admits(cookies, scope["server"][1])

    def show_error(self, scope: Mapping[str, Any], outcome: Outcome) -> Response | None:
        """Return the page for a browser that is not let in, None for any other error."""
        accepts = dict(scope["headers"]).get(b"accept", b"").decode("latin-1").lower()
        wants_page = "text/html" in accepts and not scope["path"].startswith(("/v1/", "/mcp"))
        is_refused = outcome.status == _UNAUTHORIZED and wants_page
        return send_entrance("", outcome.status) if is_refused else None

    async def _ask(self, request: Request[R | NotFound]) -> R:
        """Return the reply to a request.

        Raises:
            Failed: The operation failed, or there is no such document.
        """
        operation = find_operation(request).name
        outcome = await self._operations.answer(operation, encode_json(request))
        if isinstance(outcome.reply, NotFound):
            raise Failed(Outcome(404, outcome.reply))
        if outcome.failed:
            raise Failed(outcome)
        return outcome.reply  # type: ignore[return-value]

    async def _show_page(self, request: HttpRequest) -> Response:
        """Answer with the page, which its scripts fill."""
        page = _PAGE.substitute(
            version=__version__,
            types=_TYPES,
            allow_write=str(self._operations.options.allow_write).lower(),
            can_open=str(_is_loopback(request)).lower(),
        )
        return send_html(page)

    async def _read(self, request: HttpRequest) -> Response:
        """Answer with a document as a part of the page."""
        fields = {**request.query_params, "doc": request.path_params["doc"]}
        try:
            wanted = msgspec.convert(fields, ReadRequest, strict=False)
        except msgspec.ValidationError as fault:
            raise to_invalid_input(fault) from fault
        part = await load_part(self._ask, wanted)
        bodies = [await asyncio.to_thread(render, task) for task in part.tasks]
        return send_html(build_article(part, bodies))

    async def _render_texts(self, request: HttpRequest) -> Response:
        """Answer with the HTML of snippets or answers."""
        wanted = decode_request(await request.body(), RenderRequest)
        found = await asyncio.to_thread(lambda: [render_text(one) for one in wanted.texts])
        return Response(json.dumps({"html": found}), 200, HEADERS, "application/json")

    async def _send_picture(self, request: HttpRequest) -> Response:
        """Answer with a picture that lies in the folder of the source of a document."""
        source = request.query_params.get("src", "")
        place = await find_picture(self._ask, request.path_params["doc"], source)
        headers = {**HEADERS, "Content-Security-Policy": _PICTURE_POLICY}
        return FileResponse(place, 200, headers)

    async def _open_file(self, request: HttpRequest) -> Response:
        """Open a document in the editor of the user, who sits at the machine of the server."""
        if not _is_loopback(request):
            cause = "only a browser on the machine of the server may open files"
            raise UsageInvalid(option="path", cause=cause)
        wanted = decode_request(await request.body(), OpenRequest)
        found = await find_place(self._ask, wanted.doc, wanted.line)
        await asyncio.to_thread(self._operations.options.open_file, found, wanted.line)
        return Response(status_code=204, headers=HEADERS)

    async def _undo_change(self, request: HttpRequest) -> Response:
        """Put the original of a document back that a fix was applied to."""
        if not self._operations.options.allow_write:
            raise ReadOnly(operation="review --apply", needs=ALLOW_WRITE)
        wanted = decode_request(await request.body(), UndoRequest)
        found = await find_place(self._ask, wanted.doc, 1)
        if not await asyncio.to_thread(swap_copy, Path(str(found.file)), wanted.backup):
            raise build_missing(wanted.backup, "no such copy of the original")
        return Response(status_code=204, headers=HEADERS)

    async def _send_asset(self, request: HttpRequest) -> Response:
        """Answer with a file of the page, or that the browser has it already."""
        answer = await self._assets.get_response(request.path_params["name"], request.scope)
        answer.headers.update({**HEADERS, "Cache-Control": "no-cache"})
        return answer

    async def _log_in(self, request: HttpRequest) -> Response:
        """Let a browser in that has a ticket, and lead it to the page."""
        session = self._sessions.open(request.query_params.get("ticket", ""))
        if session is None:
            cause = "This link does not count: it was used, it is older than two minutes, or it is"
            return send_entrance(f"{cause} of another server.", 401)
        query = [one for one in request.query_params.multi_items() if one[0] != "ticket"]
        target = f"/?{urlencode(query)}" if query else "/"
        port = request.scope["server"][1]
        return RedirectResponse(target, 303, {**HEADERS, "Set-Cookie": build_cookie(session, port)})

    async def _log_out(self, request: HttpRequest) -> Response:
        """End the session of a browser."""
        port = request.scope["server"][1]
        self._sessions.close(request.headers.get("cookie", ""), port)
        page = send_entrance("This browser is signed out.", 200)
        page.headers["Set-Cookie"] = build_cookie("", port)
        page.headers["Clear-Site-Data"] = '"cache"'
        return page


def send_html(html: str, status: int = 200) -> Response:
    """Return an answer with HTML."""
    return Response(html, status, HEADERS, "text/html; charset=utf-8")


def send_entrance(cause: str, status: int) -> Response:
    """Return the page for a browser that is not let in."""
    message = build_tag("p", cause) if cause else ""
    return send_html(_ENTRANCE.substitute(message=message), status)


def _is_loopback(request: HttpRequest) -> bool:
    """Return whether a request comes from the machine of the server."""
    address = read_address(request.client.host if request.client else "")
    return address is not None and address.is_loopback
