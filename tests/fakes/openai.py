"""A twin of servers with the OpenAI-compatible protocol: real HTTP on loopback, scripted.

    with fake_openai("tiny", kind="vllm", key="sk-secret") as server:
        server.enqueue(Say("Hello", " world"), Fail("busy"))

It refuses what such a server refuses, in that server's words, and remembers what it was asked.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.openai_failures import FAILURES, KINDS, STRANGE, Kind
from tests.fakes.openai_script import (
    Answer,
    Context,
    Fail,
    Raw,
    Say,
    Step,
    Wording,
    build_json_answer,
)
from tests.fakes.play import Asked, Pause, Play, Staged, stage

__all__ = [
    "FAILURES",
    "KINDS",
    "STRANGE",
    "Answer",
    "Fail",
    "FakeOpenAi",
    "Kind",
    "Pause",
    "Raw",
    "Say",
    "Wording",
    "build_json_answer",
    "fake_openai",
]

CHAT = "/chat/completions"
MODELS = "/models"
_FIELDS = {
    *("model", "messages", "stream", "stream_options", "max_tokens", "temperature"),
    *("response_format", "reasoning_effort"),
}
_ROLES = {"system", "user", "assistant"}


@dataclass(kw_only=True)
class FakeOpenAi(Staged):
    """The script and the record of one server."""

    models: tuple[str, ...]
    kind: Kind = "llamacpp"
    key: str = ""
    prefix: str = "/v1"
    counts: bool = True
    """Whether it knows `stream_options`."""
    schemas: bool = True
    """Whether it can constrain an answer by a schema."""
    answers: dict[str, Step] = field(default_factory=dict)
    """Answers that stay, by path: they come before the script."""
    _script: deque[Step] = field(default_factory=deque)

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self.stage.port}{self.prefix}"

    @property
    def unplayed(self) -> int:
        """How many steps of the script nobody asked for."""
        return len(self._script)

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """The JSON of every request to chat."""
        return [one.body for one in self.asked if one.path == self.prefix + CHAT]

    @property
    def ignored(self) -> list[str]:
        """The fields of requests that such a server passes over without a word."""
        return [name for body in self.bodies for name in body if name not in _FIELDS]

    def enqueue(self, *steps: Step) -> None:
        """Let the next requests to chat be answered so, one step each."""
        self._script.extend(steps)

    def play(self, asked: Asked) -> Play:
        """Return the response to a request."""
        body = asked.body if isinstance(asked.body, dict) else {}
        sent = asked.headers.get("authorization", "").removeprefix("Bearer ")
        context = Context(kind=self.kind, body=body, key=sent)
        return self._step(asked, context).play(context)

    def _step(self, asked: Asked, context: Context) -> Step:
        if self.key and asked.headers.get("authorization") != f"Bearer {self.key}":
            return Fail("unauthorized")
        path = asked.path.removeprefix(self.prefix)
        if path in self.answers:
            return self.answers[path]
        if (asked.method, path) == ("GET", MODELS):
            entries = [
                {"id": name, "object": "model", "owned_by": self.kind} for name in self.models
            ]
            return build_json_answer({"object": "list", "data": entries})
        if (asked.method, path) != ("POST", CHAT):
            return Fail("no_route")
        return self._refusal(context.body) or self._next()

    def _next(self) -> Step:
        return self._script.popleft() if self._script else Fail("unscripted")

    def _refusal(self, body: Mapping[str, Any]) -> Step | None:
        """Return how a request is refused, None when it is sound."""
        messages = body.get("messages")
        if not isinstance(messages, list) or not all(map(_is_valid, messages)) or not messages:
            return Fail("invalid")
        if not self.counts and "stream_options" in body:
            return Fail("no_counts")
        if "response_format" in body:
            if not self.schemas:
                return Fail("no_schemas")
            if not _is_valid_format(body["response_format"]):
                return Fail("bad_schema")
        # llama.cpp and LM Studio ask the one model they have, whatever name is sent.
        lenient = self.kind in ("llamacpp", "lmstudio") and len(self.models) == 1
        return None if lenient or body.get("model") in self.models else Fail("missing")


@contextmanager
def fake_openai(
    *models: str,
    kind: Kind = "llamacpp",
    key: str = "",
    prefix: str = "/v1",
    counts: bool = True,
    schemas: bool = True,
) -> Iterator[FakeOpenAi]:
    """Serve until the block ends."""
    fake = FakeOpenAi(
        models=models, kind=kind, key=key, prefix=prefix, counts=counts, schemas=schemas
    )
    with stage(fake.play) as fake._stage:
        yield fake


def _is_valid_format(value: object) -> bool:
    """Return whether a `response_format` names a JSON Schema of an object."""
    if not isinstance(value, dict) or value.get("type") != "json_schema":
        return False
    named = value.get("json_schema")
    return (
        isinstance(named, dict)
        and isinstance(named.get("name"), str)
        and isinstance(named.get("schema"), dict)
        and named["schema"].get("type") == "object"
    )


def _is_valid(message: object) -> bool:
    return (
        isinstance(message, dict)
        and set(message) == {"role", "content"}
        and message["role"] in _ROLES
        and (isinstance(message["content"], str) or all(map(_is_part, message["content"])))
    )


def _is_part(part: Any) -> bool:
    """Return whether a part of a message is a text or a picture."""
    if part["type"] == "text":
        return isinstance(part["text"], str)
    return bool(part["type"] == "image_url" and part["image_url"]["url"].startswith("data:"))
