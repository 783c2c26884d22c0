"""Maps the errors that model servers send to signals, by one table of rows.

One HTTP status has many meanings, and an error in the middle of a stream has none. Therefore the
rows for known texts come before the rows for statuses. llama.cpp, LM Studio, vLLM and the proxies
before them use HTTP statuses in different ways.
"""

import json
import re
from collections.abc import Callable, Collection
from html import unescape
from time import monotonic
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from kebab.errors.catalog import ContextOverflow, ModelBusy, ModelNotPulled, ModelRejected
from kebab.errors.signal import Signal
from kebab.llm.endpoint import find_proxy_variable
from kebab.llm.http_stream import LOGIN_REQUIRED, Call, ResponseHead, describe_proxy_refusal

Rejection: TypeAlias = Literal[
    "key_missing", "key_refused", "sign_in", "option", "memory", "load", "task"
]
"""Why a model server refuses: the key, an option, a lack of memory, the file of the model, or a
task that the model cannot do."""

_MAX_TEXT_CHARS = 4000
"""Real texts are far shorter; the rest is ignored."""
_MAX_LINE_CHARS = 300
_MAX_COUNT = 1 << 32
_MAX_NESTING = 3
_STATUS_DIGITS = 3
OK = 200
_UNAUTHORIZED, _FORBIDDEN, _UNAVAILABLE = 401, 403, 503
_ERROR_STATUSES, _FAILURE_STATUSES = range(400, 600), range(500, 600)
_GATEWAY_STATUSES = {408, 502, 504, *range(520, 528)}
"""With these a gateway reports that it got no answer from the server."""


class ServerError(Struct, frozen=True, kw_only=True):
    """An error of a server: its text, the names of its kind, and its counts, or 0.

    `status` is the HTTP status in the error itself.
    """

    text: str
    kinds: frozenset[str] = frozenset()
    status: int = 0
    prompt_tokens: int = 0
    context_tokens: int = 0


class ModelRequest(Call, frozen=True, kw_only=True):
    """A call of an API, with the facts that its errors report; `prompt_tokens` is an estimate."""

    path: str
    prompt_tokens: int = 0
    context_tokens: int = 0

    def redact(self, text: str) -> str:
        """Return a text of the server as one line without the key."""
        return format_one_line(self.endpoint.key.redact(text[:_MAX_TEXT_CHARS]))

    def build_rejection(
        self, cause: str, reason: Rejection | None = None, setting: str | None = None
    ) -> ModelRejected:
        """Return the signal for a server that refuses the request."""
        return ModelRejected(
            model=self.model,
            endpoint=self.endpoint.display_url,
            operation=self.operation,
            cause=cause,
            reason=reason,
            setting=setting,
        )

    def build_missing(self, models: list[str] | None = None) -> ModelNotPulled:
        """Return the signal for a server that does not have the model, but these."""
        return ModelNotPulled(
            model=self.model,
            endpoint=self.endpoint.display_url,
            operation=self.operation,
            models=models,
            reason=None if self.endpoint.provider == "ollama" else "not_offered",
        )


SignalBuilder: TypeAlias = Callable[[ModelRequest, ServerError, int], Signal]


class ErrorRow(Struct, frozen=True):
    """One row of a table: the errors that it matches, and the builder of their signal.

    A row matches an error with one of the `statuses`, if there are any, and with one of the
    `kinds`, the `pattern` (in any case) or the name of the requested model, if the row names any
    of these.
    """

    build: SignalBuilder
    pattern: str = ""
    kinds: Collection[str] = ()
    names_model: bool = False
    statuses: Collection[int] = ()

    def matches(self, request: ModelRequest, error: ServerError, status: int) -> bool:
        """Return whether the error belongs to this row; status 0 means unknown."""
        if self.statuses and status not in self.statuses:
            return False
        if not (self.pattern or self.kinds or self.names_model):
            return True
        if not error.kinds.isdisjoint(self.kinds):
            return True
        if self.pattern and re.search(self.pattern, error.text, re.IGNORECASE):
            return True
        name = rf"(?<![\w-]){re.escape(request.model)}(?![\w-])"
        return bool(self.names_model and request.model and re.search(name, error.text))


