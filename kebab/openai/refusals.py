"""What servers with the OpenAI-compatible protocol refuse and how they fail, as signals.

llama.cpp, LM Studio, vLLM and what stands before them use the statuses of HTTP each in its own
way, and errors amid a stream have none. So words that are sure come before statuses.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from kebab.errors.catalog import ContextOverflow, ModelBusy, ModelRejected
from kebab.errors.signal import Signal
from kebab.openai.key import Key
from kebab.openai.overflow import counts, overflown
from kebab.openai.said import Said, said
from kebab.transport.decode import json_object, one_line
from kebab.transport.exchange import Head
from kebab.transport.failures import Call

_LONGEST = 4000
_UNTOLD = 0
"""The status of an error that has none."""
_OK = 200
_NOT_FOUND = 404
_TOO_MANY = 429
_UNAVAILABLE = 503
_LOCKED = {401, 403}
_MAY_MISS_MODEL = {_UNTOLD, 400, _NOT_FOUND, 422}
_REFUSALS = range(400, 500)
_MAY_FAIL = {_OK, *range(400, 600)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What was asked, as its refusal names it; `prompt_tokens` is an estimate."""

    call: Call
    path: str
    model: str
    key: Key
    prompt_tokens: int = 0
    context_tokens: int = 0

    def shown(self, text: str) -> str:
        """Return words of the server as people may see them: one line, without the key."""
        return one_line(self.key.hidden(text[:_LONGEST]))

    def rejected(self, cause: str) -> ModelRejected:
        """Return the signal for a server that will not answer."""
        return ModelRejected(
            model=self.model,
            endpoint=self.call.endpoint.shown,
            operation=self.call.operation,
            cause=cause,
        )


_Meaning: TypeAlias = Callable[[Request, Said, int], Signal]


def _unreachable(request: Request, error: Said, status: int) -> Signal:
    return request.call.unreachable(one_line(f"the server failed{_cause(request, error, status)}"))


def _overflow(request: Request, error: Said, _status: int) -> Signal:
    prompt_tokens, window = counts(error)
    context_tokens = window or request.context_tokens
    # What does not fit is taken to be longer than the window, whatever the estimate is.
    estimate = max(request.prompt_tokens, context_tokens + 1)
    return ContextOverflow(prompt_tokens=prompt_tokens or estimate, context_tokens=context_tokens)


def _missing(request: Request, _error: Said, _status: int) -> Signal:
    return request.rejected(one_line(f"it has no such model: {request.model}"))


def _busy(request: Request, _error: Said, _status: int) -> Signal:
    return ModelBusy(endpoint=request.call.endpoint.shown, operation=request.call.operation)


def _rejected(request: Request, error: Said, _status: int) -> Signal:
    return request.rejected(request.shown(error.text) or "no reason was given")


def _foreign(request: Request, error: Said, status: int) -> Signal:
    failed = f"`{request.path}` is not served{_cause(request, error, status)}"
    return request.call.foreign(one_line(failed))


def _locked(request: Request, _error: Said, status: int) -> Signal:
    # In our own words: the server's may hold the key.
    return request.rejected(f"the server wants another key{_told(status)}")


def _cause(request: Request, error: Said, status: int) -> str:
    return f"{_told(status)}: {request.shown(error.text) or 'no reason was given'}"


def _told(status: int) -> str:
    return "" if status == _UNTOLD else f" (HTTP {status})"


_NO_ROUTE = re.compile(r"unexpected endpoint or method|invalid url \(", re.IGNORECASE)
_NO_LOAD = re.compile(
    r"(?:fail|unable|could not|cannot|error).{0,40}\bload|out of memory|insufficient (?:system )?"
    r"(?:memory|resources)|not support|no models? (?:is |are )?loaded|jinja|chat template",
    re.IGNORECASE,
)
_CRASHED = re.compile(
    r"crashed|unexpected EOF|engine ?(?:core)? (?:encountered|is dead)|EngineDeadError",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"\bmodel\b.{0,200}?\b(?:not found|does not exist|doesn't exist)"
    r"|invalid model (?:identifier|name)|(?:unknown|no such) model\b",
    re.IGNORECASE | re.DOTALL,
)

_KINDS: MappingProxyType[str, _Meaning] = MappingProxyType(
    {
        "authentication_error": _locked,
        "permission_error": _locked,
        "invalid_api_key": _locked,
        "rate_limit_error": _busy,
        "rate_limit_exceeded": _busy,
        "unavailable_error": _busy,
        "not_supported_error": _rejected,
    }
)
"""Names of errors that are sure."""

_STATUSES: MappingProxyType[int, _Meaning] = MappingProxyType(
    {404: _foreign, 405: _foreign, 429: _busy, 501: _rejected, 503: _busy}
)
"""What a status means where the words do not tell. Any other 4xx is a refusal. A 5xx of unknown
words is a server that failed at work and may not the next time; so is an error amid a stream."""


def refused(request: Request, head: Head, body: bytes) -> Signal:
    """Return the signal for an answer whose status is not 200, or whose body is an error."""
    answer = json_object(body)
    error = said(answer) if answer else None
    sure = _sure(head)
    if sure is not None:
        return sure(request, error or Said(text=""), head.status)
    if error is None or head.status not in _MAY_FAIL:
        return stranger(request, head)
    return failed(request, error, head.status)


def failed(request: Request, error: Said, status: int = _OK) -> Signal:
    """Return the signal for an error, which may have come amid a stream that began well."""
    told = error.status if status == _OK else status
    return _meaning(request, error, told)(request, error, told)


def stranger(request: Request, head: Head) -> Signal:
    """Return the signal for an answer that no server of this protocol gives."""
    kind = request.shown(head.content_type)[:60] or "no content type"
    return request.call.foreign(f"`{request.path}` gave HTTP {head.status}, {kind}")


def _sure(head: Head) -> _Meaning | None:
    """Return what a status means whatever the body says."""
    if head.status in _LOCKED:
        return _locked
    # A page of this status is one of a proxy, or of llama.cpp while it loads.
    busy = head.status == _TOO_MANY or (head.status == _UNAVAILABLE and not is_page(head))
    return _busy if busy else None


def _meaning(request: Request, error: Said, status: int) -> _Meaning:
    """Return what an error means; the first rule that fits counts."""
    rules = (
        (status in _LOCKED, _locked),
        (bool(_NO_ROUTE.search(error.text)), _foreign),
        (overflown(error), _overflow),
        (bool(_NO_LOAD.search(error.text)), _rejected),
        (bool(_CRASHED.search(error.text)), _unreachable),
        (_misses_model(request, error, status), _missing),
    )
    named = (_KINDS[kind] for kind in sorted(error.kinds & _KINDS.keys()))
    otherwise = _STATUSES.get(status, _rejected if status in _REFUSALS else _unreachable)
    return next((rule for fits, rule in rules if fits), next(named, otherwise))


def _misses_model(request: Request, error: Said, status: int) -> bool:
    if status not in _MAY_MISS_MODEL:
        return False
    named = rf"(?<![\w-]){re.escape(request.model)}(?![\w-])"
    names_it = status == _NOT_FOUND and bool(request.model and re.search(named, error.text))
    return names_it or bool(_NO_MODEL.search(error.text))


def is_page(head: Head) -> bool:
    """Return whether the answer is a page for people."""
    return "html" in head.content_type.lower()
