"""What Ollama refuses of a request, in the order in which it looks, and what it ignores."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tests.fakes.ollama_wire import CHAT, SHOW, Generation, Model

_KINDS = {
    str: "string",
    bool: "bool",
    int: "number",
    float: "number",
    list: "array",
    dict: "object",
}
_STRING, _BOOL = ("string", "string"), ("bool", "bool")

FIELDS: Mapping[str, Mapping[str, tuple[str, str] | None]] = {
    CHAT: {
        "model": _STRING,
        "keep_alive": None,
        "options": ("map[string]interface {}", "object"),
        "stream": _BOOL,
        "format": None,
        "think": None,
        "truncate": _BOOL,
        "shift": _BOOL,
        "logprobs": _BOOL,
        "top_logprobs": ("int", "number"),
        "messages": ("[]api.Message", "array"),
        "tools": ("api.Tools", "array"),
    },
    SHOW: {"model": _STRING, "name": _STRING, "verbose": _BOOL},
}
"""The fields of each call with Go's type and JSON's; None where Ollama has rules of its own."""

_REQUESTS = {CHAT: "Chat", SHOW: "Show"}
_MESSAGE = {
    **dict.fromkeys(("role", "content", "thinking", "tool_name"), _STRING),
    "images": ("[]api.ImageData", "array"),
    "tool_calls": ("[]api.ToolCall", "array"),
}
_INTEGERS = (
    *("num_ctx", "num_batch", "num_gpu", "num_thread", "num_keep", "num_predict"),
    *("seed", "top_k", "repeat_last_n", "main_gpu"),
)
_FLOATS = (
    *("temperature", "top_p", "min_p", "typical_p"),
    *("repeat_penalty", "presence_penalty", "frequency_penalty"),
)
_OPTIONS = {
    **dict.fromkeys(_INTEGERS, ("integer", "number")),
    **dict.fromkeys(_FLOATS, ("float32", "number")),
    "use_mmap": ("boolean", "bool"),
    "stop": ("array", "array"),
}
_LEVELS = ("high", "medium", "low", "max")
_DURATION = re.compile(r"[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|ms|s|m|h))+|[-+]?0")
_NUMBER = re.compile(r"[-+]?\d+\.?\d*")
_PART = r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,79}"
_NAME = re.compile(rf"(?:[A-Za-z0-9_.\-:]+/)?(?:{_PART}/)?{_PART}(?::{_PART})?")


class RequestRefused(Exception):  # noqa: N818 - the server's word, not an error of ours
    """A request is refused: the failure's name and what fills its text."""

    def __init__(self, name: str, given: Mapping[str, Any] | None = None) -> None:
        super().__init__(name)
        self.name = name
        self.given = given or {}


def complete_name(model: str) -> str:
    """Return a model's name with its tag."""
    return model if ":" in model.rpartition("/")[2] else f"{model}:latest"


def decode_body(path: str, raw: bytes) -> dict[str, Any]:
    """Return the body of a request.

    Raises:
        Refused: It is empty, no JSON, or a field has the wrong type.
    """
    if not raw:
        raise RequestRefused("missing_body")
    try:
        body: dict[str, Any] = json.loads(raw)
    except ValueError as fault:
        raise RequestRefused("broken_json") from fault
    owner = f"{_REQUESTS[path]}Request"
    _check_type("", body, (f"api.{owner}", "object"), owner)
    for name, wanted in FIELDS[path].items():
        _check_type(name, body.get(name), wanted, owner)
    for message in body.get("messages") or () if path == CHAT else ():
        _check_type("messages", message, ("api.Message", "object"), owner)
        for name, wanted in _MESSAGE.items():
            _check_type(f"messages.{name}", message.get(name), wanted, owner)
    value = body.get("think")
    if value is not None and not isinstance(value, bool) and value not in _LEVELS:
        raise RequestRefused("bad_think", {"value": value})
    _check_keep_alive(body.get("keep_alive"))
    return body


def find_model(path: str, body: Mapping[str, Any], models: Mapping[str, Model]) -> Model:
    """Return the model that a request names.

    Raises:
        Refused: It names none, or none that is there.
    """
    name = body.get("model") or (body.get("name") if path == SHOW else "") or ""
    if not name:
        raise RequestRefused("model_required")
    if not _NAME.fullmatch(name):
        raise RequestRefused("invalid_name")
    full = complete_name(name)
    if full not in models:
        raise RequestRefused("missing", {"model": name, "full": full})
    return models[full]


def check_request(body: Mapping[str, Any], model: Model, generation: Generation) -> None:
    """Check what a request asks of its model.

    Raises:
        Refused: The model cannot do it, or a value is not understood.
    """
    given = {"model": body.get("model"), "full": model.name}
    for name in _find_missing_capability(body, model, generation):
        raise RequestRefused(name, given)
    for option, (go_type, kind) in _OPTIONS.items():
        value = (body.get("options") or {}).get(option)
        if value is not None and _name_kind(value) != kind:
            raise RequestRefused("bad_option", {"option": option, "option_type": go_type})
    form = body.get("format")
    if form is not None and form not in ("", "json") and not isinstance(form, dict):
        raise RequestRefused("bad_format", {"value": json.dumps(json.dumps(form))})


def list_ignored(path: str, body: Mapping[str, Any]) -> list[str]:
    """Return what Ollama passes over without a word: fields and options that it does not know."""
    options = body.get("options") or {}
    strange = [f"options.{name}" for name in options if name not in _OPTIONS]
    return [name for name in body if name not in FIELDS[path]] + strange


def _check_type(name: str, value: object, wanted: tuple[str, str] | None, owner: str) -> None:
    if wanted is None or value is None or _name_kind(value) == wanted[1]:
        return
    place = f"{owner}.{name}" if name else owner
    raise RequestRefused(
        "wrong_type", {"kind": _name_kind(value), "field": place, "go_type": wanted[0]}
    )


def _name_kind(value: object) -> str:
    return _KINDS[type(value)]


def _check_keep_alive(value: object) -> None:
    if isinstance(value, str) and not _DURATION.fullmatch(value):
        name = "no_unit" if _NUMBER.fullmatch(value) else "bad_duration"
        raise RequestRefused(name, {"value": value})


def _find_missing_capability(
    body: Mapping[str, Any], model: Model, generation: Generation
) -> Iterator[str]:
    """Yield the name of each failure of a chat because of what the model cannot do."""
    if not model.can("completion"):
        yield "embedding_only"
    if body.get("tools") and not model.can("tools"):
        yield "no_tools"
    if body.get("think") and not model.can("thinking"):
        yield "no_thinking"
    has_images = any(one.get("images") for one in body.get("messages") or ())
    if has_images and not model.can("vision") and generation == "new":
        yield "no_images"
