"""Ollama's chat as a language model, streamed."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, TypeAlias

from kebab.core.answer import Completion, FinishReason, Message
from kebab.errors.catalog import ContextOverflow
from kebab.ollama.refusals import Request, failed, refused, stranger
from kebab.text.normalize import escape_undecodable
from kebab.transport.decode import count, json_object, one_line
from kebab.transport.endpoint import Endpoint
from kebab.transport.exchange import LONGEST_TOKEN, Deadlines, Exchange
from kebab.transport.failures import Call

_PATH = "/api/chat"
_OK = 200
_BYTES_PER_TOKEN = 4
_WINDOW_STEP = 256
"""Newer servers round a window up to a multiple of this."""
_ENDED_EARLY = "the stream ended without its last line, as when a model repeats itself"
_TOO_LONG = "the answer is far longer than was asked for"

_Line: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOptions:
    """How a model is asked, the same for every call: a change makes Ollama load it again.

    `keep_alive` is a duration as `5m`; `operation` is what the signals name.
    """

    context_tokens: int
    deadlines: Deadlines
    think: bool = False
    keep_alive: str = "5m"
    operation: str = "ask"


@dataclass(frozen=True, slots=True)
class OllamaChat:
    """A model of an Ollama server, behind the port `LanguageModel`."""

    endpoint: Endpoint
    model: str
    options: ChatOptions

    @property
    def name(self) -> str:
        """The model's name, as the server knows it."""
        return self.model

    @property
    def context_tokens(self) -> int:
        """The window that prompt and answer share, in tokens."""
        return self.options.context_tokens

    def chat(
        self, messages: Sequence[Message], *, max_tokens: int, on_text: Callable[[str], None]
    ) -> Completion:
        """Return what the model says; what it thinks before is waited for and left out.

        Raises:
            ModelUnreachable: No connection, it was cut, or the model died at work.
            ModelNotPulled: The server does not have the model.
            ModelRejected: The model cannot chat, cannot be loaded, or the request is refused.
            ModelBusy: The server takes no more work now.
            ModelProtocol: What answers is not Ollama, or ended without its last line.
            ContextOverflow: The conversation does not fit the window.
            TimedOut: A deadline passed; `operation` says which one.
        """
        request = self._request(messages)
        body = json.dumps(self._body(messages, max_tokens)).encode()
        with Exchange(request.call, _PATH, body, self.options.deadlines) as exchange:
            return _Reading(request, exchange, on_text, max_tokens).completion()

    def _request(self, messages: Sequence[Message]) -> Request:
        size = sum(len(message.content.encode(errors="replace")) for message in messages)
        return Request(
            call=Call(endpoint=self.endpoint, operation=self.options.operation),
            path=_PATH,
            model=self.model,
            prompt_tokens=size // _BYTES_PER_TOKEN,
            context_tokens=self.options.context_tokens,
        )

    def _body(self, messages: Sequence[Message], max_tokens: int) -> dict[str, Any]:
        return {
            "model": self.model,
            "messages": [{"role": one.role, "content": one.content} for one in messages],
            "stream": True,
            "think": self.options.think,
            # An overflow must be seen: by default the oldest words are dropped in silence.
            "truncate": False,
            "shift": False,
            "keep_alive": self.options.keep_alive,
            "options": {
                "num_ctx": self.options.context_tokens,
                "num_predict": max_tokens,
                "temperature": 0,
            },
        }


@dataclass(slots=True)
class _Reading:
    """One answer as it is read."""

    request: Request
    exchange: Exchange
    on_text: Callable[[str], None]
    max_tokens: int
    started: float = field(default_factory=monotonic)
    pieces: list[str] = field(default_factory=list)
    length: int = 0
    first_token_ms: float | None = None

    def completion(self) -> Completion:
        """Read to the last line; only that says that the answer is whole."""
        head = self.exchange.head
        if head.status != _OK:
            raise refused(self.request, head, self.exchange.body())
        for raw in self.exchange.lines():
            if raw.strip():
                line = self._decoded(raw)
                self._take(line)
                if line.get("done") is True:
                    return self._whole(line)
        raise self.request.call.foreign(_ENDED_EARLY)

    def _decoded(self, raw: bytes) -> _Line:
        """Return the object of a line without an error, its message checked."""
        line = json_object(raw)
        if line is None and "html" in self.exchange.head.content_type:
            raise stranger(self.request, self.exchange.head)
        if line is None:
            begin = one_line(raw[:400].decode("utf-8", "replace"), 80)
            raise self.request.call.foreign(f"a line is no JSON object: {begin}")
        if line.get("error") is not None:
            raise failed(self.request, line["error"])
        return line

    def _take(self, line: _Line) -> None:
        """Pass on what a line adds to the answer."""
        text, thinking = (self._words(line, name) for name in ("content", "thinking"))
        if text or thinking:
            self.exchange.token()
        if text:
            self._say(text)

    def _say(self, text: str) -> None:
        if self.first_token_ms is None:
            self.first_token_ms = (monotonic() - self.started) * 1000
        self.length += len(text)
        if self.length > LONGEST_TOKEN * self.max_tokens:
            raise self.request.call.foreign(_TOO_LONG)
        self.pieces.append(text)
        self.on_text(text)

    def _words(self, line: _Line, name: str) -> str:
        message = {} if line.get("message") is None else line["message"]
        words = message.get(name) or "" if isinstance(message, dict) else None
        if not isinstance(words, str):
            raise self.request.call.foreign("a line whose message is no text")
        return escape_undecodable(words)

    def _whole(self, last: _Line) -> Completion:
        reason = last.get("done_reason")
        if reason in ("load", "unload"):
            raise self.request.call.foreign("the model was loaded and not asked")
        prompt_tokens = count(last.get("prompt_eval_count"))
        if _cut(prompt_tokens, self.request.context_tokens):
            raise ContextOverflow(
                prompt_tokens=max(prompt_tokens, self.request.prompt_tokens),
                context_tokens=self.request.context_tokens,
            )
        finish: FinishReason = "length" if reason == "length" else "stop"
        return Completion(
            text="".join(self.pieces),
            finish=finish,
            prompt_tokens=prompt_tokens,
            completion_tokens=count(last.get("eval_count")),
            first_token_ms=self.first_token_ms,
        )


def _cut(prompt_tokens: int, window: int) -> bool:
    """Return whether a prompt filled its window, as one that an old server cut in silence does.

    Between the window asked for and the one that newer servers round it up to, nothing was cut.
    Where a prompt just fits, there is no room for an answer, which is an overflow as well.
    """
    rounded = -(-window // _WINDOW_STEP) * _WINDOW_STEP
    return prompt_tokens == window or prompt_tokens >= rounded
