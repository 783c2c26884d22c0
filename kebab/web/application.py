"""The routes of the web page: search, the reader, pictures, assets, and how a browser gets in."""

import asyncio
import hashlib
import ipaddress
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeVar, Union, cast
from urllib.parse import parse_qs, urlencode

import msgspec
from msgspec import Meta, Struct

from kebab.core.media import MEDIA_TYPES
from kebab.errors.catalog import Unauthorized, UsageInvalid
from kebab.errors.system import translate_import_errors
from kebab.web.markup import Html, build_tag
from kebab.web.pages import (
    FILTERS,
    Shell,
    build_bar,
    build_entrance,
    build_error,
    build_main,
    build_page,
    build_results,
)
from kebab.web.pictures import PageTask
from kebab.web.reader import (
    Missing,
    ReadRequest,
    build_article,
    find_page,
    find_picture,
    find_place,
    load_part,
    read_picture,
)
from kebab.web.sessions import Sessions, build_cookie
from kebab.web.workers import RenderWorkers
from kebab.wire.library import FetchResult
from kebab.wire.operations import find_operation
from kebab.wire.record import LookupFault, NotFound, Reply, Request, decode_request, encode_json
from kebab.wire.search import SearchRequest

with translate_import_errors("the web page", "starlette", extra="serve"):
    from starlette.exceptions import HTTPException
    from starlette.requests import Request as HttpRequest
    from starlette.responses import RedirectResponse, Response

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from kebab.wire.error import ErrorReply

R = TypeVar("R", bound=Reply)

STATIC = Path(__file__).with_name("static")
_ASSET_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
_TYPES = "types.js"
_MODULE = re.compile(rb'"\./([\w.-]+\.js)"')
_IMPORT = re.compile(rb'(?:from|import) ?"\./([\w.-]+\.js)"')
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
_REQUEST_FIELDS = {"type": "media"}
"""The fields of a search whose names differ from those of the address."""
_PICTURE_POLICY = "default-src 'none'; sandbox"
_HITS = 20
_MOST_FIELDS = 50
_NUMBER = re.compile(r"[0-9]{1,9}")
_SCALE = re.compile(r"\d{1,2}(?:\.\d{1,4})?")
_USUAL_SCALE = 1.5
"""Pixels for each point of a page."""


class Answer(Protocol):
    """The reply to a request; `reply` may be None where it was not an error."""

    @property
    def status(self) -> int:
        """The HTTP status."""

    @property
    def reply(self) -> Reply | None:
        """The reply."""

    @property
    def body(self) -> bytes:
        """The reply as JSON."""

    @property
    def failed(self) -> bool:
        """Whether it is `error.v1`."""


class PageOptions(Struct, frozen=True, kw_only=True):
    """What the page needs of its server.

    `answer` runs an operation, given its name and its request as JSON. `open_file` opens a document
    at a line in the editor of the user, and is None where the server may not.
    """

    answer: Callable[[str, bytes], Awaitable[Answer]]
    sessions: Sessions
    allow_write: bool = False
    open_file: Callable[[FetchResult, int], None] | None = None


class OpenRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """The document to open, and the line."""

    doc: str
    line: Annotated[int, Meta(ge=1)] = 1


class Failed(Exception):  # noqa: N818 - it carries a reply
    """An operation ended with `error.v1`."""

    def __init__(self, answer: Answer) -> None:
        super().__init__()
        self.answer = answer


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
        self.links = {name: f"/static/{name}?v={self.digest}" for name in self.files}
        self.modules = self._list_imports("app.js", [])
        for name, data in self.files.items():
            if name.endswith(".js"):
                named = rb'"./\1?v=' + self.digest.encode() + b'"'
                self.files[name] = _MODULE.sub(named, data)

    def _list_imports(self, name: str, known: list[str]) -> list[str]:
        """Return the modules that a module needs before it runs, with those that they need."""
        for match in _IMPORT.finditer(self.files.get(name, b"")):
            other = match[1].decode()
            if other not in known and other in self.files:
                known = self._list_imports(other, [*known, other])
        return known


