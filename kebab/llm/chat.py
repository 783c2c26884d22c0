"""Implements the port `LanguageModel` for the chat APIs of Ollama and of OpenAI-compatible servers.

What both do alike comes first. The parser of server-sent events follows the WHATWG standard, and
also accepts malformed errors of some servers. The vectors of texts come from the same servers.
"""

import json
import re
from base64 import b64encode
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from time import monotonic
from typing import Any, ClassVar, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from kebab.config.settings import Llm
from kebab.core.answers import AnswerCutError, AsideName, Completion, JsonSchema, Message
from kebab.errors.catalog import ContextOverflow, ModelUnreachable, TimedOut
from kebab.errors.signal import Signal
from kebab.llm.endpoint import Endpoint
from kebab.llm.http_stream import MAX_LINE_BYTES, Deadlines, HttpStream
from kebab.llm.server_errors import (
    OK,
    ModelRequest,
    ServerError,
    build_refusal,
    build_unexpected_response,
    classify_error,
    format_one_line,
    parse_count,
    parse_json_object,
    parse_server_error,
)
from kebab.text.reasoning import ReasoningFilter
from kebab.wire.record import FinishName

MAX_TOKEN_CHARS = 128
"""The most characters of one token, a long run of blanks. A server whose answer is longer than
its tokens can be ignores the limit, and may never stop."""
_BYTES_PER_TOKEN = 4
_MIN_TOKENS, _MOST_TIMES = 100, 4
"""A server that counts so many times fewer tokens than the estimate did not read the whole prompt;
shorter prompts tell nothing."""
_LEAST_S = 0.001
_REASONS: Mapping[str, FinishName] = {
    **dict.fromkeys(("stop", "eos", "eos_token", "end_turn", "stop_sequence"), "stop"),
    **dict.fromkeys(("length", "max_tokens", "model_length"), "length"),
    **dict.fromkeys(("max_output_tokens", "model_context_window_exceeded"), "length"),
    **dict.fromkeys(("content_filter", "safety", "recitation", "refusal"), "content_filter"),
    **dict.fromkeys(("tool_calls", "function_call", "tool_use"), "tool_calls"),
}
"""How servers name why a model stopped, in lower case."""
_FAILURES = {"abort", "aborted", "error", "insufficient_system_resource", "network_error"}
"""How they name that they did not finish an answer."""


class _OptionRefusedError(Exception):
    """The server refuses an option that is not necessary; the argument is its name."""


