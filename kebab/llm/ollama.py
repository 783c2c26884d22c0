"""Implements the port `LanguageModel` with the chat API of Ollama."""

import re
from base64 import b64encode
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec.structs import replace

from kebab.core.answers import AnswerCutError, Completion, JsonSchema, Message
from kebab.errors.catalog import ContextOverflow
from kebab.llm.chat import AnswerReader, ChatModel, ChatOptions, reduce_total
from kebab.llm.server_errors import (
    OLLAMA_ERRORS,
    ModelRequest,
    build_refusal,
    build_unexpected_response,
    classify_error,
    format_one_line,
    parse_count,
    parse_json_object,
    parse_server_error,
)

if TYPE_CHECKING:
    from kebab.wire.record import FinishName

_OK = 200
_REFUSED_SCHEMA = re.compile(
    rb"JSON schema|ChatRequest\.format|invalid format|grammar", re.IGNORECASE
)
"""How old and new versions refuse a schema; the oldest want a text in its place."""
_WINDOW_STEP = 256
"""Newer servers round a window up to a multiple of this."""

_Line: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class OllamaOptions(ChatOptions):
    """The options of Ollama; it loads the model again when one of them changes.

    `keep_alive` is a duration such as `5m`, or a number of seconds.
    """

    keep_alive: str | int = "5m"


class _SchemaRefusedError(Exception):
    """The server cannot constrain an answer by the schema."""


class OllamaChat(ChatModel[OllamaOptions]):
    """A model of an Ollama server."""

    path = "/api/chat"
    errors = OLLAMA_ERRORS
    _accepts_schemas = True

    def chat(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        on_text: Callable[[str], None],
        schema: JsonSchema | None = None,
    ) -> Completion:
        """Return the answer of the model, without its reasoning.

        The signals are those of `LanguageModel.chat`. A server that is not Ollama, a model that
        crashed, and a missing last line are `ModelProtocol`.
        """
        request = self._build_request(messages)
        keep_alive = self._options.keep_alive
        # Ollama refuses a number of seconds in a text.
        with suppress(ValueError):
            keep_alive = int(keep_alive)
        body = self._build_body(messages) | {
            "think": self._options.think,
            # By default Ollama drops the oldest words without notice; an overflow must be visible.
            # `shift` is left out: a server reloads its model when clients send different values.
            "truncate": False,
            "keep_alive": keep_alive,
            "options": {
                "num_ctx": self._options.context_tokens,
                "num_predict": max_tokens,
                "temperature": 0,
            },
        }
        if schema is not None and self._accepts_schemas:
            try:
                return self._complete(request, body | {"format": schema}, max_tokens, on_text)
            except _SchemaRefusedError:
                self._accepts_schemas = False
        return self._complete(request, body, max_tokens, on_text)

    def _encode_message(self, message: Message) -> dict[str, Any]:
        body = super()._encode_message(message)
        images = [b64encode(image).decode() for image in message.images]
        return body | {"images": images} if images else body

    def _complete(
        self,
        request: ModelRequest,
        body: dict[str, Any],
        max_tokens: int,
        on_text: Callable[[str], None],
    ) -> Completion:
        deadlines = reduce_total(self._options.deadlines, request.call.started)
        with self._open_stream(request, body, deadlines) as stream:
            head = stream.head
            if head.status == _OK:
                return _LineReader(request, stream, on_text, max_tokens).read_completion()
            refusal = stream.read_body()
        if "format" in body and _REFUSED_SCHEMA.search(refusal):
            raise _SchemaRefusedError
        raise build_refusal(request, head, refusal)


class _LineReader(AnswerReader):
    """Reads an answer of JSON lines."""

    def read_completion(self) -> Completion:
        """Read up to the last line; without it the answer is incomplete."""
        for raw in self.stream.iter_lines():
            if raw.strip():
                line = self._parse_line(raw)
                text, thinking = (self._read_text(line, name) for name in ("content", "thinking"))
                self._add_text(text, thinking, (line.get("message") or {}).get("tool_calls"))
                if line.get("done") is True:
                    return self._finish(line)
        cause = "the stream ended without its last line, as when a model repeats itself"
        raise self.request.call.build_protocol_error(cause) from AnswerCutError()

    def _parse_line(self, raw: bytes) -> _Line:
        """Return the object of a line; an error in it is raised."""
        line = parse_json_object(raw)
        if line is None and self.stream.head.is_html:
            raise build_unexpected_response(self.request, self.stream.head)
        if line is None:
            start = format_one_line(raw[:400].decode("utf-8", "replace"), 80)
            raise self.request.call.build_protocol_error(f"a line is not a JSON object: {start}")
        if line.get("error") is not None:
            error = parse_server_error({"error": line["error"]})
            if error is None:
                raise self.request.call.build_protocol_error("a line has an error without a text")
            raise classify_error(self.request, error)
        return line

    def _read_text(self, line: _Line, name: str) -> str:
        message = {} if line.get("message") is None else line["message"]
        text = message.get(name) or "" if isinstance(message, dict) else None
        if not isinstance(text, str):
            raise self.request.call.build_protocol_error("a line has a message without a text")
        return text

    def _finish(self, last: _Line) -> Completion:
        reason = last.get("done_reason")
        if reason in ("load", "unload"):
            raise self.request.call.build_protocol_error("the server only loaded the model")
        prompt_tokens = parse_count(last.get("prompt_eval_count"))
        window = self.request.context_tokens
        rounded = -(-window // _WINDOW_STEP) * _WINDOW_STEP
        # Old servers truncate a prompt that fills its window, without notice.
        if prompt_tokens == window or prompt_tokens >= rounded:
            raise ContextOverflow(
                prompt_tokens=max(prompt_tokens, self.request.prompt_tokens),
                context_tokens=window,
                operation=self.request.call.operation,
            )
        completion_tokens = parse_count(last.get("eval_count"))
        # A server shifts a full window: the end of such an answer was written without the evidence.
        shifted = prompt_tokens > 0 and prompt_tokens + completion_tokens > rounded
        finish: FinishName | None = reason if reason in ("stop", "length") else None
        completion = self._build_completion(finish, prompt_tokens, completion_tokens)
        return replace(completion, is_shifted=shifted)
