"""Builds requests and reads answers, as far as the chat adapters do it alike."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, ClassVar, Generic, Literal, TypeVar

from msgspec.structs import replace

from kebab.core.answers import Completion, Message
from kebab.llm.endpoint import NO_KEY, ApiKey, Endpoint
from kebab.llm.http_stream import Call, Deadlines, HttpStream
from kebab.llm.server_errors import ErrorTable, ModelRequest, parse_count
from kebab.text.normalize import escape_undecodable
from kebab.wire.record import FinishName

MAX_TOKEN_CHARS = 128
"""The most characters of one token, a long run of blanks. A server whose answer is longer than
its tokens can be ignores the limit, and may never stop."""
_BYTES_PER_TOKEN = 4
_LEAST_S = 0.001


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOptions:
    """The options that are the same for every request.

    `context_tokens` is the window that the prompt and the answer share; `operation` is named by the
    signals. `think` is whether the model thinks before it answers, or how much.
    """

    context_tokens: int
    deadlines: Deadlines
    operation: str = "ask"
    think: bool | str = False


_Options = TypeVar("_Options", bound=ChatOptions)


class ChatModel(Generic[_Options]):
    """The common part of the chat adapters."""

    path: ClassVar[str]
    errors: ClassVar[ErrorTable]

    def __init__(
        self, endpoint: Endpoint, model: str, options: _Options, key: ApiKey = NO_KEY
    ) -> None:
        self._endpoint = key.strip_login(endpoint)
        self._model = model
        self._options = options
        self._key = key

    @property
    def name(self) -> str:
        """The name of the model on the server."""
        return self._model

    @property
    def context_tokens(self) -> int:
        """The window that the prompt and the answer share, in tokens."""
        return self._options.context_tokens

    def _build_request(self, messages: Sequence[Message]) -> ModelRequest:
        size = sum(len(message.content.encode(errors="replace")) for message in messages)
        return ModelRequest(
            call=Call(
                endpoint=self._endpoint, operation=self._options.operation, model=self._model
            ),
            path=self.path,
            errors=self.errors,
            key=self._key,
            prompt_tokens=size // _BYTES_PER_TOKEN,
            context_tokens=self._options.context_tokens,
        )

    def _build_body(self, messages: Sequence[Message]) -> dict[str, Any]:
        return {
            "model": self._model,
            "messages": [self._encode_message(message) for message in messages],
            "stream": True,
        }

    def _encode_message(self, message: Message) -> dict[str, Any]:
        """Return a message in the form of the API."""
        return {"role": message.role, "content": message.content}

    def _open_stream(
        self, request: ModelRequest, body: dict[str, Any], deadlines: Deadlines
    ) -> HttpStream:
        content = json.dumps(body).encode()
        return HttpStream(request.call, request.path, content, deadlines, self._key.headers)


def reduce_total(deadlines: Deadlines, started: float) -> Deadlines:
    """Return the deadlines with the total that is left of a call."""
    if not deadlines.total_s:
        return deadlines
    return replace(deadlines, total_s=max(_LEAST_S, deadlines.total_s - (monotonic() - started)))


@dataclass(slots=True)
class AnswerReader:
    """Collects one answer while it streams; `on_text` gets each piece, without the reasoning."""

    request: ModelRequest
    stream: HttpStream
    on_text: Callable[[str], None]
    max_tokens: int
    aside: Literal["reasoning", "tool_call"] | None = None
    pieces: list[str] = field(default_factory=list)
    length: int = 0
    first_token_ms: float | None = None

    def _add_text(self, text: str, reasoning: object, calls: object = None) -> None:
        if text or reasoning or calls:
            self.stream.record_token()
        if reasoning or calls:
            self.aside = "tool_call" if calls else "reasoning"
        if not text:
            return
        if self.first_token_ms is None:
            self.first_token_ms = (monotonic() - self.stream.started) * 1000
        self.length += len(text)
        if self.length > MAX_TOKEN_CHARS * self.max_tokens:
            cause = "the answer is far longer than the limit in the request"
            raise self.request.call.build_protocol_error(cause)
        self.pieces.append(escape_undecodable(text))
        self.on_text(self.pieces[-1])

    def _build_completion(
        self, finish: FinishName | None, prompt_tokens: object, completion_tokens: object
    ) -> Completion:
        return Completion(
            text="".join(self.pieces),
            finish=finish,
            prompt_tokens=parse_count(prompt_tokens) or None,
            completion_tokens=parse_count(completion_tokens) or None,
            first_token_ms=self.first_token_ms,
            aside=self.aside,
        )
