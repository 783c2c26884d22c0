"""Holds the error tables of Ollama and of OpenAI-compatible servers, and builds their signals.

llama.cpp, LM Studio, vLLM and the proxies before them use HTTP statuses in different ways.
"""

import re
from time import monotonic

from kebab.errors.catalog import ContextOverflow, ModelBusy, ModelNotPulled, Rejection
from kebab.errors.signal import Signal
from kebab.llm.http_client import format_one_line
from kebab.llm.server_errors import (
    ErrorRow,
    ErrorTable,
    ModelRequest,
    ServerError,
    SignalBuilder,
    find_token_counts,
)

_MODEL = "models.llm.model"
_KEY_VARIABLE = "models.llm.key_variable"
_LOADING = re.compile(r"loading (?:the )?model|model is loading", re.IGNORECASE)


def _build_unreachable(request: ModelRequest, error: ServerError, status: int) -> Signal:
    cause = f"the server failed{_describe_error(request, error, status)}"
    return request.call.build_unreachable(format_one_line(cause), "server")


def _build_failure(request: ModelRequest, error: ServerError, status: int) -> Signal:
    """Build the signal for a server that answered, and failed at its work."""
    cause = f"the server failed{_describe_error(request, error, status)}"
    return request.call.build_protocol_error(format_one_line(cause))


def _build_overflow(request: ModelRequest, error: ServerError, _status: int) -> Signal:
    prompt_tokens, window = find_token_counts(error)
    context_tokens = window or request.context_tokens
    # The server rejected the prompt as too long, so it is longer than the window.
    estimate = max(request.prompt_tokens, context_tokens + 1)
    return ContextOverflow(
        prompt_tokens=prompt_tokens or estimate,
        context_tokens=context_tokens,
        operation=request.call.operation,
    )


def _build_not_pulled(request: ModelRequest, _error: ServerError, _status: int) -> Signal:
    call = request.call
    return ModelNotPulled(
        model=request.model, endpoint=call.endpoint.display_url, operation=call.operation
    )


def _build_unknown_model(request: ModelRequest, _error: ServerError, _status: int) -> Signal:
    cause = format_one_line(f"no such model: {request.model}")
    return request.build_rejection(cause, "unknown_model", _MODEL)


def _build_busy(request: ModelRequest, _error: ServerError, _status: int) -> Signal:
    return ModelBusy(endpoint=request.call.endpoint.display_url, operation=request.call.operation)


def _build_loading(request: ModelRequest, _error: ServerError, _status: int) -> Signal:
    call = request.call
    url = call.endpoint.display_url
    return ModelBusy(endpoint=url, operation=call.operation, reason="loading")


def _build_unavailable(request: ModelRequest, error: ServerError, status: int) -> Signal:
    build = _build_loading if _LOADING.search(error.text) else _build_busy
    return build(request, error, status)


def _build_load_timeout(request: ModelRequest, _error: ServerError, _status: int) -> Signal:
    # The server does not report its limit, so the elapsed time replaces it.
    return request.call.build_timeout("load", limit_s=monotonic() - request.call.started)


def _reject(reason: Rejection | None = None, setting: str | None = None) -> SignalBuilder:
    """Return the builder for a refusal with a reason."""

    def build(request: ModelRequest, error: ServerError, _status: int) -> Signal:
        cause = request.redact(error.text) or "the server gave no reason"
        return request.build_rejection(cause, reason, setting)

    return build


def _build_unauthorized(request: ModelRequest, _error: ServerError, status: int) -> Signal:
    """Build the refusal of a key; the text of the server may quote a part of the key."""
    key = request.key
    is_set = bool(key.secret)
    cause = "the server requires another key" if is_set else "no key was sent"
    return request.build_rejection(
        f"{cause}{_format_status(status)}",
        "key_refused" if is_set else "key_missing",
        key.variable or _KEY_VARIABLE,
    )


_build_rejected = _reject()
_build_load_failure = _reject("load")
_build_memory_failure = _reject("memory")
_build_wrong_task = _reject("task")


def _build_sign_in(request: ModelRequest, error: ServerError, status: int) -> Signal:
    cause = request.redact(error.text) or "no account"
    return request.build_rejection(f"{cause}{_format_status(status)}", "sign_in")


def _build_not_served(request: ModelRequest, error: ServerError, status: int) -> Signal:
    cause = f"`{request.path}` is not served{_describe_error(request, error, status)}"
    call = request.call
    return call.build_protocol_error(format_one_line(cause), call.endpoint.setting)


def _describe_error(request: ModelRequest, error: ServerError, status: int) -> str:
    text = request.redact(error.text) or "the server gave no reason"
    return f"{_format_status(status)}: {text}"


def _format_status(status: int) -> str:
    return f" (HTTP {status})" if status else ""


def _compile(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives), re.IGNORECASE)


