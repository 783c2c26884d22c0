"""What Ollama refuses and how it fails, as signals: one table for both of its generations.

Its error texts are all there is to tell failures apart, since one status has many meanings. A text
may itself be JSON that Ollama relays; there the `type` counts and the text is only shown.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from types import MappingProxyType
from typing import Any, TypeAlias

from kebab.errors.catalog import ContextOverflow, ModelBusy, ModelNotPulled, ModelRejected
from kebab.errors.signal import Signal
from kebab.transport.decode import count, json_object, one_line
from kebab.transport.exchange import Head
from kebab.transport.failures import Call

_LONGEST_TEXT = 4000
"""Real texts are far shorter; what is longer is not searched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What was asked, as its refusal names it; `prompt_tokens` is an estimate."""

    call: Call
    path: str
    model: str
    prompt_tokens: int
    context_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """An error of the server: its words, and the counts that a relayed one carries, or 0."""

    text: str
    kind: str = ""
    prompt_tokens: int = 0
    context_tokens: int = 0

    @property
    def cause(self) -> str:
        """The words as people may see them."""
        return one_line(self.text) or "no reason was given"


_Meaning: TypeAlias = Callable[[Request, _Said], Signal]


def _unreachable(request: Request, said: _Said) -> Signal:
    return request.call.unreachable(said.cause)


def _overflow(request: Request, said: _Said) -> Signal:
    # A prompt that is refused as too long is longer than the window, whatever the estimate is.
    context_tokens = said.context_tokens or request.context_tokens
    estimate = max(request.prompt_tokens, context_tokens + 1)
    return ContextOverflow(
        prompt_tokens=said.prompt_tokens or estimate, context_tokens=context_tokens
    )


def _missing(request: Request, _said: _Said) -> Signal:
    call = request.call
    return ModelNotPulled(
        model=request.model, endpoint=call.endpoint.shown, operation=call.operation
    )


def _busy(request: Request, _said: _Said) -> Signal:
    return ModelBusy(endpoint=request.call.endpoint.shown, operation=request.call.operation)


def _stalled(request: Request, _said: _Said) -> Signal:
    # The limit is the server's and not told, so what has passed stands for it.
    return request.call.late("load", limit_s=monotonic() - request.call.started)


def _rejected(request: Request, said: _Said) -> Signal:
    return ModelRejected(
        model=request.model,
        endpoint=request.call.endpoint.shown,
        operation=request.call.operation,
        cause=said.cause,
    )


def _foreign(request: Request, said: _Said) -> Signal:
    return request.call.foreign(f"no Ollama answers there: {said.cause}")


_CRASHED = (
    r"unexpected EOF|unexpectedly stopped|do embedding request: .*EOF"
    r'|Post "http://127\.0\.0\.1:\d+/[^"]*": EOF|encountered while running the model'
)
_OVERFLOWN = (
    r"exceed(?:s|_context|ed)?.*context|longer than the context length"
    r"|exceed_context_size_error|input length exceeds|input exceeds maximum context"
)
_NOT_THERE = r"""^model ['"].*['"] not found"""
_UNFIT = (
    r"(?:llama runner|llama-server) process has terminated"
    r"|requires more system memory|out-of-memory during startup"
    r"|does not support|not support multimodal"
)

FAMILIES: tuple[tuple[re.Pattern[str], _Meaning], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), meaning)
    for pattern, meaning in (
        (_CRASHED, _unreachable),
        (_OVERFLOWN, _overflow),
        (_NOT_THERE, _missing),
        (r"server busy", _busy),
        (r"timed out waiting for llama", _stalled),
        (_UNFIT, _rejected),
    )
)
"""What error texts mean; the first that fits counts, and crashes come before all else."""

_STATUSES: MappingProxyType[int, _Meaning] = MappingProxyType(
    {404: _foreign, 405: _foreign, 429: _busy, 502: _unreachable, 503: _busy, 504: _unreachable}
)
"""What the status of an error of unknown words means; any other one is a refusal."""

_NOT_BELOW = 400


def refused(request: Request, head: Head, body: bytes) -> Signal:
    """Return the signal for an answer whose status is not 200."""
    answer = json_object(body)
    said = _unwrapped(answer.get("error")) if answer else None
    if said is None or head.status < _NOT_BELOW:
        return stranger(request, head)
    return _meaning(said, _STATUSES.get(head.status, _rejected))(request, said)


def failed(request: Request, error: object) -> Signal:
    """Return the signal for the `error` of a line of a stream."""
    said = _unwrapped(error)
    if said is None:
        return request.call.foreign("a line with an error that is no text")
    return _meaning(said, _rejected)(request, said)


def stranger(request: Request, head: Head) -> Signal:
    """Return the signal for an answer that cannot be Ollama's."""
    kind = one_line(head.content_type, 60) or "no content type"
    what = f"`{request.path}` gave HTTP {head.status}, {kind}"
    return request.call.foreign(f"no Ollama answers there, {what}")


def _meaning(said: _Said, otherwise: _Meaning) -> _Meaning:
    words = f"{said.text[:_LONGEST_TEXT]}\n{said.kind}"
    return next((meaning for sign, meaning in FAMILIES if sign.search(words)), otherwise)


def _unwrapped(error: object) -> _Said | None:
    """Return what an error says, wrapped in another or not; None when that is nothing."""
    if isinstance(error, dict):
        return _relayed(error)
    if not isinstance(error, str):
        return None
    inner = (json_object(error) or {}).get("error")
    relayed = _relayed(inner) if isinstance(inner, dict) else None
    return relayed or _Said(text=error)


def _relayed(error: dict[str, Any]) -> _Said | None:
    message, kind = error.get("message"), error.get("type")
    if not isinstance(message, str):
        return None
    return _Said(
        text=message,
        kind=kind[:_LONGEST_TEXT] if isinstance(kind, str) else "",
        prompt_tokens=count(error.get("n_prompt_tokens")),
        context_tokens=count(error.get("n_ctx")),
    )