def build_refusal(request: ModelRequest, head: ResponseHead, body: bytes) -> Signal:
    """Return the signal for a response with an error status, or whose body is an error."""
    answer = parse_json_object(body)
    error = parse_server_error(answer) if answer else None
    if error is None and (refusal := _find_proxy_refusal(request, head)):
        return refusal
    # These statuses mean the same with a body that is no error of the API.
    told = _KEY_STATUSES if request.endpoint.provider == "openai" else _BUSY_STATUSES
    if head.status in told and not (head.status == _UNAVAILABLE and head.is_html):
        return told[head.status](request, error or ServerError(text=""), head.status)
    if error is None or (head.status != OK and head.status not in _ERROR_STATUSES):
        return build_unexpected_response(request, head, body)
    return classify_error(request, error, head.status)


def classify_error(request: ModelRequest, error: ServerError, status: int = OK) -> Signal:
    """Return the signal for an error; with status 200 it occurred in the middle of a stream."""
    if status == OK:
        status = error.status
    row = next(row for row in _ROWS if row.matches(request, error, status))
    return row.build(request, error, status)


def build_unexpected_response(
    request: ModelRequest, head: ResponseHead, body: bytes = b""
) -> Signal:
    """Return the signal for a response that does not follow the API."""
    if refusal := _find_proxy_refusal(request, head):
        return refusal
    status = f"(HTTP {head.status})"
    if head.status in range(300, 400) and head.location:
        # The query of an address may hold a token.
        address = re.sub(r"(?s:[?#].*)|(?<=//)[^/@]*@", "", head.location)
        described = f"redirects to {request.redact(address)} {status}"
    elif head.is_html:
        page = body.decode("utf-8", "replace")
        title = re.search(r"<title[^<>]{0,500}+>\s*+([^<]{1,200})", page, re.IGNORECASE)
        name = request.redact(unescape(title[1])) if title else ""
        described = f"returned a web page {status}" + (f": {name}" if name else "")
    else:
        content_type = request.redact(head.content_type)[:60] or "no content type"
        described = f"returned HTTP {head.status}, {content_type}"
    cause, endpoint = f"`{request.path}` {described}", request.endpoint
    # With these statuses a proxy reports that it cannot reach the server.
    if head.status in {502, 503, 504} and (variable := find_proxy_variable(endpoint)):
        return request.build_unreachable(cause, "proxy", variable)
    # A server that fails has the right address.
    setting = endpoint.setting if head.status < min(_FAILURE_STATUSES) else None
    return request.build_protocol_error(format_one_line(cause), setting)


def _find_proxy_refusal(request: ModelRequest, head: ResponseHead) -> Signal | None:
    """Return the signal for a proxy that requires a login or forbids the address, else None."""
    variable = find_proxy_variable(request.endpoint)
    if head.status == LOGIN_REQUIRED or (variable and head.status == _FORBIDDEN):
        cause = describe_proxy_refusal(head.status)
        return request.build_unreachable(cause, "proxy", variable)
    return None


def parse_server_error(answer: dict[str, Any], levels: int = _MAX_NESTING) -> ServerError | None:
    """Return the error in an object, or None when there is none.

    Known shapes are `{"error": {"message": …}}`, `{"error": "…"}`, `{"detail": …}`,
    `{"object": "error", "message": …}` and `{"message": …}`. A text may contain such an object,
    as a server relays it.
    """
    error, detail = answer.get("error"), answer.get("detail")
    for inner in (error, detail):
        if isinstance(inner, dict):
            return parse_server_error(inner, levels - 1) if levels else None
    if isinstance(detail, list):
        # FastAPI sends a list of faults.
        detail = "; ".join(filter(None, map(_format_fault, detail))) or None
    for text in (error, answer.get("message"), detail):
        if isinstance(text, str):
            relayed = parse_json_object(text) if levels and text.lstrip().startswith("{") else None
            found = parse_server_error(relayed, levels - 1) if relayed else None
            return found or _build_error(text, answer)
    return None


def _format_fault(fault: object) -> str:
    if not isinstance(fault, dict) or not isinstance(fault.get("msg"), str):
        return ""
    location = fault.get("loc")
    parts = [str(part) for part in location if part != "body"] if isinstance(location, list) else []
    return f"{'.'.join(parts)}: {fault['msg']}" if parts else str(fault["msg"])


def _build_error(text: str, answer: dict[str, Any]) -> ServerError:
    code = answer.get("code")
    kinds = frozenset(kind for kind in (answer.get("type"), code) if isinstance(kind, str))
    if isinstance(code, str):
        code = int(code) if len(code) == _STATUS_DIGITS and code.isdecimal() else 0
    status = parse_count(code)
    return ServerError(
        text=text[:_MAX_TEXT_CHARS],
        kinds=kinds,
        status=status if status in _ERROR_STATUSES else 0,
        prompt_tokens=parse_count(answer.get("n_prompt_tokens")),
        context_tokens=parse_count(answer.get("n_ctx")),
    )


