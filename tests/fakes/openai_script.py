"""The steps of a scripted server with the OpenAI-compatible protocol."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

from tests.fakes.ollama_script import Answer, Raw, build_json_answer, count_tokens
from tests.fakes.openai_failures import Kind, build_failure
from tests.fakes.play import Pause, Play

End: TypeAlias = Literal["done", "unmarked", "only_mark", "silent", "error", "cut", "reset"]
"""How a stream ends: as it should; with a finish and no `[DONE]`; with `[DONE]` and no finish; with
neither; by an error; or with the connection."""
ErrorForm: TypeAlias = Literal["data", "event", "field", "bare"]
"""How an error stands amid a stream: as data, as an event of that name, as a field of that name
(older llama.cpp), or as JSON without any framing (some proxies)."""

CRASHED: Mapping[str, Any] = {"message": "Compute error.", "type": "server_error"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The request that a step answers."""

    kind: Kind
    body: Mapping[str, Any]
    key: str = ""

    @property
    def stream(self) -> bool:
        """Whether a stream is asked for."""
        return self.body.get("stream") is True

    @property
    def counted(self) -> bool:
        """Whether the stream is to tell what it cost."""
        return bool((self.body.get("stream_options") or {}).get("include_usage"))


class Step(Protocol):
    """One response of the script."""

    def play(self, context: Any) -> Play:
        """Return what goes over the wire, given the `Context` of the request."""


@dataclass(frozen=True, slots=True, init=False)
class Fail:
    """A failure by its name in `openai_failures`; what else is given fills its text."""

    name: str
    kind: Kind | None
    given: Mapping[str, Any]

    def __init__(self, name: str, kind: Kind | None = None, **given: Any) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "given", given)

    def play(self, context: Context) -> Play:
        """Return what goes over the wire."""
        given = {"key": context.key, "model": context.body.get("model", ""), **self.given}
        status, kind, body = build_failure(self.name, self.kind or context.kind, given)
        headers = {"Location": "/elsewhere"} if self.name == "redirect" else {}
        return Answer(body=body, status=status, content_type=kind, headers=headers).play()


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """How a stream is written: what stands after `data:`, how lines end, and what is between."""

    space: str = " "
    line_end: str = "\n"
    between: tuple[str, ...] = ()
    """Lines before each event: comments, or fields that nobody needs."""
    last_blank: bool = True
    """Whether a blank line follows the last event."""


