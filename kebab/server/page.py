"""The web page: static files that call the published API, and the routes that only the page needs.

Those render documents and snippets, show pictures, open the editor, and let a browser in.
"""

import asyncio
import hashlib
import ipaddress
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar
from urllib.parse import parse_qs, urlencode

from msgspec import Meta, Struct

from kebab import __version__
from kebab.core.media import MEDIA_TYPES
from kebab.errors.catalog import Unauthorized, UsageInvalid
from kebab.errors.system import translate_import_errors
from kebab.server.markup import Html, build_tag
from kebab.server.pictures import read_picture
from kebab.server.reader import (
    NO_PICTURE,
    Missing,
    ReadRequest,
    build_article,
    find_picture,
    find_place,
    load_part,
)
from kebab.server.rendering import render
from kebab.server.requests import Operations, Outcome
from kebab.server.sessions import Sessions, build_cookie
from kebab.server.snippets import TextToRender, render_text
from kebab.wire.operations import find_operation
from kebab.wire.record import LookupFault, NotFound, Reply, Request, decode_request, encode_json

with translate_import_errors("the web page", "starlette", extra="serve"):
    from starlette.exceptions import HTTPException
    from starlette.requests import Request as HttpRequest
    from starlette.responses import RedirectResponse, Response
    from starlette.routing import Route

R = TypeVar("R", bound=Reply)
Handler = Callable[[HttpRequest], Awaitable[Response]]

STATIC = Path(__file__).with_name("static")
_ASSET_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
_TYPES = "types.js"
_MODULE = re.compile(rb'"\./([\w.-]+\.js)"')
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
_FOREVER = "private, max-age=31536000, immutable"
_PICTURE_POLICY = "default-src 'none'; sandbox"
_MOST_FIELDS = 50
_NUMBER = re.compile(r"[0-9]{1,9}")


class OpenRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """The document to open, and the line."""

    doc: str
    line: Annotated[int, Meta(ge=1)] = 1


class RenderRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """Snippets or answers to render."""

    texts: Annotated[list[TextToRender], Meta(max_length=200)]


