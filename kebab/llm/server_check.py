"""Checks that a model server speaks HTTP and lists its models, and waits while it loads one."""

import difflib
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import monotonic, sleep
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from kebab.config.settings import Llm
from kebab.core.answers import Completion, JsonSchema, LanguageModel, Message
from kebab.errors.catalog import ModelBusy, ModelProtocol, ModelUnreachable, TimedOut
from kebab.llm.endpoint import Endpoint
from kebab.llm.http_stream import Deadlines, HttpStream, ResponseHead
from kebab.llm.server_errors import OK, ModelRequest, build_unexpected_response, parse_json_object

_COMPLETION, _VISION = "completion", "vision"
_MAX_BODY_BYTES = 8_000_000
_CONNECT_S, _MIN_S = 1.0, 0.001


def probe_ollama(
    endpoint: Endpoint,
    model: str = "",
    *,
    operation: str = "doctor",
    read_s: float = 2.0,
    vision: bool = False,
) -> tuple[str, tuple[str, ...]]:
    """Return the version of an Ollama server and its models, after at most `read_s` seconds.

    An empty `model` requires no model; with `vision` the server must say that it sees pictures.

    Raises:
        ModelUnreachable: There is no server at the endpoint.
        ModelProtocol: The server is not Ollama.
        ModelNotPulled: The server does not have the model.
        ModelRejected: The model cannot answer questions.
        TimedOut: The server accepted the connection and did not respond in time.
    """
    request = ModelRequest(
        endpoint=endpoint, operation=operation, model=model, deadline_s=read_s, path="/api/version"
    )
    version: str = _get_ollama_field(request, "version", str)
    request = replace(request, path="/api/tags")
    listed = _get_ollama_field(request, "models", list | None)
    models = _list_texts(listed, "name")
    if model and add_default_tag(model) not in models:
        raise request.build_missing(sort_near_names(model, models))
    if model:
        request = replace(request, path="/api/show")
        head, body = _send(request, json.dumps({"model": model}).encode())
        found = (parse_json_object(body) or {}).get("capabilities") if head.status == OK else None
        tasks = [task for task in found if isinstance(task, str)] if isinstance(found, list) else []
        if tasks and _COMPLETION not in tasks:
            raise request.build_rejection(f"it can only do: {', '.join(tasks)}", "task")
        # Old servers ignore pictures that the model does not see.
        if vision and _VISION not in tasks:
            raise request.build_rejection("it does not see pictures", "task")
    return version, models


def sort_near_names(name: str, names: Sequence[str]) -> list[str]:
    """Return names, those that are spelled most like a name first."""
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.4)
    return [*near, *(other for other in names if other not in near)]


def add_default_tag(model: str) -> str:
    """Return the name of a model with its tag, as Ollama lists it."""
    return model if ":" in model.rpartition("/")[2] else f"{model}:latest"


def _get_ollama_field(request: ModelRequest, name: str, kind: Any) -> Any:
    """Return a field of a JSON response, which has to be of a kind."""
    head, body = _send(request)
    answer = parse_json_object(body) if head.status == OK else None
    if answer is None or not isinstance(answer.get(name), kind):
        raise build_unexpected_response(request, head)
    return answer.get(name)


def _send(request: ModelRequest, content: bytes | None = None) -> tuple[ResponseHead, bytes]:
    left_s = max(_MIN_S, request.deadline_s - (monotonic() - request.started))
    deadlines = Deadlines(connect_s=min(_CONNECT_S, left_s), first_token_s=0, total_s=left_s)
    try:
        with HttpStream(request, request.path, content, deadlines) as stream:
            return stream.head, stream.read_body(_MAX_BODY_BYTES)
    except TimedOut as late:
        raise request.build_timeout() from late


def _list_texts(entries: object, name: str) -> tuple[str, ...]:
    """Return the texts with a name in a list of objects; other values are ignored."""
    listed = entries if isinstance(entries, list) else []
    texts = (entry.get(name) for entry in listed if isinstance(entry, dict))
    return tuple(text for text in texts if isinstance(text, str))


LOADING = "the server is loading the model"
_SILENCE_S = 1.2
"""How much longer than a connection the first byte of a server may take."""
_VALID_S = 60.0
"""A server that has answered is not checked again for this time."""
_FIRST_WAIT_S = 0.25
_LONGEST_WAIT_S = 2.0