class ChatModel:
    """The common part of the chat adapters.

    `refusable` has patterns of how servers name an option that they refuse, by its name in the
    request, and `refuses_with` the statuses of such a refusal.
    """

    path: ClassVar[str]
    reader: "ClassVar[type[AnswerReader]]"
    refusable: ClassVar[Mapping[str, re.Pattern[bytes]]]
    refuses_with: ClassVar[Collection[int]]

    def __init__(
        self, endpoint: Endpoint, model: str, settings: Llm, operation: str = "ask"
    ) -> None:
        """Take the name of the model on its server; the signals name the operation."""
        self.name = model
        self._endpoint = endpoint
        self._settings = settings
        self._operation = operation
        self._refused = set[str]()

    @property
    def context_tokens(self) -> int:
        """The window that the prompt and the answer share, in tokens."""
        return self._settings.context_tokens

    def chat(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        on_text: Callable[[str | None], None],
        schema: JsonSchema | None = None,
    ) -> Completion:
        """Return the answer of the model, without its reasoning and marks of its template.

        The signals are those of `LanguageModel.chat`. A server with another API, a model that
        crashed, and a missing end mark are `ModelProtocol`. An option that the server refuses is
        left out from then on.
        """
        size = sum(len(message.content.encode(errors="replace")) for message in messages)
        request = ModelRequest(
            endpoint=self._endpoint,
            operation=self._operation,
            model=self.name,
            path=self.path,
            prompt_tokens=size // _BYTES_PER_TOKEN,
            context_tokens=self.context_tokens,
        )
        body = {
            "model": self.name,
            "messages": [self._encode_message(message) for message in messages],
            "stream": True,
            **self._build_limits(max_tokens),
        }
        options = self._build_options(schema)
        while True:
            accepted = {name: options[name] for name in options.keys() - self._refused}
            try:
                return self._send(request, body | accepted, max_tokens, on_text)
            except _OptionRefusedError as refused:
                self._refused.update(refused.args)

    def _build_limits(self, max_tokens: int) -> dict[str, Any]:
        """Return what every request of the API has besides model and messages."""
        raise NotImplementedError

    def _build_options(self, schema: JsonSchema | None) -> dict[str, Any]:
        """Return what a server may refuse."""
        raise NotImplementedError

    def _encode_message(self, message: Message) -> dict[str, Any]:
        """Return a message in the form of the API."""
        return {"role": message.role, "content": message.content}

    def _send(
        self,
        request: ModelRequest,
        body: Mapping[str, Any],
        max_tokens: int,
        on_text: Callable[[str | None], None],
    ) -> Completion:
        total_s = self._settings.total_s
        if total_s:
            total_s = max(_LEAST_S, total_s - (monotonic() - request.started))
        deadlines = Deadlines(
            connect_s=self._settings.connect_s,
            first_token_s=self._settings.first_token_s,
            total_s=total_s,
        )
        content = json.dumps(body).encode()
        with HttpStream(request, self.path, content, deadlines) as stream:
            head = stream.head
            if head.status == OK:
                return self.reader(request, stream, on_text, max_tokens).read_completion()
            refusal = stream.read_body()
        if head.status in self.refuses_with:
            for name, pattern in self.refusable.items():
                if name in body and pattern.search(refusal):
                    raise _OptionRefusedError(name)
        raise build_refusal(request, head, refusal)


_ASIDES: Mapping[str, AsideName] = {
    **dict.fromkeys(("tool_calls", "function_call"), "tool_call"),
    "refusal": "refusal",
    **dict.fromkeys(
        ("thinking", "reasoning_content", "reasoning", "reasoning_details"), "reasoning"
    ),
}
"""The fields of a message besides its text."""


@dataclass(slots=True)
class AnswerReader:
    """Collects one answer while it streams; `on_text` gets each piece of it."""

    request: ModelRequest
    stream: HttpStream
    on_text: Callable[[str | None], None]
    max_tokens: int
    aside: AsideName | None = None
    length: int = 0
    half: str = ""
    """The first half of a character that a server splits over two texts."""
    first_token_ms: float | None = None
    filter: ReasoningFilter = field(init=False)

    def __post_init__(self) -> None:
        self.filter = ReasoningFilter(self._pass_on)

    def read_completion(self) -> Completion:
        """Read the whole answer."""
        raise NotImplementedError

    def _pass_on(self, piece: str | None) -> None:
        """Pass on a piece of the answer; None withdraws what came before."""
        if piece is None:
            self.first_token_ms = None
        elif self.first_token_ms is None:
            self.first_token_ms = (monotonic() - self.stream.started) * 1000
        self.on_text(piece)

    def _add_message(self, message: object) -> None:
        if not isinstance(message, dict | None):
            raise self.request.build_protocol_error("a message is not an object")
        message = message or {}
        content: object = message.get("content") or ""
        aside: AsideName | None = None
        if isinstance(content, list):
            # Mistral's servers split a content into thoughts and texts.
            parts = [part for part in content if isinstance(part, dict)]
            content = "".join(str(part.get("text", "")) for part in parts)
            aside = "reasoning" if any("thinking" in part for part in parts) else None
        if not isinstance(content, str):
            raise self.request.build_protocol_error("the content of a message is not a text")
        fields = (aside for name, aside in _ASIDES.items() if message.get(name))
        self._add_text(content, next(fields, aside))

    def _add_text(self, text: str, aside: AsideName | None) -> None:
        if text or aside:
            self.stream.record_token()
        self.aside = aside or self.aside
        whole = self.half + text
        self.half = whole[-1:] if "\ud800" <= whole[-1:] < "\udc00" else ""
        pairs = whole.removesuffix(self.half).encode("utf-16", "surrogatepass")
        text = pairs.decode("utf-16", "replace")
        if not text:
            return
        self.length += len(text)
        if self.length > MAX_TOKEN_CHARS * self.max_tokens:
            cause = "the answer is far longer than the limit in the request"
            raise self.request.build_protocol_error(cause)
        self.filter.add(text)

    def _build_completion(
        self, reason: object, prompt_tokens: object, completion_tokens: object
    ) -> Completion:
        """Return the answer; the reason of its end may be no text."""
        name = str(reason).lower()
        if name in _FAILURES:
            raise self.request.build_protocol_error(f"the server aborted the answer: {name}")
        self.filter.finish()
        estimate, told = self.request.prompt_tokens, parse_count(prompt_tokens)
        return Completion(
            text=self.filter.text,
            finish=_REASONS.get(name),
            prompt_tokens=told or None,
            completion_tokens=parse_count(completion_tokens) or None,
            first_token_ms=self.first_token_ms,
            aside=self.filter.aside or self.aside,
            is_prompt_cut=estimate > _MIN_TOKENS and 0 < told * _MOST_TIMES < estimate,
        )


