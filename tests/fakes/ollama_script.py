"""The steps of a scripted Ollama: what it is to say, and how it is to go wrong."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from tests.fakes.ollama_failures import CRASHED, build_failure
from tests.fakes.ollama_wire import METRICS, Generation, build_chunk, build_last_chunk, to_go_json
from tests.fakes.play import Pause, Play

JSON = "application/json; charset=utf-8"
NDJSON = "application/x-ndjson"
_LARGEST_PLAIN = 2048

End: TypeAlias = Literal["done", "silent", "error", "cut", "reset"]
"""How a reply ends: as it should; without `done`; by an error line; or with the connection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The request that a step answers."""

    path: str
    model: str
    stream: bool
    generation: Generation
    prompt_tokens: int = 7


def count_tokens(body: Mapping[str, Any]) -> int:
    """Return about how many tokens the messages of a request have."""
    contents = (str(message.get("content")) for message in body.get("messages") or ())
    return 7 + sum(map(len, contents)) // 6


class Step(Protocol):
    """One response of the script."""

    def play(self, context: Context) -> Play:
        """Return what goes over the wire."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Any response, byte for byte.

    It waits `delay_s` first, or until the server closes. With `pieces_s` the body drips out a byte
    at a time, and with `cut` the connection ends before the body does.
    """

    body: bytes
    status: int = 200
    content_type: str = JSON
    delay_s: float = 0.0
    pieces_s: float = 0.0
    cut: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)

    def play(self, context: Context | None = None) -> Play:
        """Return what goes over the wire."""
        body = self.body[: len(self.body) // 2] if self.cut else self.body
        kind = {"Content-Type": self.content_type} if self.content_type else {}
        return Play(
            parts=_drip([body], 1, self.pieces_s) if self.pieces_s else [body],
            status=self.status,
            headers={**kind, **self.headers},
            length=len(self.body),
            held_s=self.delay_s,
            end="cut" if self.cut else "whole",
        )


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes in the place of a token, as they are."""

    data: bytes


@dataclass(frozen=True, slots=True, init=False)
class Fail:
    """A failure by its name in `ollama_failures`; what else is given fills its text."""

    name: str
    generation: Generation | None
    delay_s: float
    given: Mapping[str, Any]

    def __init__(
        self,
        name: str,
        generation: Generation | None = None,
        *,
        delay_s: float = 0.0,
        **given: Any,
    ) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "generation", generation)
        object.__setattr__(self, "delay_s", delay_s)
        object.__setattr__(self, "given", given)

    def play(self, context: Context) -> Play:
        """Return what goes over the wire."""
        generation = self.generation or context.generation
        given = {"model": context.model, "full": context.model, **self.given}
        status, kind, body = build_failure(self.name, context.path, generation, given)
        headers = {"Location": context.path} if self.name == "redirect" else {}
        answer = Answer(
            body=body, status=status, content_type=kind, delay_s=self.delay_s, headers=headers
        )
        return answer.play()


