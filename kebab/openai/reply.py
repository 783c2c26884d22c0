"""One answer of a server as it is read: a stream of events, or one piece of JSON."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from kebab.core.answer import Completion, FinishReason
from kebab.errors.catalog import ModelUnreachable, TimedOut
from kebab.errors.signal import Signal
from kebab.openai.events import ERROR, Event, events
from kebab.openai.refusals import Request, failed, is_page, refused, stranger
from kebab.openai.said import Said, said
from kebab.text.normalize import escape_undecodable
from kebab.transport.decode import count, json_object
from kebab.transport.exchange import LONGEST_LINE, LONGEST_TOKEN, Exchange

_DONE = b"[DONE]"
_CUT_OFF = {"length", "max_tokens", "model_length"}
_BROKEN_OFF = {"abort", "error"}
_WITHHELD = {"content_filter"}
_REASONING = ("reasoning_content", "reasoning")
_ENDED_EARLY = "the stream ended without saying that the answer is whole"
_TOO_LONG = "the answer is far longer than was asked for"


@dataclass(slots=True)
class Reply:
    """An answer under way; `on_text` gets each piece of it, and none of the reasoning."""

    request: Request
    exchange: Exchange
    on_text: Callable[[str], None]
    max_tokens: int
    pieces: list[str] = field(default_factory=list)
    length: int = 0
    finish: str = ""
    whole: bool = False
    usage: dict[str, Any] = field(default_factory=dict)
    first_token_ms: float | None = None

    def completion(self) -> Completion:
        """Read to the end, and return what was said.

        Raises:
            Signal: What the server said instead, or how it broke off; as `OpenAiChat.chat`.
        """
        head = self.exchange.head
        if is_page(head):
            raise stranger(self.request, head)
        if "json" in head.content_type.lower():
            self._read_json()
        else:
            self._read_events()
        return self._completed()

    def _read_json(self) -> None:
        """Read the answer of a server that does not stream."""
        body = self.exchange.body(LONGEST_LINE)
        answer = json_object(body) or {}
        if answer.get("error") or not _is_completion(answer):
            raise refused(self.request, self.exchange.head, body)
        self._take_chunk(answer, "message")
        self.whole = True

    def _read_events(self) -> None:
        for event in events(self._lines()):
            if event.data.strip() == _DONE:
                self.whole = True
                return
            self._take(event)
        if not self.whole:
            raise self.request.call.foreign(_ENDED_EARLY)

    def _lines(self) -> Iterator[bytes]:
        try:
            yield from self.exchange.lines()
        except (ModelUnreachable, TimedOut):
            # After the answer only its cost is waited for, which is not worth an error.
            if not self.whole:
                raise

    def _take(self, event: Event) -> None:
        chunk = json_object(event.data)
        if event.name == ERROR:
            text = event.data.decode("utf-8", "replace")
            raise failed(self.request, said(chunk or {}) or Said(text=text))
        if chunk is None:
            raise self._odd("an event that is no JSON object")
        if chunk.get("error"):
            raise failed(self.request, said(chunk) or Said(text=""))
        if "choices" not in chunk and (error := said(chunk)):
            raise failed(self.request, error)
        self._take_chunk(chunk, "delta")

    def _take_chunk(self, chunk: dict[str, Any], part: str) -> None:
        """Take what a chunk adds; the last one has no choices and tells what it cost."""
        if isinstance(usage := chunk.get("usage"), dict):
            self.usage = usage
        choices = chunk.get("choices") or []
        if not isinstance(choices, list):
            raise self._odd("choices that are no list")
        for choice in choices[:1]:
            if not isinstance(choice, dict):
                raise self._odd("a choice that is no object")
            self._take_message(choice.get(part))
            finish = choice.get("finish_reason")
            if isinstance(finish, str) and finish:
                self.finish, self.whole = finish, True

    def _take_message(self, message: object) -> None:
        if not isinstance(message, dict | None):
            raise self._odd("a message that is no object")
        words = (message or {}).get("content") or ""
        if not isinstance(words, str):
            raise self._odd("a message whose content is no text")
        if words or any((message or {}).get(name) for name in _REASONING):
            self.exchange.token()
        if words:
            self._say(escape_undecodable(words))

    def _say(self, text: str) -> None:
        if self.first_token_ms is None:
            self.first_token_ms = (monotonic() - self.request.call.started) * 1000
        self.length += len(text)
        if self.length > LONGEST_TOKEN * self.max_tokens:
            raise self._odd(_TOO_LONG)
        self.pieces.append(text)
        self.on_text(text)

    def _completed(self) -> Completion:
        if self.finish in _WITHHELD:
            raise self.request.rejected(f"the server withheld the answer: {self.finish}")
        if self.finish in _BROKEN_OFF:
            raise self.request.call.unreachable(f"the server broke off: {self.finish}")
        finish: FinishReason = "length" if self.finish in _CUT_OFF else "stop"
        return Completion(
            text="".join(self.pieces),
            finish=finish,
            prompt_tokens=count(self.usage.get("prompt_tokens")),
            completion_tokens=count(self.usage.get("completion_tokens")),
            first_token_ms=self.first_token_ms,
        )

    def _odd(self, what: str) -> Signal:
        return self.request.call.foreign(what)


def _is_completion(answer: dict[str, Any]) -> bool:
    """Return whether an answer that is not streamed holds a message."""
    choices = answer.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return isinstance(first, dict) and isinstance(first.get("message"), dict)