class Failed(Exception):  # noqa: N818 - it carries an outcome
    """An operation ended with `error.v1`."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__()
        self.outcome = outcome


class Assets:
    """The files of the page by name, in memory; `digest` is one of all of them.

    A module names another as `"./name.js"`. The digest is added to that, so that all of them are
    of one version and are kept as long as it is the same. `types.js` is made here: the labels of
    media types, which are those of the terminal.
    """

    def __init__(self, folder: Path = STATIC) -> None:
        files = [one for one in sorted(folder.glob("*")) if one.suffix in _ASSET_TYPES]
        labels = {media.name: media.label for media in MEDIA_TYPES}
        self.files = {one.name: one.read_bytes() for one in files}
        self.files[_TYPES] = f"export const TYPES = {json.dumps(labels)};\n".encode()
        self.digest = hashlib.sha256(repr(self.files).encode()).hexdigest()[:16]
        for name, data in self.files.items():
            if name.endswith(".js"):
                named = rb'"./\1?v=' + self.digest.encode() + b'"'
                self.files[name] = _MODULE.sub(named, data)

    def link(self, name: str) -> str:
        """Return the address of a file, which is kept as long as the files are the same."""
        return f"/static/{name}?v={self.digest}"


class WebPage:
    """The page and its routes.

    Neither tokens nor `Host` and `Origin` are checked here: the guard in front of it does.
    """

    def __init__(self, operations: Operations, sessions: Sessions) -> None:
        self._operations = operations
        self._sessions = sessions
        self._assets = Assets()
        self.open_paths = {"/login", *(f"/static/{name}" for name in self._assets.files)}
        """The paths that need neither a token nor a session."""
        self.routes = [
            Route(path, self._wrap(handler), methods=[method])
            for path, method, handler in (
                ("/", "GET", self._show_page),
                ("/static/{name}", "GET", self._send_asset),
                ("/read/{doc}", "GET", self._read),
                ("/read/{doc}/image", "GET", self._send_picture),
                ("/page/render", "POST", self._render_texts),
                ("/page/open", "POST", self._open_file),
                ("/login", "GET", self._log_in),
                ("/logout", "POST", self._log_out),
            )
        ]

    def admits(self, scope: Mapping[str, Any], cookies: str) -> bool:
        """Return whether the cookies of a request have a session of this server."""
        return self._sessions.admits(cookies, scope["server"][1])

    def show_error(self, scope: Mapping[str, Any], outcome: Outcome) -> Response | None:
        """Return the page of an error, None for requests that want JSON or belong to others."""
        accepts = dict(scope["headers"]).get(b"accept", b"").decode("latin-1").lower()
        wants_page = "text/html" in accepts and "application/json" not in accepts
        if scope["path"].startswith(("/v1/", "/mcp")) or not wants_page:
            return None
        error: Any = outcome.reply
        if error.code == Unauthorized.code:
            return self._build_entrance("", outcome.status)
        lines = [build_tag("h1", "Error"), build_tag("p", error.message)]
        if error.hint:
            lines.append(build_tag("p", "hint: ", build_tag("code", error.hint)))
        return self._build_message(lines, outcome.status)

    def _wrap(self, handler: Handler) -> Handler:
        """Return a handler that words what goes wrong."""

        async def answer(request: HttpRequest) -> Response:
            try:
                return await handler(request)
            except Missing as missing:
                return _answer_missing(request.scope, str(missing))
            except Failed as failed:
                outcome = failed.outcome
                return self.show_error(request.scope, outcome) or Response(
                    outcome.body, outcome.status, HEADERS, "application/json"
                )

        return answer

    async def _ask(self, request: Request[R]) -> R:
        """Return the reply to a request.

        Raises:
            Failed: The operation failed.
        """
        operation = find_operation(request).name
        outcome = await self._operations.answer(operation, encode_json(request))
        if outcome.failed:
            raise Failed(outcome)
        return outcome.reply  # type: ignore[return-value]

    async def _show_page(self, request: HttpRequest) -> Response:
        """Answer with the page, which its scripts fill."""
        link = self._assets.link
        hint = "This page needs JavaScript. In a terminal: kebab search QUERY"
        head = [
            build_tag("link", rel="stylesheet", href=link("app.css")),
            build_tag("script", type="module", src=link("app.js")),
        ]
        flags = {
            "data_kebab_version": __version__,
            "data_allow_write": str(self._operations.options.allow_write).lower(),
            "data_can_open": str(_is_loopback(request)).lower(),
        }
        return self._build_page("kebab", head, build_tag("noscript", hint), flags)

    def _build_page(
        self, title: str, head: list[Html], body: Html, flags: Mapping[str, str], status: int = 200
    ) -> Response:
        """Return a whole HTML document."""
        metas = [
            build_tag("meta", charset="utf-8"),
            build_tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            build_tag("meta", name="color-scheme", content="light dark"),
            build_tag("title", title),
            build_tag("link", rel="icon", type="image/svg+xml", href=self._assets.link("icon.svg")),
        ]
        page = build_tag(
            "html",
            build_tag("head", *metas, *head),
            build_tag("body", body, **flags),
            lang="en",
        )
        return send_html(f"<!doctype html>\n{page}\n".encode(), status)

    def _build_message(self, lines: list[Html], status: int) -> Response:
        link = build_tag("p", build_tag("a", "Search", href="/"))
        style = build_tag("link", rel="stylesheet", href=self._assets.link("app.css"))
        body = build_tag("main", *lines, link, class_="message")
        return self._build_page("kebab", [style], body, {}, status)

    def _build_entrance(self, cause: str, status: int) -> Response:
        """Return the page for a browser that is not let in."""
        where = "This browser is not signed in. Run this on the machine of the server:"
        once = "It opens this page with a link that counts once, for two minutes."
        lines = [
            build_tag("h1", "kebab"),
            *([build_tag("p", cause)] if cause else []),
            build_tag("p", where),
            build_tag("pre", build_tag("code", "kebab open --web")),
            build_tag("p", once),
        ]
        return self._build_message(lines, status)

    async def _read(self, request: HttpRequest) -> Response:
        """Answer with a document as a part of the page."""
        fields = _read_fields(request)
        wanted = _build_read_request(request.path_params["doc"], fields)
        part = await load_part(self._ask, wanted)
        bodies = [await asyncio.to_thread(render, task) for task in part.tasks]
        return send_html(build_article(part, bodies).encode())

    async def _render_texts(self, request: HttpRequest) -> Response:
        """Answer with the HTML of snippets or answers."""
        wanted = decode_request(await request.body(), RenderRequest)
        found = await asyncio.to_thread(lambda: [render_text(one) for one in wanted.texts])
        return Response(json.dumps({"html": found}), 200, HEADERS, "application/json")

    async def _send_picture(self, request: HttpRequest) -> Response:
        """Answer with a picture that lies in the folder of the source of a document."""
        source = request.query_params.get("src", "")
        place = await find_picture(self._ask, request.path_params["doc"], source)
        found = await asyncio.to_thread(read_picture, place)
        if found is None:
            raise Missing(NO_PICTURE)
        data, kind = found
        headers = {**HEADERS, "Content-Type": kind, "Content-Security-Policy": _PICTURE_POLICY}
        return Response(data, headers=headers)

    async def _open_file(self, request: HttpRequest) -> Response:
        """Open a document in the editor of the user, who sits at the machine of the server."""
        if not _is_loopback(request):
            cause = "only a browser on the machine of the server may open files"
            raise UsageInvalid(option="path", cause=cause)
        wanted = decode_request(await request.body(), OpenRequest)
        found = await find_place(self._ask, wanted.doc, wanted.line)
        await asyncio.to_thread(self._operations.options.open_file, found, wanted.line)
        return Response(status_code=204, headers=HEADERS)

    async def _send_asset(self, request: HttpRequest) -> Response:
        """Answer with a file of the page, which is kept as long as its address has its digest."""
        name, digest = request.path_params["name"], self._assets.digest
        data = self._assets.files.get(name)
        if data is None:
            raise HTTPException(404)
        is_named = request.query_params.get("v") == digest
        tag = f'"{digest}"'
        headers = {**HEADERS, "ETag": tag, "Cache-Control": _FOREVER if is_named else "no-cache"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        headers["Content-Type"] = _ASSET_TYPES[Path(name).suffix]
        return Response(data, headers=headers)

    async def _log_in(self, request: HttpRequest) -> Response:
        """Let a browser in that has a ticket, and lead it to the page."""
        session = self._sessions.open(request.query_params.get("ticket", ""))
        if session is None:
            cause = "This link does not count: it was used, it is older than two minutes, or it is"
            return self._build_entrance(f"{cause} of another server.", 401)
        query = _read_fields(request)
        query.pop("ticket", None)
        target = f"/?{urlencode(query, doseq=True)}" if query else "/"
        port = request.scope["server"][1]
        return RedirectResponse(target, 303, {**HEADERS, "Set-Cookie": build_cookie(session, port)})

    async def _log_out(self, request: HttpRequest) -> Response:
        """End the session of a browser."""
        port = request.scope["server"][1]
        self._sessions.close(request.headers.get("cookie", ""), port)
        page = self._build_entrance("This browser is signed out.", 200)
        page.headers["Set-Cookie"] = build_cookie("", port)
        page.headers["Clear-Site-Data"] = '"cache"'
        return page


def send_html(body: bytes, status: int = 200) -> Response:
    """Return an answer with HTML."""
    return Response(body, status, HEADERS, "text/html; charset=utf-8")


def _answer_missing(scope: Any, message: str) -> Response:
    """Return that there is no such thing, as JSON to a client that asks for it."""
    if b"application/json" in dict(scope["headers"]).get(b"accept", b""):
        fault = LookupFault(kind="not_found", message=message, retryable=False, candidates=[])
        body = encode_json(NotFound(name=scope["path"], found=False, error=fault))
        return Response(body, 404, HEADERS, "application/json")
    note = build_tag("p", message, class_="note")
    return send_html(build_tag("article", note, class_="doc").encode(), 404)


def _is_loopback(request: HttpRequest) -> bool:
    """Return whether a request comes from the machine of the server."""
    try:
        return ipaddress.ip_address(request.client.host if request.client else "").is_loopback
    except ValueError:
        return False


def _build_read_request(doc: str, fields: Mapping[str, list[str]]) -> ReadRequest:
    return ReadRequest(
        doc=doc,
        at="".join(fields.get("at", ())),
        quote="".join(fields.get("quote", ())),
        begin=_read_number("".join(fields.get("from", ()))),
    )


def _read_fields(request: HttpRequest) -> dict[str, list[str]]:
    """Return the fields of the address of a request."""
    try:
        return parse_qs(request.url.query, max_num_fields=_MOST_FIELDS)
    except ValueError as fault:
        cause = f"the address has more than {_MOST_FIELDS} fields"
        raise UsageInvalid(option="address", cause=cause) from fault


def _read_number(text: str) -> int:
    """Return a number in an address, 0 for anything else."""
    return int(text) if _NUMBER.fullmatch(text) else 0