class Say:
    """A reply of the model, token by token; a `Pause` or `Raw` bytes may stand between tokens.

    Args:
        pieces: The tokens.
        thinking: What the model thinks before it speaks.
        done_reason: `stop`, `length`, or none.
        end: How it ends.
        error: The text of the error line that ends it.
        prompt_tokens: The server's count of the prompt; None counts its words.
        completion_tokens: The server's count of the reply; None counts the pieces.
        metrics: Durations in nanoseconds that differ from the usual; zeros are left out.
        held_s: Seconds until the headers: before the first token nothing is sent.
        drip: Bytes in one network write, whatever lines or characters it splits.
        drip_s: Seconds between these.
    """

    def __init__(
        self,
        *pieces: str | Pause | Raw,
        thinking: Iterable[str] = (),
        done_reason: str | None = "stop",
        end: End = "done",
        error: str | None = None,
        prompt_tokens: int | None = None,
        completion_tokens: int | None = None,
        metrics: Mapping[str, int] | None = None,
        held_s: float = 0.0,
        drip: int | None = None,
        drip_s: float = 0.0,
    ) -> None:
        self._pieces = pieces
        self._thinking = tuple(thinking)
        self._reason = done_reason
        self._end: End = end if error is None else "error"
        self._error = CRASHED if error is None else error
        self._counts = (prompt_tokens, completion_tokens)
        self._metrics = metrics or {}
        self._held_s = held_s
        self._drip = drip
        self._drip_s = drip_s

    def play(self, context: Context) -> Play:
        """Return what goes over the wire."""
        if context.stream:
            parts: Iterable[bytes | Pause] = self._lines(context)
            if self._drip:
                parts = _drip(parts, self._drip, self._drip_s)
            return Play(
                parts=parts,
                headers={"Content-Type": NDJSON},
                held_s=self._held_s,
                end=self._end if self._end in ("cut", "reset") else "whole",
            )
        return self._whole(context)

    def _lines(self, context: Context) -> Iterator[bytes | Pause]:
        for thought in self._thinking:
            yield _build_line(build_chunk(context.model, thinking=thought))
        for piece in self._pieces:
            if isinstance(piece, str):
                yield _build_line(build_chunk(context.model, text=piece))
            else:
                yield piece.data if isinstance(piece, Raw) else piece
        if self._end == "done":
            last = build_chunk(context.model)
            yield _build_line(build_last_chunk(last, self._reason, self._metrics_of(context)))
        elif self._end == "error":
            yield _build_line({"error": self._error})

    def _whole(self, context: Context) -> Play:
        """Return one object, after all the time that the tokens take."""
        text = "".join(piece for piece in self._pieces if isinstance(piece, str))
        waits = sum(piece.seconds for piece in self._pieces if isinstance(piece, Pause))
        held_s = self._held_s + waits
        if self._end == "error":
            body = to_go_json({"error": self._error}).encode()
            return Answer(body=body, status=500, delay_s=held_s).play()
        answer = build_chunk(context.model, text=text, thinking="".join(self._thinking))
        if self._end != "silent":
            answer = build_last_chunk(answer, self._reason, self._metrics_of(context))
        body = to_go_json(answer).encode()
        if self._end in ("cut", "reset"):
            return Answer(body=body, delay_s=held_s, cut=True).play()
        parts = _drip([body], self._drip, self._drip_s) if self._drip else [body]
        return Play(
            parts=parts,
            headers={"Content-Type": JSON},
            held_s=held_s,
            length=len(body) if len(body) <= _LARGEST_PLAIN else None,
        )

    def _metrics_of(self, context: Context) -> dict[str, int]:
        prompt, completion = self._counts
        said = sum(1 for piece in self._pieces if isinstance(piece, str)) + len(self._thinking)
        completion = said if completion is None else completion
        prompt = context.prompt_tokens if prompt is None else prompt
        brief = context.generation == "old" and completion == 1
        return {
            **METRICS,
            "prompt_eval_count": prompt,
            "eval_count": completion,
            **({"eval_duration": 0} if brief else {}),
            **self._metrics,
        }


def build_json_answer(value: object, status: int = 200) -> Answer:
    """Return an answer of JSON."""
    return Answer(body=to_go_json(value).encode(), status=status)


def _build_line(value: object) -> bytes:
    return to_go_json(value).encode() + b"\n"


def _drip(parts: Iterable[bytes | Pause], size: int, pause_s: float) -> Iterator[bytes | Pause]:
    """Yield the bytes between pauses in pieces of one size, each after a pause of its own."""
    held = b""
    for part in [*parts, Pause(0)]:
        if isinstance(part, bytes):
            held += part
            continue
        for at in range(0, len(held), size):
            yield Pause(pause_s)
            yield held[at : at + size]
        held = b""
        yield part