class WebPage:
    """The page; `routes` has a handler for each path with its method.

    Neither tokens nor `Host` and `Origin` are checked here: the server in front of it does.
    """

    def __init__(self, options: PageOptions) -> None:
        self._options = options
        self._assets = Assets()
        self._shell = Shell(self._assets.links, self._assets.modules, options.allow_write)
        self._workers = RenderWorkers()
        self.open_paths = {"/login", *(f"/static/{name}" for name in self._assets.files)}
        """The paths that need neither a token nor a session."""
        self.routes: Mapping[str, Endpoint] = {
            path: Endpoint(self, method, handler)
            for path, method, handler in (
                ("/", "GET", self._show_page),
                ("/static/{name}", "GET", self._send_asset),
                ("/read/{doc}", "GET", self._read),
                ("/read/{doc}/page/{number}.png", "GET", self._send_page_picture),
                ("/read/{doc}/image", "GET", self._send_picture),
                ("/page/open", "POST", self._open_file),
                ("/login", "GET", self._log_in),
                ("/logout", "POST", self._log_out),
            )
        }

    @asynccontextmanager
    async def run(self) -> "AsyncIterator[None]":
        """Serve while the context is open."""
        tidying = asyncio.create_task(self._workers.end_unused())
        try:
            yield
        finally:
            tidying.cancel()
            self._workers.close()

    def admits(self, scope: Mapping[str, Any], cookies: str) -> bool:
        """Return whether the cookies of a request have a session of this server."""
        return self._options.sessions.admits(cookies, scope["server"][1])

    def show_error(
        self, scope: Mapping[str, Any], error: "ErrorReply", status: int
    ) -> Response | None:
        """Return the page of an error, None for requests that want JSON or belong to others."""
        headers = dict(scope["headers"])
        accepts = headers.get(b"accept", b"").decode("latin-1").lower()
        wants_page = "text/html" in accepts and "application/json" not in accepts
        if scope["path"].startswith(("/v1/", "/mcp")) or not wants_page:
            return None
        if error.code == Unauthorized.code:
            return send_html(build_entrance(self._shell), status)
        return send_html(build_error(self._shell, error), status)

    async def _ask(self, request: Request[R]) -> R:
        """Return the reply to a request.

        Raises:
            Failed: The operation failed.
        """
        operation = find_operation(request)
        answer = await self._options.answer(operation.name, encode_json(request))
        if answer.failed:
            raise Failed(answer)
        if answer.reply is not None:
            return answer.reply  # type: ignore[return-value]
        kinds: Any = Union[operation.replies]  # noqa: UP007 - a tuple of types
        reply: R = msgspec.json.decode(answer.body, type=kinds)
        return reply

    async def _show_page(self, request: HttpRequest) -> Response:
        """Answer with the whole page, which needs no scripts to search and to read."""
        self._workers.prepare()
        fields = _read_fields(request)
        query = "".join(fields.get("q", ())).strip()
        results, reader = Html(), Html()
        try:
            if query:
                results = build_results(await self._ask(_build_search(query, fields)), fields)
            if doc := "".join(fields.get("doc", ())):
                reader = await self._render(_build_read_request(doc, fields))
        except Missing as missing:
            reader = build_tag("p", str(missing), class_="note")
        view = "".join(fields.get("view", ()))
        if view and view != "search":
            hint = "This view needs JavaScript. Search and reading work without."
            results = build_tag("noscript", build_tag("p", hint, class_="note"))
        title = f"{query} · kebab" if query else "kebab"
        body = [build_bar(fields), build_main(results, reader)]
        can_open = self._options.open_file is not None and _is_loopback(request)
        return send_html(build_page(self._shell._replace(can_open=can_open), title, body))

    async def _read(self, request: HttpRequest) -> Response:
        """Answer with a document as a part of the page."""
        fields = _read_fields(request)
        article = await self._render(_build_read_request(request.path_params["doc"], fields))
        return send_html(article.encode())

    async def _render(self, request: ReadRequest) -> Html:
        part = await load_part(self._ask, request)
        bodies = [await self._workers.render(task) for task in part.tasks]
        return build_article(part, bodies, request.at)

    async def _send_page_picture(self, request: HttpRequest) -> Response:
        """Answer with a page of a PDF file as PNG, with the passage marked."""
        fields = _read_fields(request)
        wanted = _build_read_request(request.path_params["doc"], fields)
        number = _read_number(request.path_params["number"])
        file, passage = await find_page(self._ask, wanted, number)
        scale = "".join(fields.get("scale", ()))
        factor = float(scale) if _SCALE.fullmatch(scale) else _USUAL_SCALE
        task = PageTask(file, number, factor, passage.text, passage.quote)
        data = await self._workers.run(task, file)
        if data is None:
            raise Missing(f"this document has no page {number}")
        return Response(data, headers={**HEADERS, "Content-Type": "image/png"})

    async def _send_picture(self, request: HttpRequest) -> Response:
        """Answer with a picture that lies in the folder of the source of a document."""
        source = request.query_params.get("src", "")
        place = await find_picture(self._ask, request.path_params["doc"], source)
        data, kind = await asyncio.to_thread(read_picture, place)
        headers = {**HEADERS, "Content-Type": kind, "Content-Security-Policy": _PICTURE_POLICY}
        return Response(data, headers=headers)

    async def _open_file(self, request: HttpRequest) -> Response:
        """Open a document in the editor of the user, who sits at the machine of the server."""
        if self._options.open_file is None or not _is_loopback(request):
            cause = "only a browser on the machine of the server may open files"
            raise UsageInvalid(option="path", cause=cause)
        wanted = decode_request(await request.body(), OpenRequest)
        found = await find_place(self._ask, wanted.doc, wanted.line)
        await asyncio.to_thread(self._options.open_file, found, wanted.line)
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
        session = self._options.sessions.open(request.query_params.get("ticket", ""))
        if session is None:
            cause = "This link does not count: it was used, it is older than two minutes, or it is"
            return send_html(build_entrance(self._shell, f"{cause} of another server."), 401)
        query = _read_fields(request)
        query.pop("ticket", None)
        target = f"/?{urlencode(query, doseq=True)}" if query else "/"
        port = request.scope["server"][1]
        headers = {**HEADERS, "Set-Cookie": build_cookie(session, port)}
        return RedirectResponse(target, 303, headers)

    async def _log_out(self, request: HttpRequest) -> Response:
        """End the session of a browser."""
        port = request.scope["server"][1]
        self._options.sessions.close(request.headers.get("cookie", ""), port)
        page = build_entrance(self._shell, "This browser is signed out.")
        headers = {"Set-Cookie": build_cookie("", port), "Clear-Site-Data": '"cache"'}
        return send_html(page, 200, headers)


