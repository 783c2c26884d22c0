"""The chat of a server with the OpenAI-compatible protocol as a language model, streamed."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any

from kebab.core.answer import Completion, Message
from kebab.openai.key import Key
from kebab.openai.refusals import Request, refused
from kebab.openai.reply import Reply
from kebab.transport.endpoint import Endpoint
from kebab.transport.exchange import Deadlines, Exchange
from kebab.transport.failures import Call

_PATH = "/chat/completions"
_OK = 200
_INVALID = {400, 422}
_BYTES_PER_TOKEN = 4
_COUNTS = {"stream_options": {"include_usage": True}}
_LEAST_S = 0.001


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOptions:
    """How a model is asked, the same for every call.

    Args:
        context_tokens: The window that the server was started with; the protocol sends none.
        deadlines: What an answer may take.
        key: What the server wants to be shown, if anything.
        key_variable: Where the key comes from.
        operation: What the signals name.
    """

    context_tokens: int
    deadlines: Deadlines
    key: str | None = field(default=None, repr=False)
    key_variable: str = "OPENAI_API_KEY"
    operation: str = "ask"


class _Uncounted(Exception):  # noqa: N818 - nothing is wrong
    """The server does not know how to count what a stream costs."""


class OpenAiChat:
    """A model of a server with this protocol, behind the port `LanguageModel`.

    Raises:
        ConfigInvalid: No HTTP header can carry the key.
    """

    def __init__(self, endpoint: Endpoint, model: str, options: ChatOptions) -> None:
        self._key = Key(options.key or "", options.key_variable)
        self._endpoint = self._key.at(endpoint)
        self._model = model
        self._options = options
        self._counts = True

    @property
    def name(self) -> str:
        """The model's name, as the server knows it."""
        return self._model

    @property
    def context_tokens(self) -> int:
        """The window that prompt and answer share, in tokens."""
        return self._options.context_tokens

    def chat(
        self, messages: Sequence[Message], *, max_tokens: int, on_text: Callable[[str], None]
    ) -> Completion:
        """Return what the model says; what it reasons before is waited for and left out.

        Raises:
            ModelUnreachable: No connection, it was cut, or the server failed at work.
            ModelRejected: The server has no such model, cannot load it, wants another key, or
                refuses the request.
            ModelBusy: The server takes no more work now, or still loads the model.
            ModelProtocol: What answers does not speak the protocol, or ended too early.
            ContextOverflow: The conversation does not fit the window.
            TimedOut: A deadline passed; `operation` says which one.
        """
        request = self._request(messages)
        body = self._body(messages, max_tokens)
        if self._counts:
            try:
                return self._completion(request, {**body, **_COUNTS}, on_text)
            except _Uncounted:
                self._counts = False
        return self._completion(request, body, on_text)

    def _request(self, messages: Sequence[Message]) -> Request:
        size = sum(len(message.content.encode(errors="replace")) for message in messages)
        return Request(
            call=Call(endpoint=self._endpoint, operation=self._options.operation),
            path=_PATH,
            model=self._model,
            key=self._key,
            prompt_tokens=size // _BYTES_PER_TOKEN,
            context_tokens=self._options.context_tokens,
        )

    def _body(self, messages: Sequence[Message], max_tokens: int) -> dict[str, Any]:
        return {
            "model": self._model,
            "messages": [{"role": one.role, "content": one.content} for one in messages],
            "stream": True,
            "max_tokens": max_tokens,
            "temperature": 0,
        }

    def _completion(
        self, request: Request, body: dict[str, Any], on_text: Callable[[str], None]
    ) -> Completion:
        sent, headers = json.dumps(body).encode(), self._key.headers
        deadlines = _left(self._options.deadlines, request.call.started)
        with Exchange(request.call, _PATH, sent, deadlines, headers) as exchange:
            head = exchange.head
            if head.status == _OK:
                return Reply(request, exchange, on_text, body["max_tokens"]).completion()
            refusal = exchange.body()
        if "stream_options" in body and head.status in _INVALID and b"stream_options" in refusal:
            raise _Uncounted
        raise refused(request, head, refusal)


def _left(deadlines: Deadlines, started: float) -> Deadlines:
    """Return the deadlines of a request that is a part of a longer work."""
    if not deadlines.total_s:
        return deadlines
    return replace(deadlines, total_s=max(_LEAST_S, deadlines.total_s - (monotonic() - started)))