_PROMPT_TOKENS = (
    r"(?:request|prompt|input|requested tokens) \((?:length )?(\d{1,9})\b"
    r"|\((\d{1,9}) in the (?:messages|prompt)"
    r"|resulted in (\d{1,9}) tokens"
    r"|(\d{1,9}) (?:input tokens|tokens from the input|`inputs` tokens)"
    r"|n_keep: (\d{1,9})"
    r"|keep the first (\d{1,9}) tokens"
)
_ALL_TOKENS = r"requested (?:a total of )?(\d{1,9}) tokens"
"""This count includes the answer."""
_WINDOW_TOKENS = (
    r"(?:context (?:size|length|window)|model length|n_ctx|limit)"
    r"(?: is| of)?(?: only)?:? \(?(\d{1,9})\b"
    r"|must be <= (\d{1,9})"
)


def find_token_counts(error: ServerError) -> tuple[int, int]:
    """Return the tokens of the prompt and of the window; 0 for a count that is missing."""
    return (
        error.prompt_tokens or _find_number(error.text, _PROMPT_TOKENS, _ALL_TOKENS),
        error.context_tokens or _find_number(error.text, _WINDOW_TOKENS),
    )


def _find_number(text: str, *patterns: str) -> int:
    for pattern in patterns:
        if match := re.search(pattern, text, re.IGNORECASE):
            return next(int(number) for number in match.groups() if number)
    return 0


def parse_json_object(raw: bytes | str) -> dict[str, Any] | None:
    """Return the JSON object in UTF-8 bytes or a text, or None when there is none."""
    try:
        value = json.loads(raw.decode("utf-8-sig") if isinstance(raw, bytes) else raw)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def format_one_line(text: str, limit: int = _MAX_LINE_CHARS) -> str:
    """Return a text as one line of printable characters, cut to about `limit` of them."""
    # White space shrinks the text, so the input is a bit longer than the limit.
    start = text[: 4 * limit]
    printable = "".join(char if char.isprintable() else " " for char in start)
    line = " ".join(printable.split())
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


def parse_count(value: object) -> int:
    """Return a plausible count, or 0 for any other value."""
    if isinstance(value, bool) or not isinstance(value, int):
        return 0
    return value if 0 < value < _MAX_COUNT else 0


def _build_failure(request: ModelRequest, error: ServerError, status: int) -> Signal:
    """Build the signal for a server that failed at its work, or did not answer a gateway."""
    cause = format_one_line(f"the server failed{_describe_error(request, error, status)}")
    if status in _GATEWAY_STATUSES:
        return request.build_unreachable(cause, "server")
    return request.build_protocol_error(cause)


def _build_overflow(request: ModelRequest, error: ServerError, _status: int) -> Signal:
    prompt_tokens, window = find_token_counts(error)
    context_tokens = window or request.context_tokens
    # The server rejected the prompt as too long, so it is longer than the window.
    estimate = max(request.prompt_tokens, context_tokens + 1)
    return ContextOverflow(
        prompt_tokens=prompt_tokens or estimate,
        context_tokens=context_tokens,
        operation=request.operation,
    )


def _build_missing(request: ModelRequest, _error: ServerError, _status: int) -> Signal:
    return request.build_missing()


def _build_busy(request: ModelRequest, error: ServerError, _status: int) -> Signal:
    loads = re.search(r"loading (?:the )?model|model is loading", error.text, re.IGNORECASE)
    url, reason = request.endpoint.display_url, "loading" if loads else None
    return ModelBusy(endpoint=url, operation=request.operation, reason=reason)


def _build_load_timeout(request: ModelRequest, _error: ServerError, _status: int) -> Signal:
    # The server does not report its limit, so the elapsed time replaces it.
    return request.build_timeout("load", limit_s=monotonic() - request.started)


def _reject(reason: Rejection | None = None, setting: str | None = None) -> SignalBuilder:

    def build(request: ModelRequest, error: ServerError, _status: int) -> Signal:
        cause = request.redact(error.text) or "the server gave no reason"
        return request.build_rejection(cause, reason, setting)

    return build


def _build_unauthorized(request: ModelRequest, error: ServerError, status: int) -> Signal:
    """Build the refusal of a key; the text of the server may quote a part of the key."""
    if request.endpoint.provider == "ollama":
        if status != _UNAUTHORIZED:
            return _reject()(request, error, status)
        cause = request.redact(error.text) or "no account"
        return request.build_rejection(f"{cause}{_format_status(status)}", "sign_in")
    is_set = bool(request.endpoint.key.secret)
    cause = "the server requires another key" if is_set else "no key was sent"
    return request.build_rejection(
        f"{cause}{_format_status(status)}",
        "key_refused" if is_set else "key_missing",
        request.endpoint.key.variable or "models.llm.key_variable",
    )


