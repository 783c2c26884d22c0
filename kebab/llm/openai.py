"""Implements the port `LanguageModel` with the OpenAI-compatible chat API.

The parser of server-sent events follows the WHATWG standard, and also accepts malformed errors of
some servers.
"""

import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from kebab.core.answers import AnswerCutError, Completion, JsonSchema, Message
from kebab.errors.catalog import ModelUnreachable, TimedOut
from kebab.errors.signal import Signal
from kebab.llm.chat import AnswerReader, ChatModel, ChatOptions, reduce_total
from kebab.llm.endpoint import ApiKey, Endpoint
from kebab.llm.http_stream import MAX_LINE_BYTES
from kebab.llm.server_errors import (
    OPENAI_ERRORS,
    ModelRequest,
    ServerError,
    build_refusal,
    build_unexpected_response,
    classify_error,
    parse_json_object,
    parse_server_error,
)
from kebab.wire.record import FinishName

_OK = 200
_COUNTS, _FORMAT, _EFFORT = "stream_options", "response_format", "reasoning_effort"
_INVALID = {400, 422}
_REFUSED_OPTIONS = {
    _COUNTS: re.compile(rb"stream_options"),
    _EFFORT: re.compile(rb"reasoning_effort"),
    _FORMAT: re.compile(rb"(?i)response_format|json[_ -]?schema|grammar|guided|structured"),
}
"""How servers name an option that they refuse."""
_DONE = b"[DONE]"
_REASONS: Mapping[str, FinishName] = {
    **dict.fromkeys(("stop", "eos", "eos_token", "end_turn", "stop_sequence"), "stop"),
    **dict.fromkeys(("length", "max_tokens", "model_length"), "length"),
    **dict.fromkeys(("content_filter", "safety"), "content_filter"),
    **dict.fromkeys(("tool_calls", "function_call", "tool_use"), "tool_calls"),
}
"""How servers name why a model stopped, in lower case."""
_FAILURE_REASONS = {"abort", "error"}
_REASONING = ("reasoning_content", "reasoning")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAiOptions(ChatOptions):
    """The options of an OpenAI-compatible server.

    The API does not transmit `context_tokens`: it is the window that the server started with. Of
    `think` it knows levels only.
    """

    key: str | None = field(default=None, repr=False)
    key_variable: str = "OPENAI_API_KEY"


class _OptionRefusedError(Exception):
    """The server refuses an option that is not necessary; the argument is its name."""


class OpenAiChat(ChatModel[OpenAiOptions]):
    """A model of a server with the OpenAI-compatible API.

    Raises:
        ConfigInvalid: An HTTP header cannot carry the key.
    """

    path = "/chat/completions"
    errors = OPENAI_ERRORS

    def __init__(self, endpoint: Endpoint, model: str, options: OpenAiOptions) -> None:
        super().__init__(endpoint, model, options, ApiKey(options.key or "", options.key_variable))
        self._refused = set[str]()

    def chat(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        on_text: Callable[[str], None],
        schema: JsonSchema | None = None,
    ) -> Completion:
        """Return the answer of the model, without its reasoning.

        The signals are those of `LanguageModel.chat`. A model that the server does not have, and a
        key that it does not accept, are `ModelRejected`.
        """
        request = self._build_request(messages)
        body = self._build_body(messages) | {"max_tokens": max_tokens, "temperature": 0}
        # A server may refuse these options.
        options: dict[str, Any] = {_COUNTS: {"include_usage": True}}
        if isinstance(self._options.think, str):
            options[_EFFORT] = self._options.think
        if schema is not None:
            named = {"name": "answer", "schema": schema, "strict": True}
            options[_FORMAT] = {"type": "json_schema", "json_schema": named}
        while True:
            accepted = {name: options[name] for name in options.keys() - self._refused}
            try:
                return self._complete(request, body | accepted, on_text)
            except _OptionRefusedError as refused:
                self._refused.update(refused.args)

    def _encode_message(self, message: Message) -> dict[str, Any]:
        body = super()._encode_message(message)
        if not message.images:
            return body
        urls = [f"data:image/jpeg;base64,{b64encode(image).decode()}" for image in message.images]
        pictures = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
        return body | {"content": [{"type": "text", "text": message.content}, *pictures]}

    def _complete(
        self, request: ModelRequest, body: dict[str, Any], on_text: Callable[[str], None]
    ) -> Completion:
        deadlines = reduce_total(self._options.deadlines, request.call.started)
        with self._open_stream(request, body, deadlines) as stream:
            head = stream.head
            if head.status == _OK:
                return _EventReader(request, stream, on_text, body["max_tokens"]).read_completion()
            refusal = stream.read_body()
        if head.status in _INVALID:
            for name, pattern in _REFUSED_OPTIONS.items():
                if name in body and pattern.search(refusal):
                    raise _OptionRefusedError(name)
        raise build_refusal(request, head, refusal)


