"""Parses the errors of model servers, and maps them to signals by a table of rows.

One HTTP status has many meanings, and an error in the middle of a stream has none. Therefore the
rows for known texts come before the rows for statuses. The tables are in `error_tables`.
"""

import re
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from html import unescape
from typing import Any, TypeAlias

from kebab.errors.catalog import ModelRejected, Rejection
from kebab.errors.signal import Signal
from kebab.llm.endpoint import NO_KEY, ApiKey
from kebab.llm.http_client import (
    Call,
    format_one_line,
    parse_count,
    parse_json_object,
)
from kebab.llm.http_stream import ResponseHead
from kebab.llm.proxies import LOGIN_REQUIRED, describe_proxy_refusal, find_proxy_variable

_MAX_TEXT_CHARS = 4000
"""Real texts are far shorter; the rest is ignored."""
_MAX_NESTING = 3
_MAX_CONTENT_TYPE_CHARS = 60
_STATUS_DIGITS = 3
_OK = 200
_REDIRECT_STATUSES = range(300, 400)
_FORBIDDEN = 403
_GATEWAY_STATUSES = (502, 503, 504)
"""The statuses with which a proxy reports that it cannot reach the server."""
_QUERY_OR_LOGIN = re.compile(r"[?#].*|(?<=//)[^/@]*@", re.DOTALL)
_TITLE = re.compile(r"<title[^>]*>\s*([^<]{1,200})", re.IGNORECASE)
_ERROR_STATUSES = range(400, 600)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerError:
    """An error of a server: its text, the names of its kind, and its counts, or 0.

    `status` is the HTTP status in the error itself.
    """

    text: str
    kinds: frozenset[str] = frozenset()
    status: int = 0
    prompt_tokens: int = 0
    context_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """A request, with the facts that its errors report; `prompt_tokens` is an estimate."""

    call: Call
    path: str
    model: str
    errors: "ErrorTable"
    key: ApiKey = NO_KEY
    prompt_tokens: int = 0
    context_tokens: int = 0

    def redact(self, text: str) -> str:
        """Return a text of the server as one line without the key."""
        return format_one_line(self.key.redact(text[:_MAX_TEXT_CHARS]))

    def build_rejection(
        self,
        cause: str,
        reason: Rejection | None = None,
        setting: str | None = None,
        models: list[str] | None = None,
    ) -> ModelRejected:
        """Return the signal for a server that refuses the request."""
        call = self.call
        return ModelRejected(
            model=self.model,
            endpoint=call.endpoint.display_url,
            operation=call.operation,
            cause=cause,
            reason=reason,
            setting=setting,
            models=models,
        )


SignalBuilder: TypeAlias = Callable[[ModelRequest, ServerError, int], Signal]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRow:
    """One row of a table: the errors that it matches, and the builder of their signal.

    A row matches an error with one of the `statuses`, if there are any, and with one of the
    `kinds`, the `pattern` or the name of the requested model, if the row names any of these.
    """

    build: SignalBuilder
    pattern: re.Pattern[str] | None = None
    kinds: frozenset[str] = frozenset()
    names_model: bool = False
    statuses: Container[int] | None = None

    def matches(self, request: ModelRequest, error: ServerError, status: int) -> bool:
        """Return whether the error belongs to this row; status 0 means unknown."""
        if self.statuses is not None and status not in self.statuses:
            return False
        if not (self.pattern or self.kinds or self.names_model):
            return True
        if self.kinds & error.kinds or (self.pattern and self.pattern.search(error.text)):
            return True
        name = rf"(?<![\w-]){re.escape(request.model)}(?![\w-])"
        return bool(self.names_model and request.model and re.search(name, error.text))


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorTable:
    """The errors of one API.

    Attributes:
        rows: The first row that matches counts; the last row matches every error.
        by_status: Signals for statuses that decide alone, without the body.
        by_status_unless_page: The same for responses that are not HTML pages.
    """

    rows: tuple[ErrorRow, ...]
    by_status: Mapping[int, SignalBuilder] = field(default_factory=dict)
    by_status_unless_page: Mapping[int, SignalBuilder] = field(default_factory=dict)


def parse_server_error(answer: dict[str, Any], levels: int = _MAX_NESTING) -> ServerError | None:
    """Return the error in an object, or None when there is none.

    Known shapes are `{"error": {"message": …}}`, `{"error": "…"}`, `{"detail": …}`,
    `{"object": "error", "message": …}` and `{"message": …}`. A text may contain such an object.
    """
    error, detail = answer.get("error"), answer.get("detail")
    for inner in (error, detail):
        if isinstance(inner, dict):
            return parse_server_error(inner, levels - 1) if levels else None
    for text in (error, answer.get("message"), _format_detail(detail)):
        if isinstance(text, str):
            return _parse_nested_error(text, levels) or _build_error(text, answer)
    return None


def build_refusal(request: ModelRequest, head: ResponseHead, body: bytes) -> Signal:
    """Return the signal for a response with an error status, or whose body is an error."""
    answer = parse_json_object(body)
    error = parse_server_error(answer) if answer else None
    if error is None and (refusal := _find_proxy_refusal(request, head)):
        return refusal
    build = request.errors.by_status.get(head.status)
    if build is None and not is_html(head):
        build = request.errors.by_status_unless_page.get(head.status)
    if build is not None:
        return build(request, error or ServerError(text=""), head.status)
    if error is None or (head.status != _OK and head.status not in _ERROR_STATUSES):
        return build_unexpected_response(request, head, body)
    return classify_error(request, error, head.status)