_answered: dict[str, tuple[float, tuple[str, ...]]] = {}
"""When each server of this process answered last, and the models that it listed."""


def check_server_responds(
    endpoint: Endpoint, llm: Llm, model: str = "", operation: str = "ask"
) -> tuple[str, ...]:
    """Check with a small request that an HTTP server listens; return the models that it lists.

    Any status proves it, except a web page or a redirect in place of the API. A server that closes
    the connection may still answer a prompt. One that is silent now and has answered this process
    before is busy, so the prompt waits for it with its own limit.

    Raises:
        ModelUnreachable: Nothing listens, or it stays silent.
        ModelProtocol: Another program listens.
    """
    path = "/models" if endpoint.provider == "openai" else "/api/version"
    request = ModelRequest(endpoint=endpoint, operation=operation, model=model, path=path)
    known, names = _answered.get(endpoint.display_url, (float("-inf"), ()))
    if monotonic() - known < _VALID_S:
        return names
    connect_s = llm.connect_s
    limit_s = connect_s + _SILENCE_S if connect_s else llm.first_token_s
    limits = Deadlines(connect_s=connect_s, first_token_s=limit_s, total_s=limit_s)
    try:
        with HttpStream(request, path, None, limits, {"Connection": "close"}) as stream:
            head = stream.head
            if head.status in range(300, 400) or (head.status == OK and head.is_html):
                raise build_unexpected_response(request, head, stream.read_body())
            body = _read_object(stream)
        if endpoint.provider == "ollama" and "version" not in body:
            other = replace(request, endpoint=replace(endpoint, prefix="/v1"))
            with HttpStream(other, "/models", None, limits) as stream:
                if _list_texts(_read_object(stream).get("data"), "id"):
                    cause = "it is OpenAI-compatible"
                    raise request.build_protocol_error(cause, "models.llm.provider")
        names = _list_texts(body.get("data"), "id")
    except ModelUnreachable as failure:
        if failure.reason != "server":
            raise
    except TimedOut as late:
        if endpoint.display_url not in _answered:
            cause = "it accepts connections and does not answer"
            raise request.build_unreachable(cause, "silent") from late
        return ()
    _answered[endpoint.display_url] = monotonic(), names
    return names


def _read_object(stream: HttpStream) -> dict[str, Any]:
    """Return the JSON object of a response, an empty one when there is none."""
    with suppress(ModelUnreachable, ModelProtocol, TimedOut):
        return parse_json_object(stream.read_body(_MAX_BODY_BYTES)) or {}
    return {}


class CheckedModel(Struct, frozen=True, kw_only=True):
    """A language model whose server is checked before a prompt, and waited for while it loads.

    `check` raises a signal when no server listens, and returns the models that it lists.
    `loading_s` is the longest wait for a server that loads its model, 0 without a limit; `on_wait`
    receives the reason when it begins. `mask` removes from a prompt what the server must not have.
    """

    model: LanguageModel
    check: Callable[[], tuple[str, ...]]
    loading_s: float
    on_wait: Callable[[str], None]
    mask: Callable[[str], str] = str

    @property
    def name(self) -> str:
        """The name of the model on its server."""
        return self.model.name

    @property
    def context_tokens(self) -> int:
        """The window that the prompt and the answer share, in tokens."""
        return self.model.context_tokens

    def chat(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        on_text: Callable[[str | None], None],
        schema: JsonSchema | None = None,
    ) -> Completion:
        """Return the answer of the model; the signals are those of the model and of the check.

        Raises:
            ModelBusy: The server is busy, or still loads its model at the end of the wait.
        """
        listed = self.check()
        is_listed = {self.name, add_default_tag(self.name)} & {*listed}
        others = () if is_listed else listed
        messages = [replace(one, content=self.mask(one.content)) for one in messages]
        started, wait_s = monotonic(), _FIRST_WAIT_S
        while True:
            try:
                completion = self.model.chat(
                    messages, max_tokens=max_tokens, on_text=on_text, schema=schema
                )
                return replace(completion, other_models=others)
            except ModelBusy as busy:
                is_late = self.loading_s and monotonic() - started + wait_s > self.loading_s
                if busy.reason != "loading" or is_late:
                    raise
            if wait_s == _FIRST_WAIT_S:
                self.on_wait(LOADING)
            sleep(wait_s)
            wait_s = min(2 * wait_s, _LONGEST_WAIT_S)
