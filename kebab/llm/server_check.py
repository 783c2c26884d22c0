"""Checks that a server speaks HTTP before it gets a prompt, and waits while it loads its model."""

import socket
import ssl
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic, sleep

from kebab.core.answers import Completion, JsonSchema, LanguageModel, Message
from kebab.errors.catalog import ModelBusy, ModelProtocol, ModelUnreachable, TimedOut
from kebab.llm.endpoint import Endpoint
from kebab.llm.http_client import format_one_line
from kebab.llm.http_stream import Deadlines, HttpStream
from kebab.llm.proxies import find_proxy_variable
from kebab.llm.server_errors import ModelRequest, build_unexpected_response, is_html

LOADING = "the server is loading the model"
_OK = 200
_REDIRECT_STATUSES = range(300, 400)
_SILENCE_S = 1.2
"""How much longer than a connection the first byte of a server may take."""
_DIAGNOSIS_S = 0.3
"""The limit for finding out what listens instead of a server."""
_VALID_S = 60.0
"""A server that has answered is not checked again for this time."""
_MAX_GREETING_CHARS = 80
_FIRST_WAIT_S = 0.25
_LONGEST_WAIT_S = 2.0

_answered: dict[str, float] = {}
"""When each server of this process answered last."""


def check_server_responds(request: ModelRequest, deadlines: Deadlines) -> None:
    """Check with a small request that an HTTP server listens.

    Any status proves it, except a web page or a redirect in place of the API. A server that closes
    the connection may still answer a prompt. One that is silent now and has answered this process
    before is busy, so the prompt waits for it with its own limit.

    Raises:
        ModelUnreachable: Nothing listens, or it stays silent.
        ModelProtocol: Another program listens.
    """
    endpoint = request.call.endpoint
    if monotonic() - _answered.get(endpoint.display_url, float("-inf")) < _VALID_S:
        return
    try:
        _check_response(request, deadlines)
    except ModelUnreachable as failure:
        if failure.reason != "server":
            raise
        _refuse_tls(request)
    except ModelProtocol as failure:
        if failure.setting and (greeting := _read_greeting(endpoint)):
            raise _build_foreign_signal(request, greeting) from failure
        raise
    except TimedOut as late:
        _refuse_silent(request, late)
        return
    _answered[endpoint.display_url] = monotonic()


def _refuse_silent(request: ModelRequest, late: TimedOut) -> None:
    """Raise the signal for a port that stays silent, unless its server has answered before."""
    endpoint = request.call.endpoint
    if greeting := _read_greeting(endpoint):
        raise _build_foreign_signal(request, greeting) from late
    if endpoint.display_url not in _answered:
        cause = "it accepts connections and stays silent"
        raise request.call.build_unreachable(cause, "silent") from late


def _check_response(request: ModelRequest, deadlines: Deadlines) -> None:
    connect_s = deadlines.connect_s
    limit_s = connect_s + _SILENCE_S if connect_s else deadlines.first_token_s
    limits = Deadlines(connect_s=connect_s, first_token_s=limit_s, total_s=limit_s)
    headers = {**request.key.headers, "Connection": "close"}
    with HttpStream(request.call, request.path, None, limits, headers) as stream:
        head = stream.head
        if head.status in _REDIRECT_STATUSES or (head.status == _OK and is_html(head)):
            raise build_unexpected_response(request, head, stream.read_body())


def _refuse_tls(request: ModelRequest) -> None:
    """Raise the signal for a plain request to a server that speaks TLS."""
    endpoint = request.call.endpoint
    if endpoint.scheme == "http" and _speaks_tls(endpoint):
        cause = "it speaks TLS, so its address begins with `https://`"
        raise request.call.build_protocol_error(cause, endpoint.setting)


def _build_foreign_signal(request: ModelRequest, greeting: str) -> ModelProtocol:
    cause = f"another program listens there: {greeting}"
    return request.call.build_protocol_error(cause, request.call.endpoint.setting)


def _read_greeting(endpoint: Endpoint) -> str:
    """Return the first line that a program sends to a new connection, or an empty text."""
    with suppress(OSError), _connect(endpoint) as connection:
        raw = connection.recv(400)
        line = raw.decode("utf-8", "replace").strip().partition("\n")[0]
        return format_one_line(line, _MAX_GREETING_CHARS)
    return ""


def _speaks_tls(endpoint: Endpoint) -> bool:
    context = ssl.create_default_context()
    context.check_hostname = False
    # Nothing is sent over this connection.
    context.verify_mode = ssl.CERT_NONE
    with suppress(OSError), _connect(endpoint) as plain, context.wrap_socket(plain):
        return True
    return False


def _connect(endpoint: Endpoint) -> socket.socket:
    """Connect directly, for a diagnosis.

    Raises:
        OSError: There is a proxy, or no connection.
    """
    if find_proxy_variable(endpoint):
        raise ConnectionRefusedError
    return socket.create_connection((endpoint.host, endpoint.port), _DIAGNOSIS_S)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedModel:
    """A language model whose server is checked before a prompt, and waited for while it loads.

    Args:
        model: The model.
        check: Raises a signal when no server listens.
        loading_s: The longest wait for a server that loads its model, in seconds; 0 means no limit.
        on_wait: Receives the reason when a wait begins.
    """

    model: LanguageModel
    check: Callable[[], None]
    loading_s: float
    on_wait: Callable[[str], None]

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
        on_text: Callable[[str], None],
        schema: JsonSchema | None = None,
    ) -> Completion:
        """Return the answer of the model; the signals are those of the model and of the check.

        Raises:
            ModelBusy: The server is busy, or still loads its model at the end of the wait.
        """
        self.check()
        started, wait_s = monotonic(), _FIRST_WAIT_S
        while True:
            try:
                return self.model.chat(
                    messages, max_tokens=max_tokens, on_text=on_text, schema=schema
                )
            except ModelBusy as busy:
                is_late = self.loading_s and monotonic() - started + wait_s > self.loading_s
                if busy.reason != "loading" or is_late:
                    raise
            if wait_s == _FIRST_WAIT_S:
                self.on_wait(LOADING)
            sleep(wait_s)
            wait_s = min(2 * wait_s, _LONGEST_WAIT_S)
