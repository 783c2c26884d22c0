"""Checks that a model server responds and lists its models, within a hard time limit."""

import difflib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from kebab.errors.catalog import ModelNotPulled, TimedOut
from kebab.llm.endpoint import NO_KEY, ApiKey, Endpoint
from kebab.llm.error_tables import OLLAMA_ERRORS, OPENAI_ERRORS
from kebab.llm.http_client import Call, parse_json_object
from kebab.llm.http_stream import Deadlines, HttpStream, ResponseHead
from kebab.llm.server_errors import ModelRequest, build_refusal, build_unexpected_response

_OK = 200
_COMPLETION = "completion"
_MAX_BODY_BYTES = 8_000_000
_MIN_S = 0.001


@dataclass(frozen=True, slots=True, kw_only=True)
class OllamaServer:
    """An Ollama server: its version and the full names of its models."""

    version: str
    models: tuple[str, ...]


def probe_ollama(
    endpoint: Endpoint,
    model: str = "",
    *,
    operation: str = "doctor",
    connect_s: float = 1.0,
    read_s: float = 2.0,
) -> OllamaServer:
    """Return the version and the models of an Ollama server, after at most `read_s` seconds.

    An empty `model` requires no model.

    Raises:
        ModelUnreachable: There is no server at the endpoint.
        ModelProtocol: The server is not Ollama.
        ModelNotPulled: The server does not have the model.
        ModelRejected: The model cannot answer questions.
        TimedOut: The server accepted the connection and did not respond in time.
    """
    call = Call(endpoint=endpoint, operation=operation, deadline_s=read_s)
    version = _get_ollama_field(call, "/api/version", "version", str, connect_s)
    listed = _get_ollama_field(call, "/api/tags", "models", list | None, connect_s)
    server = OllamaServer(version=version, models=_list_texts(listed or [], "name"))
    if model and add_default_tag(model) not in server.models:
        raise ModelNotPulled(
            model=model,
            endpoint=endpoint.display_url,
            operation=operation,
            models=sort_near_names(model, server.models),
        )
    if model:
        _check_task(call, model, connect_s)
    return server


def sort_near_names(name: str, names: Sequence[str]) -> list[str]:
    """Return names, those that are spelled most like a name first."""
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.4)
    return [*near, *(other for other in names if other not in near)]


def _check_task(call: Call, model: str, connect_s: float) -> None:
    """Refuse a model that cannot write text; a server that does not tell is trusted."""
    request = ModelRequest(call=call, path="/api/show", model=model, errors=OLLAMA_ERRORS)
    head, body = _send(request, connect_s, json.dumps({"model": model}).encode())
    found = (parse_json_object(body) or {}).get("capabilities") if head.status == _OK else None
    tasks = [task for task in found if isinstance(task, str)] if isinstance(found, list) else []
    if tasks and _COMPLETION not in tasks:
        raise request.build_rejection(f"it can only do: {', '.join(tasks)}", "task")


def add_default_tag(model: str) -> str:
    """Return the name of a model with its tag, as Ollama lists it."""
    return model if ":" in model.rpartition("/")[2] else f"{model}:latest"


def probe_openai(
    endpoint: Endpoint,
    model: str = "",
    *,
    key: ApiKey = NO_KEY,
    operation: str = "doctor",
    connect_s: float = 1.0,
    read_s: float = 2.0,
) -> tuple[str, ...]:
    """Return the ids of the models that a server lists, after at most `read_s` seconds.

    A model that is not listed may answer too: some servers use their one model for every name.
    Therefore `model` is only the name that a refusal reports.

    Raises:
        ModelUnreachable: There is no server at the endpoint.
        ModelRejected: The server requires another key, or refuses the request.
        ModelBusy: The server accepts no more work now.
        ModelProtocol: The response does not follow the API.
        TimedOut: The server accepted the connection and did not respond in time.
    """
    call = Call(endpoint=key.strip_login(endpoint), operation=operation, deadline_s=read_s)
    request = ModelRequest(call=call, path="/models", model=model, errors=OPENAI_ERRORS, key=key)
    head, body = _send(request, connect_s)
    listed = (parse_json_object(body) or {}).get("data") if head.status == _OK else None
    if not isinstance(listed, list):
        raise build_refusal(request, head, body)
    return _list_texts(listed, "id")


def _get_ollama_field(call: Call, path: str, name: str, kind: Any, connect_s: float) -> Any:
    """Return a field of a JSON response, which has to be of a kind."""
    request = ModelRequest(call=call, path=path, model="", errors=OLLAMA_ERRORS)
    head, body = _send(request, connect_s)
    answer = parse_json_object(body) if head.status == _OK else None
    if answer is None or not isinstance(answer.get(name), kind):
        raise build_unexpected_response(request, head)
    return answer.get(name)


def _send(
    request: ModelRequest, connect_s: float, content: bytes | None = None
) -> tuple[ResponseHead, bytes]:
    call = request.call
    left_s = max(_MIN_S, call.deadline_s - (monotonic() - call.started))
    deadlines = Deadlines(connect_s=min(connect_s, left_s), first_token_s=0, total_s=left_s)
    try:
        with HttpStream(call, request.path, content, deadlines, request.key.headers) as stream:
            return stream.head, stream.read_body(_MAX_BODY_BYTES)
    except TimedOut as late:
        raise call.build_timeout() from late


def _list_texts(entries: list[Any], name: str) -> tuple[str, ...]:
    """Return the texts with a name in a list of objects; other entries are ignored."""
    texts = (entry.get(name) for entry in entries if isinstance(entry, dict))
    return tuple(text for text in texts if isinstance(text, str))