class Say:
    """A reply of the model, token by token; a `Pause` or `Raw` bytes may stand between tokens.

    Args:
        pieces: The tokens.
        reasoning: What the model reasons before it speaks.
        reasoning_field: The name that goes by.
        finish: The `finish_reason`.
        end: How it ends.
        error: The error that ends it, for the end `error`.
        error_form: How that stands in the stream.
        prompt_tokens: The server's count of the prompt; None counts its words.
        completion_tokens: The server's count of the reply; None counts the pieces.
        plain: The server does not stream, whatever it is asked.
        held_s: Seconds until the headers.
        drip: Bytes in one network write, whatever lines or characters it splits.
        wording: How the stream is written.
    """

    def __init__(
        self,
        *pieces: str | Pause | Raw,
        reasoning: Iterable[str] = (),
        reasoning_field: str = "reasoning_content",
        finish: str | None = "stop",
        end: End = "done",
        error: Any = CRASHED,
        error_form: ErrorForm = "data",
        prompt_tokens: int | None = None,
        completion_tokens: int | None = None,
        plain: bool = False,
        held_s: float = 0.0,
        drip: int | None = None,
        wording: Wording | None = None,
    ) -> None:
        self._pieces = pieces
        self._reasoning = tuple(reasoning)
        self._reasoning_field = reasoning_field
        self._finish = finish
        self._end: End = end
        self._error = error
        self._error_form: ErrorForm = error_form
        said = sum(isinstance(piece, str) for piece in pieces) + len(self._reasoning)
        self._counts = prompt_tokens, said if completion_tokens is None else completion_tokens
        self._plain = plain
        self._held_s = held_s
        self._drip = drip
        self._wording = wording or Wording()

    def play(self, context: Context) -> Play:
        """Return what goes over the wire."""
        if self._plain or not context.stream:
            return self._whole(context)
        parts: Iterable[bytes | Pause] = self._written(context)
        return Play(
            parts=drip(parts, self._drip) if self._drip else parts,
            headers={"Content-Type": "text/event-stream; charset=utf-8"},
            held_s=self._held_s,
            end=self._end if self._end in ("cut", "reset") else "whole",
        )

    def _count(self, context: Context) -> dict[str, int]:
        prompt, completion = self._counts
        prompt = count_tokens(context.body) if prompt is None else prompt
        total = prompt + completion
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": total,
        }

    def _whole(self, context: Context) -> Play:
        text = "".join(piece for piece in self._pieces if isinstance(piece, str))
        message = {"role": "assistant", "content": text}
        if self._reasoning:
            message[self._reasoning_field] = "".join(self._reasoning)
        choice = {"index": 0, "message": message, "finish_reason": self._finish}
        answer = {
            **_name_chunk(context, "chat.completion"),
            "choices": [choice],
            "usage": self._count(context),
        }
        body = json.dumps(answer, ensure_ascii=False).encode()
        cut = self._end in ("cut", "reset")
        return Answer(body=body, delay_s=self._held_s, cut=cut).play()

    def _written(self, context: Context) -> Iterator[bytes | Pause]:
        yield self._event(
            _build_chunk(
                context,
                {"role": "assistant", "content": (None if context.kind == "llamacpp" else "")},
            )
        )
        for thought in self._reasoning:
            yield self._event(_build_chunk(context, {self._reasoning_field: thought}))
        for piece in self._pieces:
            if isinstance(piece, str):
                yield self._event(_build_chunk(context, {"content": piece}))
            else:
                yield piece.data if isinstance(piece, Raw) else piece
        if self._end == "error":
            yield self._failed()
        if self._end in ("done", "unmarked"):
            yield self._event(_build_chunk(context, {}, self._finish))
            if context.counted:
                counts = {"choices": [], "usage": self._count(context)}
                yield self._event({**_name_chunk(context, "chat.completion.chunk"), **counts})
        if self._end in ("done", "only_mark") or self._error_form == "field":
            yield self._data("[DONE]", last=True)

    def _failed(self) -> bytes:
        if self._error_form == "field":
            return self._lines(f"error: {json.dumps(self._error)}", "")
        error = json.dumps({"error": self._error})
        if self._error_form == "bare":
            return error.encode()
        named = ("event: error",) if self._error_form == "event" else ()
        return self._lines(*named, f"data: {error}", "")

    def _event(self, value: object) -> bytes:
        return self._data(json.dumps(value, ensure_ascii=False))

    def _data(self, text: str, *, last: bool = False) -> bytes:
        blank = () if last and not self._wording.last_blank else ("",)
        return self._lines(*self._wording.between, f"data:{self._wording.space}{text}", *blank)

    def _lines(self, *lines: str) -> bytes:
        return "".join(line + self._wording.line_end for line in lines).encode()


def drip(parts: Iterable[bytes | Pause], size: int) -> Iterator[bytes | Pause]:
    """Yield the bytes between pauses in pieces of one size."""
    held = b""
    for part in [*parts, Pause(0)]:
        if isinstance(part, bytes):
            held += part
            continue
        yield from (held[at : at + size] for at in range(0, len(held), size))
        held = b""
        yield part


def _name_chunk(context: Context, kind: str) -> dict[str, Any]:
    model = context.body.get("model", "")
    return {"id": "chatcmpl-1", "object": kind, "created": 1_770_000_000, "model": model}


def _build_chunk(
    context: Context, delta: Mapping[str, Any], finish: str | None = None
) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    usage = {"usage": None} if context.kind == "openai" and context.counted else {}
    return {**_name_chunk(context, "chat.completion.chunk"), "choices": [choice], **usage}


__all__ = [
    "Answer",
    "Context",
    "End",
    "ErrorForm",
    "Fail",
    "Raw",
    "Say",
    "Step",
    "build_json_answer",
]