@dataclass(slots=True)
class _EventReader(AnswerReader):
    """Reads an answer of server-sent events, or of one JSON object."""

    finish: str = ""
    complete: bool = False
    usage: dict[str, Any] = field(default_factory=dict)

    def read_completion(self) -> Completion:
        head = self.stream.head
        if head.is_html:
            raise build_unexpected_response(self.request, head)
        if "json" in head.content_type.lower():
            self._read_json()
        else:
            self._read_events()
        return self._finish()

    def _read_json(self) -> None:
        body = self.stream.read_body(MAX_LINE_BYTES)
        answer = parse_json_object(body) or {}
        choices = answer.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        has_message = isinstance(choice, dict) and isinstance(choice.get("message"), dict)
        if answer.get("error") or not has_message:
            raise build_refusal(self.request, self.stream.head, body)
        self._add_chunk(answer, "message")
        self.complete = True

    def _read_events(self) -> None:
        for event in parse_events(self._iter_lines()):
            if event.data.strip() == _DONE:
                self.complete = True
                return
            chunk = parse_json_object(event.data)
            if event.name == ERROR:
                text = event.data.decode("utf-8", "replace")
                raise self._classify(chunk or {}, text)
            if chunk is None:
                raise self.request.call.build_protocol_error("an event is not a JSON object")
            if chunk.get("error") or ("choices" not in chunk and parse_server_error(chunk)):
                raise self._classify(chunk)
            self._add_chunk(chunk, "delta")
        if not self.complete:
            cause = "the stream ended without an end mark"
            raise self.request.call.build_protocol_error(cause) from AnswerCutError()

    def _iter_lines(self) -> Iterator[bytes]:
        try:
            yield from self.stream.iter_lines()
        except (ModelUnreachable, TimedOut):
            # After a complete answer only the token counts are missing, which is not an error.
            if not self.complete:
                raise

    def _classify(self, chunk: dict[str, Any], text: str = "") -> Signal:
        return classify_error(self.request, parse_server_error(chunk) or ServerError(text=text))

    def _add_chunk(self, chunk: dict[str, Any], part: str) -> None:
        """Add a chunk; the last one has no choices but the token counts."""
        if isinstance(usage := chunk.get("usage"), dict):
            self.usage = usage
        choices = chunk.get("choices") or []
        if not isinstance(choices, list):
            raise self.request.call.build_protocol_error("the choices are not a list")
        for choice in choices[:1]:
            if not isinstance(choice, dict):
                raise self.request.call.build_protocol_error("a choice is not an object")
            self._add_message(choice.get(part))
            finish = choice.get("finish_reason")
            if isinstance(finish, str) and finish:
                self.finish, self.complete = finish, True

    def _add_message(self, message: object) -> None:
        if not isinstance(message, dict | None):
            raise self.request.call.build_protocol_error("a message is not an object")
        message = message or {}
        text = message.get("content") or ""
        if not isinstance(text, str):
            raise self.request.call.build_protocol_error("the content of a message is not a text")
        reasoning = any(message.get(name) for name in _REASONING)
        self._add_text(text, reasoning, message.get("tool_calls") or message.get("function_call"))

    def _finish(self) -> Completion:
        if self.finish in _FAILURE_REASONS:
            cause = f"the server aborted the answer: {self.finish}"
            raise self.request.call.build_unreachable(cause)
        finish, usage = _REASONS.get(self.finish.lower()), self.usage
        return self._build_completion(
            finish, usage.get("prompt_tokens"), usage.get("completion_tokens")
        )


_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
ERROR = "error"


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    """One event: its name, empty for most, and its data."""

    name: str
    data: bytes


def parse_events(lines: Iterable[bytes]) -> Iterator[ServerSentEvent]:
    """Yield the events of a stream, given lines that end in LF or CRLF.

    Three things extend the standard: the last event may lack its blank line, and a field `error`
    or a line of bare JSON is an event, because some servers send their errors this way.
    """
    name, data = "", list[bytes]()
    first = True
    for raw in chain(lines, [b""]):
        # A line may also end in CR alone.
        for line in (raw.removeprefix(_BYTE_ORDER_MARK) if first else raw).split(b"\r"):
            # A comment has an empty name.
            field, _, value = line.partition(b":")
            value = value.removeprefix(b" ")
            if line.startswith(b"{"):
                yield ServerSentEvent("", line)
            elif field == b"data":
                data.append(value)
            elif field == b"event":
                name = value.decode("utf-8", "replace")
            elif field == b"error":
                yield ServerSentEvent(ERROR, value)
            elif not line:
                if any(data):
                    yield ServerSentEvent(name, b"\n".join(data))
                name, data = "", []
        first = False
