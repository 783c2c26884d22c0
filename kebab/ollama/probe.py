"""Whether Ollama answers and has a model, found out within a hard limit of time."""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

from kebab.errors.catalog import ModelNotPulled
from kebab.errors.signal import Signal
from kebab.transport.client import open_client
from kebab.transport.decode import json_object
from kebab.transport.endpoint import Endpoint
from kebab.transport.failures import Call, translated

if TYPE_CHECKING:
    import httpx

_OK = 200
_LARGEST_BODY = 8_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """An Ollama that answers: its version and the full names of its models."""

    version: str
    models: tuple[str, ...]


def probe(
    endpoint: Endpoint,
    model: str = "",
    *,
    operation: str = "doctor",
    connect_s: float = 1.0,
    read_s: float = 2.0,
) -> Server:
    """Return what answers at the endpoint, after at most `read_s` seconds in all.

    An empty `model` asks for none.

    Raises:
        ModelUnreachable: Nothing answers there.
        ModelProtocol: What answers there is not Ollama.
        ModelNotPulled: The server does not have the model.
        TimedOut: The server took the connection and did not answer in time.
    """
    call = Call(endpoint=endpoint, operation=operation, deadline_s=read_s)
    server = _within(call, lambda: _ask(call, connect_s))
    if model and full_name(model) not in server.models:
        raise ModelNotPulled(model=model, endpoint=endpoint.shown, operation=operation)
    return server


def full_name(model: str) -> str:
    """Return a model's name with its tag, as the server lists it."""
    return model if ":" in model.rpartition("/")[2] else f"{model}:latest"


def _within(call: Call, work: Callable[[], Server]) -> Server:
    """Return what `work` does in a thread of its own: no socket timeout bounds a name look-up."""
    outcome: Future[Server] = Future()

    def run() -> None:
        try:
            outcome.set_result(work())
        except BaseException as failure:  # noqa: BLE001 - raised again where the caller waits
            outcome.set_exception(failure)

    Thread(target=run, name="kebab-ollama-probe", daemon=True).start()
    try:
        return outcome.result(timeout=call.deadline_s)
    except TimeoutError as late:
        raise call.late() from late


def _ask(call: Call, connect_s: float) -> Server:
    limits = {"connect_s": min(connect_s, call.deadline_s), "silence_s": call.deadline_s}
    with translated(call), open_client(call, **limits) as client:
        version = _get(client, call, "/api/version").get("version")
        listed = _get(client, call, "/api/tags").get("models")
    if not isinstance(version, str) or not isinstance(listed, list | None):
        raise _stranger(call, "/api/version")
    names = (entry.get("name") for entry in listed or () if isinstance(entry, dict))
    return Server(version=version, models=tuple(name for name in names if isinstance(name, str)))


def _get(client: "httpx.Client", call: Call, path: str) -> dict[str, Any]:
    with client.stream("GET", call.endpoint.url(path)) as response:
        if response.status_code != _OK:
            raise _stranger(call, path, f"HTTP {response.status_code}")
        body = b""
        for piece in response.iter_raw():
            body += piece
            if len(body) > _LARGEST_BODY or monotonic() - call.started > call.deadline_s:
                raise call.late()
    answer = json_object(body)
    if answer is None:
        raise _stranger(call, path)
    return answer


def _stranger(call: Call, path: str, answer: str = "something else") -> Signal:
    return call.foreign(f"no Ollama answers there, `{path}` gave {answer}")