def _build_not_served(request: ModelRequest, error: ServerError, status: int) -> Signal:
    cause = f"`{request.path}` is not served{_describe_error(request, error, status)}"
    return request.build_protocol_error(format_one_line(cause), request.endpoint.setting)


def _describe_error(request: ModelRequest, error: ServerError, status: int) -> str:
    text = request.redact(error.text) or "the server gave no reason"
    return f"{_format_status(status)}: {text}"


def _format_status(status: int) -> str:
    return f" (HTTP {status})" if status else ""


_ROWS = (
    # Crashes come first: their texts may quote another error.
    ErrorRow(
        _build_failure,
        r"unexpected EOF|unexpectedly stopped|do embedding request: .*EOF"
        r'|Post "http://127\.0\.0\.1:\d+/[^"]*": EOF|encountered while running the model'
        r"|crashed|engine ?(?:core)? (?:encountered|is dead)|EngineDeadError",
    ),
    ErrorRow(_build_not_served, r"unexpected endpoint or method|invalid url \("),
    ErrorRow(
        _build_overflow,
        r"exceeds? the available context"
        r"|exceeds? (?:the )?(?:maximum )?context (?:window|size|length)"
        r"|exceeds? the model's maximum context"
        r"|input length exceeds|too large to process"
        r"|maximum context length is \d"
        r"|context (?:the )?overflow|overflows? the context"
        r"|greater than the context length"
        r"|longer than the (?:context|model's context|maximum model) length"
        r"|reached context length"
        r"|keep the first \d+ tokens"
        r"|prompt \(\d+ tokens\) is too long"
        r"|tokens.{0,40} must be <= \d+\. given",
        kinds={"exceed_context_size_error", "context_length_exceeded"},
    ),
    ErrorRow(_build_busy, "server busy"),
    ErrorRow(_build_load_timeout, "timed out waiting for llama"),
    ErrorRow(
        _reject("memory"),
        r"out[ -]of[ -]memory|requires more system memory"
        r"|insufficient (?:system )?(?:memory|resources)",
    ),
    ErrorRow(
        _reject("load"),
        r"(?:llama runner|llama-server) process has terminated"
        r"|(?:fail|unable|could not|cannot|error).{0,40}\bload",
    ),
    ErrorRow(
        _reject("option", "models.llm.think"), r"does not support thinking|invalid think value"
    ),
    ErrorRow(
        _reject("option", "models.llm.keep_alive"),
        r"time: (?:invalid|missing|unknown)\b.*\b(?:duration|unit)",
    ),
    ErrorRow(
        _reject("task"), r"not support|no models? (?:is |are )?loaded|jinja|chat template|logits"
    ),
    ErrorRow(_reject(), r"must be of type|invalid (?:format|json schema)|schema conversion failed"),
    ErrorRow(
        _build_missing,
        r"\bmodel\b(?s:.{0,200}?)\b(?:not found|does not exist|doesn't exist)"
        r"|invalid model identifier|(?:unknown|no such) model\b",
        statuses={0, 400, 404, 422},
    ),
    ErrorRow(_build_missing, statuses={404}, names_model=True),
    ErrorRow(
        _build_unauthorized, kinds={"authentication_error", "permission_error", "invalid_api_key"}
    ),
    ErrorRow(_build_unauthorized, statuses={401, 403}),
    ErrorRow(_build_busy, kinds={"rate_limit_error", "rate_limit_exceeded", "unavailable_error"}),
    ErrorRow(_reject(), kinds={"not_supported_error"}),
    ErrorRow(_build_not_served, statuses={404, 405}),
    ErrorRow(_build_busy, statuses={429, _UNAVAILABLE, 529}),
    ErrorRow(_build_failure, statuses=_GATEWAY_STATUSES),
    ErrorRow(_reject(), statuses={501, *range(400, 500)}),
    # Any other error may not occur again: the server failed while it worked.
    ErrorRow(_build_failure),
)
"""The errors of all servers: the same failure has the same signal, whatever the API."""

_BUSY_STATUSES = dict.fromkeys((429, _UNAVAILABLE, 529), _build_busy)
_KEY_STATUSES = {401: _build_unauthorized, 403: _build_unauthorized, **_BUSY_STATUSES}