def classify_error(request: ModelRequest, error: ServerError, status: int = _OK) -> Signal:
    """Return the signal for an error; with status 200 it occurred in the middle of a stream."""
    if status == _OK:
        status = error.status
    row = next(row for row in request.errors.rows if row.matches(request, error, status))
    return row.build(request, error, status)


def build_unexpected_response(
    request: ModelRequest, head: ResponseHead, body: bytes = b""
) -> Signal:
    """Return the signal for a response that does not follow the API."""
    if refusal := _find_proxy_refusal(request, head):
        return refusal
    endpoint = request.call.endpoint
    cause = f"`{request.path}` {_describe_response(request, head, body)}"
    if head.status in _GATEWAY_STATUSES and (variable := find_proxy_variable(endpoint)):
        return request.call.build_unreachable(cause, "proxy", variable)
    return request.call.build_protocol_error(format_one_line(cause), endpoint.setting)


def _find_proxy_refusal(request: ModelRequest, head: ResponseHead) -> Signal | None:
    """Return the signal for a proxy that requires a login or forbids the address, else None."""
    variable = find_proxy_variable(request.call.endpoint)
    if head.status == LOGIN_REQUIRED or (variable and head.status == _FORBIDDEN):
        cause = describe_proxy_refusal(head.status)
        return request.call.build_unreachable(cause, "proxy", variable)
    return None


def _describe_response(request: ModelRequest, head: ResponseHead, body: bytes) -> str:
    status = f"(HTTP {head.status})"
    if head.status in _REDIRECT_STATUSES and head.location:
        # The query of an address may hold a token.
        target = request.redact(_QUERY_OR_LOGIN.sub("", head.location))
        return f"redirects to {target} {status}"
    if is_html(head):
        title = _TITLE.search(body.decode("utf-8", "replace"))
        name = request.redact(unescape(title[1])) if title else ""
        return f"returned a web page {status}" + (f": {name}" if name else "")
    content_type = request.redact(head.content_type)[:_MAX_CONTENT_TYPE_CHARS] or "no content type"
    return f"returned HTTP {head.status}, {content_type}"


def is_html(head: ResponseHead) -> bool:
    """Return whether the response is an HTML page."""
    return "html" in head.content_type.lower()


_PROMPT_TOKENS = (
    re.compile(
        r"(?:request|prompt|input|requested tokens) \((?:length )?(\d{1,9})\b"
        r"|\((\d{1,9}) in the (?:messages|prompt)"
        r"|resulted in (\d{1,9}) tokens"
        r"|(\d{1,9}) (?:input tokens|tokens from the input|`inputs` tokens)"
        r"|n_keep: (\d{1,9})"
        r"|keep the first (\d{1,9}) tokens",
        re.IGNORECASE,
    ),
    # This count includes the answer.
    re.compile(r"requested (?:a total of )?(\d{1,9}) tokens", re.IGNORECASE),
)
_WINDOW_TOKENS = (
    re.compile(
        r"(?:context (?:size|length|window)|model length|n_ctx|limit)"
        r"(?: is| of)?(?: only)?:? \(?(\d{1,9})\b"
        r"|must be <= (\d{1,9})",
        re.IGNORECASE,
    ),
)


def find_token_counts(error: ServerError) -> tuple[int, int]:
    """Return the tokens of the prompt and of the window; 0 for a count that is missing."""
    return (
        error.prompt_tokens or _find_number(_PROMPT_TOKENS, error.text),
        error.context_tokens or _find_number(_WINDOW_TOKENS, error.text),
    )


def _find_number(patterns: tuple[re.Pattern[str], ...], text: str) -> int:
    for pattern in patterns:
        if match := pattern.search(text):
            return next(int(number) for number in match.groups() if number)
    return 0


def _parse_nested_error(text: str, levels: int) -> ServerError | None:
    """Return the error in a text that is JSON, as a server relays it."""
    inner = parse_json_object(text) if levels and text.lstrip().startswith("{") else None
    return parse_server_error(inner, levels - 1) if inner else None


def _build_error(text: str, answer: dict[str, Any]) -> ServerError:
    kinds = (answer.get("type"), answer.get("code"))
    return ServerError(
        text=text[:_MAX_TEXT_CHARS],
        kinds=frozenset(kind for kind in kinds if isinstance(kind, str)),
        status=_parse_status(answer.get("code")),
        prompt_tokens=parse_count(answer.get("n_prompt_tokens")),
        context_tokens=parse_count(answer.get("n_ctx")),
    )


def _parse_status(code: object) -> int:
    """Return the HTTP error status in a code, a number or a text; else 0."""
    if isinstance(code, str):
        code = int(code) if len(code) == _STATUS_DIGITS and code.isdecimal() else 0
    status = parse_count(code)
    return status if status in _ERROR_STATUSES else 0


def _format_detail(detail: object) -> object:
    """Return the `detail` of FastAPI, a text or a list of faults, as one text."""
    if not isinstance(detail, list):
        return detail
    return "; ".join(filter(None, map(_format_fault, detail))) or None


def _format_fault(fault: object) -> str:
    if not isinstance(fault, dict) or not isinstance(fault.get("msg"), str):
        return ""
    location = fault.get("loc")
    parts = [str(part) for part in location if part != "body"] if isinstance(location, list) else []
    return f"{'.'.join(parts)}: {fault['msg']}" if parts else str(fault["msg"])