class Endpoint:
    """A path with one method, as an ASGI application; `page` words what goes wrong."""

    def __init__(
        self, page: WebPage, method: str, handler: Callable[[HttpRequest], Awaitable[Response]]
    ) -> None:
        self._page = page
        self._methods = {"GET", "HEAD"} if method == "GET" else {method}
        self._handler = handler

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        if scope["method"] not in self._methods:
            raise HTTPException(405, headers={"Allow": ", ".join(sorted(self._methods))})
        try:
            response = await self._handler(HttpRequest(scope, receive))
        except Missing as missing:
            response = _answer_missing(scope, str(missing))
        except Failed as failed:
            answer = failed.answer
            error = cast("ErrorReply", answer.reply)
            response = self._page.show_error(scope, error, answer.status) or Response(
                answer.body, answer.status, HEADERS, "application/json"
            )
        await response(scope, receive, send)


def _answer_missing(scope: Any, message: str) -> Response:
    """Return that there is no such thing, as JSON to a client that asks for it."""
    if b"application/json" in dict(scope["headers"]).get(b"accept", b""):
        fault = LookupFault(kind="not_found", message=message, retryable=False, candidates=[])
        body = encode_json(NotFound(name=scope["path"], found=False, error=fault))
        return Response(body, 404, HEADERS, "application/json")
    note = build_tag("p", message, class_="note")
    return send_html(build_tag("article", note, class_="doc").encode(), 404)