_WINDOW_STEP = 256
"""Newer servers round a window up to a multiple of this."""

_Line: TypeAlias = dict[str, Any]


class _LineReader(AnswerReader):
    """Reads an answer of JSON lines."""

    def read_completion(self) -> Completion:
        """Read up to the last line; without it the answer is incomplete."""
        for raw in self.stream.iter_lines():
            if raw.strip():
                line = self._parse_line(raw)
                self._add_message(line.get("message"))
                if line.get("done") is True:
                    return self._finish(line)
        cause = "the stream ended without its last line, as when a model repeats itself"
        raise self.request.build_protocol_error(cause) from AnswerCutError()

    def _parse_line(self, raw: bytes) -> _Line:
        """Return the object of a line; an error in it is raised."""
        line = parse_json_object(raw)
        if line is None and self.stream.head.is_html:
            raise build_unexpected_response(self.request, self.stream.head)
        if line is None:
            start = format_one_line(raw[:400].decode("utf-8", "replace"), 80)
            raise self.request.build_protocol_error(f"a line is not a JSON object: {start}")
        if line.get("error") is not None:
            error = parse_server_error({"error": line["error"]})
            if error is None:
                raise self.request.build_protocol_error("a line has an error without a text")
            raise classify_error(self.request, error)
        return line

    def _finish(self, last: _Line) -> Completion:
        reason = last.get("done_reason")
        if reason in ("load", "unload"):
            raise self.request.build_protocol_error("the server only loaded the model")
        prompt_tokens = parse_count(last.get("prompt_eval_count"))
        window = self.request.context_tokens
        rounded = -(-window // _WINDOW_STEP) * _WINDOW_STEP
        # Old servers truncate a prompt that fills its window, without notice.
        if prompt_tokens == window or prompt_tokens >= rounded:
            raise ContextOverflow(
                prompt_tokens=max(prompt_tokens, self.request.prompt_tokens),
                context_tokens=window,
                operation=self.request.operation,
            )
        completion_tokens = parse_count(last.get("eval_count"))
        # A server shifts a full window: the end of such an answer was written without the evidence.
        shifted = prompt_tokens > 0 and prompt_tokens + completion_tokens > rounded
        completion = self._build_completion(reason, prompt_tokens, completion_tokens)
        return replace(completion, is_shifted=shifted)


class OllamaChat(ChatModel):
    """A model of an Ollama server."""

    path = "/api/chat"
    reader: ClassVar[type[AnswerReader]] = _LineReader
    refusable: ClassVar[Mapping[str, re.Pattern[bytes]]] = {
        # How old and new versions refuse a schema; the oldest want a text in its place.
        "format": re.compile(
            rb"JSON schema|ChatRequest\.format|invalid format|grammar", re.IGNORECASE
        )
    }
    refuses_with: ClassVar[Collection[int]] = range(400, 600)

    def _build_limits(self, max_tokens: int) -> dict[str, Any]:
        keep_alive = self._settings.keep_alive
        # Ollama refuses a number of seconds in a text.
        with suppress(ValueError):
            keep_alive = int(keep_alive)
        return {
            "think": self._settings.think,
            # By default Ollama drops the oldest words without notice; an overflow must be visible.
            # `shift` is left out: a server reloads its model when clients send different values.
            "truncate": False,
            "keep_alive": keep_alive,
            "options": {
                "num_ctx": self.context_tokens,
                "num_predict": max_tokens,
                "temperature": 0,
            },
        }

    def _build_options(self, schema: JsonSchema | None) -> dict[str, Any]:
        return {} if schema is None else {"format": schema}

    def _encode_message(self, message: Message) -> dict[str, Any]:
        body = super()._encode_message(message)
        images = [b64encode(image).decode() for image in message.images]
        return body | {"images": images} if images else body


_COUNTS, _FORMAT, _EFFORT = "stream_options", "response_format", "reasoning_effort"


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
            self._read_events(self._iter_lines())
        usage = self.usage
        return self._build_completion(
            self.finish, usage.get("prompt_tokens"), usage.get("completion_tokens")
        )

    def _read_json(self) -> None:
        body = self.stream.read_body(MAX_LINE_BYTES)
        answer = parse_json_object(body) or {}
        if body.startswith(b"data:"):
            self._read_events(body.split(b"\n"))
            return
        choices = answer.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        has_message = isinstance(choice, dict) and isinstance(choice.get("message"), dict)
        if answer.get("error") or not has_message:
            raise build_refusal(self.request, self.stream.head, body)
        self._add_chunk(answer)
        self.complete = True

    def _read_events(self, lines: Iterable[bytes]) -> None:
        for event in parse_events(lines):
            if event.data.strip() == b"[DONE]":
                self.complete = True
                return
            chunk = parse_json_object(event.data)
            if event.name == ERROR:
                text = event.data.decode("utf-8", "replace")
                raise self._classify(chunk or {}, text)
            if chunk is None:
                raise self.request.build_protocol_error("an event is not a JSON object")
            if chunk.get("error") or ("choices" not in chunk and parse_server_error(chunk)):
                raise self._classify(chunk)
            self._add_chunk(chunk)
        if not self.complete:
            cause = "the stream ended without an end mark"
            raise self.request.build_protocol_error(cause) from AnswerCutError()

    def _iter_lines(self) -> Iterator[bytes]:
        try:
            yield from self.stream.iter_lines()
        except (ModelUnreachable, TimedOut):
            # After a complete answer only the token counts are missing, which is not an error.
            if not self.complete:
                raise

    def _classify(self, chunk: dict[str, Any], text: str = "") -> Signal:
        return classify_error(self.request, parse_server_error(chunk) or ServerError(text=text))

    def _add_chunk(self, chunk: dict[str, Any]) -> None:
        """Add a chunk; the last one has no choices but the token counts."""
        if isinstance(usage := chunk.get("usage"), dict):
            self.usage = usage
        choices = chunk.get("choices") or []
        if not isinstance(choices, list):
            raise self.request.build_protocol_error("the choices are not a list")
        for choice in choices[:1]:
            if not isinstance(choice, dict):
                raise self.request.build_protocol_error("a choice is not an object")
            if choice.get("error"):
                raise self._classify(choice)
            # Some servers stream whole messages, or only write them as an event.
            self._add_message(choice.get("delta") or choice.get("message"))
            finish = choice.get("finish_reason")
            if isinstance(finish, str) and finish:
                self.finish, self.complete = finish, True


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
        for line in (raw.removeprefix(b"\xef\xbb\xbf") if first else raw).split(b"\r"):
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


class OpenAiChat(ChatModel):
    """A model of a server with the OpenAI-compatible API.

    The API does not transmit the window: it is the one that the server started with. Of
    `models.llm.think` it knows levels only.
    """

    path = "/chat/completions"
    reader: ClassVar[type[AnswerReader]] = _EventReader
    refusable: ClassVar[Mapping[str, re.Pattern[bytes]]] = {
        _COUNTS: re.compile(rb"stream_options"),
        _EFFORT: re.compile(rb"reasoning_effort"),
        _FORMAT: re.compile(rb"(?i)response_format|json[_ -]?schema|grammar|guided|structured"),
    }
    refuses_with: ClassVar[Collection[int]] = (400, 422)

    def _build_limits(self, max_tokens: int) -> dict[str, Any]:
        return {"max_tokens": max_tokens, "temperature": 0}

    def _build_options(self, schema: JsonSchema | None) -> dict[str, Any]:
        options: dict[str, Any] = {_COUNTS: {"include_usage": True}}
        if isinstance(self._settings.think, str):
            options[_EFFORT] = self._settings.think
        if schema is not None:
            named = {"name": "answer", "schema": schema, "strict": True}
            options[_FORMAT] = {"type": "json_schema", "json_schema": named}
        return options

    def _encode_message(self, message: Message) -> dict[str, Any]:
        body = super()._encode_message(message)
        if not message.images:
            return body
        urls = [f"data:image/jpeg;base64,{b64encode(image).decode()}" for image in message.images]
        pictures = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
        return body | {"content": [{"type": "text", "text": message.content}, *pictures]}


_MAX_BODY_BYTES = 64_000_000
"""More than 32 vectors of 16,384 numbers have as text."""


class _OllamaReply(Struct):
    embeddings: list[list[float]]


class _OpenAiVector(Struct):
    embedding: list[float]
    index: int = 0


class _OpenAiReply(Struct):
    data: list[_OpenAiVector]


def embed_texts(
    endpoint: Endpoint, model: str, connect_s: float, texts: Sequence[str], limit_s: float
) -> list[list[float]]:
    """Return the vector of each text, as a server gives it; a limit of 0 seconds means none.

    The signals are those of `LanguageModel.chat`; `ContextOverflow` means that a text is longer
    than the window of the model.
    """
    is_ollama = endpoint.provider == "ollama"
    request = ModelRequest(
        endpoint=endpoint,
        operation="embedding a batch",
        model=model,
        deadline_s=limit_s,
        path="/api/embed" if is_ollama else "/embeddings",
    )
    options = {"truncate": True} if is_ollama else {"encoding_format": "float"}
    content = json.dumps({"model": model, "input": list(texts), **options}).encode()
    deadlines = Deadlines(connect_s=connect_s, first_token_s=0, total_s=limit_s)
    with HttpStream(request, request.path, content, deadlines) as stream:
        head, body = stream.head, stream.read_body(_MAX_BODY_BYTES)
    vectors: list[list[float]] = []
    if head.status == OK:
        with suppress(msgspec.MsgspecError):
            if is_ollama:
                vectors = msgspec.json.decode(body, type=_OllamaReply).embeddings
            else:
                rows = msgspec.json.decode(body, type=_OpenAiReply).data
                vectors = [row.embedding for row in sorted(rows, key=lambda row: row.index)]
    if not vectors:
        raise build_refusal(request, head, body)
    if len(vectors) != len(texts):
        cause = f"{len(texts)} texts were sent, and {len(vectors)} vectors came"
        raise request.build_protocol_error(cause)
    return vectors