OLLAMA_ERRORS = ErrorTable(
    rows=(
        # Crashes come first: their texts may quote another error.
        ErrorRow(
            build=_build_failure,
            pattern=_compile(
                r"unexpected EOF|unexpectedly stopped|do embedding request: .*EOF",
                r'Post "http://127\.0\.0\.1:\d+/[^"]*": EOF|encountered while running the model',
            ),
        ),
        ErrorRow(
            build=_build_overflow,
            kinds=frozenset({"exceed_context_size_error"}),
            pattern=_compile(
                r"exceed(?:s|_context|ed)?.*context|longer than the context length",
                r"input length exceeds|input exceeds maximum context",
            ),
        ),
        ErrorRow(build=_build_not_pulled, pattern=_compile(r"""^model ['"].*['"] not found""")),
        ErrorRow(build=_build_busy, pattern=_compile("server busy")),
        ErrorRow(build=_build_load_timeout, pattern=_compile("timed out waiting for llama")),
        ErrorRow(
            build=_build_load_failure,
            pattern=_compile(r"(?:llama runner|llama-server) process has terminated"),
        ),
        ErrorRow(
            build=_build_memory_failure,
            pattern=_compile(r"requires more system memory|out-of-memory during startup"),
        ),
        ErrorRow(
            build=_reject("option", "models.llm.think"),
            pattern=_compile(r"does not support thinking|invalid think value"),
        ),
        ErrorRow(
            build=_reject("option", "models.llm.keep_alive"),
            pattern=_compile(r"time: (?:invalid|missing|unknown)\b.*\b(?:duration|unit)"),
        ),
        ErrorRow(
            build=_build_wrong_task,
            pattern=_compile(r"does not support (?!thinking)|not support multimodal"),
        ),
        ErrorRow(build=_build_sign_in, statuses={401}),
        ErrorRow(build=_build_not_served, statuses={404, 405}),
        ErrorRow(build=_build_busy, statuses={429, 503}),
        ErrorRow(build=_build_unreachable, statuses={502, 504}),
        ErrorRow(build=_build_rejected),
    ),
)
"""The errors of old and new versions of Ollama."""

_UNKNOWN_STATUS = 0

OPENAI_ERRORS = ErrorTable(
    by_status={401: _build_unauthorized, 403: _build_unauthorized, 429: _build_busy},
    # A page with status 503 comes from a proxy, or from llama.cpp while it loads.
    by_status_unless_page={503: _build_unavailable},
    rows=(
        ErrorRow(build=_build_unauthorized, statuses={401, 403}),
        ErrorRow(
            build=_build_not_served,
            pattern=_compile(r"unexpected endpoint or method|invalid url \("),
        ),
        ErrorRow(
            build=_build_overflow,
            kinds=frozenset({"exceed_context_size_error", "context_length_exceeded"}),
            pattern=_compile(
                r"exceeds? the available context",
                r"exceeds? (?:the )?context (?:window|size|length)",
                r"exceeds? the model's maximum context",
                r"input length exceeds",
                r"maximum context length is \d",
                r"context (?:the )?overflow|overflows? the context",
                r"greater than the context length",
                r"longer than the (?:context|model's context|maximum model) length",
                r"reached context length",
                r"keep the first \d+ tokens",
                r"prompt \(\d+ tokens\) is too long",
                r"tokens.{0,40} must be <= \d+\. given",
            ),
        ),
        ErrorRow(
            build=_build_memory_failure,
            pattern=_compile(r"out of memory|insufficient (?:system )?(?:memory|resources)"),
        ),
        ErrorRow(
            build=_build_load_failure,
            pattern=_compile(r"(?:fail|unable|could not|cannot|error).{0,40}\bload"),
        ),
        ErrorRow(
            build=_build_wrong_task,
            pattern=_compile(
                r"not support|no models? (?:is |are )?loaded|jinja|chat template|logits",
            ),
        ),
        ErrorRow(
            build=_build_failure,
            pattern=_compile(
                r"crashed|unexpected EOF|engine ?(?:core)? (?:encountered|is dead)|EngineDeadError"
            ),
        ),
        ErrorRow(
            build=_build_unknown_model,
            statuses={_UNKNOWN_STATUS, 400, 404, 422},
            pattern=_compile(
                r"\bmodel\b(?s:.{0,200}?)\b(?:not found|does not exist|doesn't exist)",
                r"invalid model (?:identifier|name)|(?:unknown|no such) model\b",
            ),
        ),
        ErrorRow(build=_build_unknown_model, statuses={404}, names_model=True),
        ErrorRow(
            build=_build_unauthorized,
            kinds=frozenset({"authentication_error", "permission_error", "invalid_api_key"}),
        ),
        ErrorRow(
            build=_build_unavailable,
            kinds=frozenset({"rate_limit_error", "rate_limit_exceeded", "unavailable_error"}),
        ),
        ErrorRow(build=_build_rejected, kinds=frozenset({"not_supported_error"})),
        ErrorRow(build=_build_not_served, statuses={404, 405}),
        ErrorRow(build=_build_busy, statuses={429, 503}),
        ErrorRow(build=_build_rejected, statuses={501, *range(400, 500)}),
        ErrorRow(build=_build_unreachable, statuses={502, 504}),
        # Any other error may not occur again: the server failed while it worked.
        ErrorRow(build=_build_failure),
    ),
)
"""The errors of servers with the OpenAI-compatible API."""