def send_html(body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return an answer with HTML."""
    media = "text/html; charset=utf-8"
    return Response(body, status, {**HEADERS, **(headers or {})}, media_type=media)


def _is_loopback(request: HttpRequest) -> bool:
    """Return whether a request comes from the machine of the server."""
    try:
        return ipaddress.ip_address(request.client.host if request.client else "").is_loopback
    except ValueError:
        return False


def _build_search(query: str, fields: Mapping[str, list[str]]) -> SearchRequest:
    """Return the search that the address of the page asks for."""
    values: dict[str, Any] = {}
    for name in FILTERS:
        given = [part.strip() for one in fields.get(name, ()) for part in one.split(",")]
        given = [part for part in given if part]
        if given:
            is_date = name in {"since", "until"}
            values[_REQUEST_FIELDS.get(name, name)] = given[0] if is_date else given
    return SearchRequest(query=query, limit=_HITS, **values)


def _build_read_request(doc: str, fields: Mapping[str, list[str]]) -> ReadRequest:
    begin = "".join(fields.get("from", ()))
    return ReadRequest(
        doc=doc,
        at="".join(fields.get("at", ())),
        quote="".join(fields.get("quote", ())),
        begin=_read_number(begin),
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


_PARAMETERS = {
    "q": "The query.",
    "doc": "The id of the open document.",
    "at": "The id of a passage, a reference of the document, or lines such as `12-14`.",
    "quote": "A quotation to mark.",
    "from": "The line at which a part of a long document begins.",
    "view": "`search`, `ask`, `status`, `timeline` or `graph`.",
    "v": "The digest of the file.",
    "scale": "Pixels for each point of the page.",
    "src": "The path of the picture, relative to the document.",
    "ticket": "What lets a browser in, once and for two minutes.",
    **dict.fromkeys(FILTERS, "A filter of the search; several values have commas between them."),
}
_ROUTES = (
    (
        "/",
        "page",
        "Return the web page.",
        "text/html",
        ("q", *FILTERS, "doc", "at", "quote", "from", "view"),
    ),
    ("/static/{name}", "asset", "Return a file of the web page.", "*/*", ("v",)),
    ("/read/{doc}", "read", "Return a document as HTML.", "text/html", ("at", "quote", "from")),
    (
        "/read/{doc}/page/{number}.png",
        "read_page",
        "Return a page of a PDF document.",
        "image/png",
        ("at", "quote", "scale"),
    ),
    ("/read/{doc}/image", "read_image", "Return a picture beside a document.", "image/*", ("src",)),
    ("/login", "login", "Let a browser in, and lead it to the page.", "text/html", ("ticket",)),
    ("/logout", "logout", "End the session of this browser.", "text/html", ()),
    (
        "/page/open",
        "open_file",
        "Open a document in the editor of the user; the body is an object with `doc` and `line`.",
        "application/json",
        (),
    ),
)
_POSTS = {"logout", "open_file"}
_PATH_FIELD = re.compile(r"\{(\w+)\}")


def describe_routes() -> dict[str, dict[str, Any]]:
    """Return the paths of the page for the OpenAPI document."""
    refused = {status: {"$ref": "#/components/responses/Error"} for status in ("4XX", "5XX")}
    found: dict[str, dict[str, Any]] = {}
    for path, name, summary, media, query in _ROUTES:
        fields = [(field, "path", "") for field in _PATH_FIELD.findall(path)]
        fields += [(field, "query", _PARAMETERS[field]) for field in query]
        parameters = [
            {
                "name": field,
                "in": place,
                "required": place == "path",
                "schema": {"type": "integer" if field == "number" else "string"},
                **({"description": text} if text else {}),
            }
            for field, place, text in fields
        ]
        content = {media: {"schema": {"type": "string"}}}
        found[path] = {
            "post" if name in _POSTS else "get": {
                "operationId": name,
                "summary": summary,
                "parameters": parameters,
                "responses": {"200": {"description": "The answer.", "content": content}, **refused},
            }
        }
    return found
