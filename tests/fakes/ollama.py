"""A twin of an Ollama server: real HTTP on loopback, answers scripted by path.

    with fake_ollama("tiny:latest") as server:
        server.enqueue(Say("Hello", " world"), Fail("busy"))

It refuses what Ollama refuses, in Ollama's words, and remembers what it was asked.
"""

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.fakes import ollama_rules as rules
from tests.fakes.ollama_script import (
    Answer,
    Context,
    Fail,
    Raw,
    Say,
    Step,
    build_json_answer,
    count_tokens,
)
from tests.fakes.ollama_wire import (
    CHAT,
    METRICS,
    SHOW,
    Generation,
    Model,
    build_details,
    build_tag,
)
from tests.fakes.play import Asked, Pause, Play, Staged, stage

__all__ = [
    "Answer",
    "Fail",
    "FakeOllama",
    "Model",
    "Pause",
    "Raw",
    "Say",
    "build_json_answer",
    "fake_ollama",
]

_LISTS = ("/api/version", "/api/tags")
_CALLS = (CHAT, SHOW)
_NOTHING = dict.fromkeys(METRICS, 0)


@dataclass(kw_only=True)
class FakeOllama(Staged):
    """The script and the record of one server."""

    answers: dict[str, Answer] = field(default_factory=dict)
    """Answers that stay, by path: they come before every script."""
    generation: Generation = "new"
    prefix: str = ""
    models: dict[str, Model] = field(default_factory=dict)
    _scripts: dict[str, deque[Step]] = field(default_factory=lambda: defaultdict(deque))

    @property
    def port(self) -> int:
        """The port on loopback."""
        return self.stage.port

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}{self.prefix}"

    @property
    def requests(self) -> list[tuple[str, str, str]]:
        """Method, path and `Host` of everything that was asked."""
        return [(one.method, one.path, one.headers.get("host", "")) for one in self.asked]

    @property
    def unplayed(self) -> int:
        """How many steps of the scripts nobody asked for."""
        return sum(map(len, self._scripts.values()))

    def bodies(self, path: str = CHAT) -> list[dict[str, Any]]:
        """Return the JSON of every request to a path."""
        return [one.body for one in self.asked if one.path == self.prefix + path]

    def ignored(self, path: str = CHAT) -> list[str]:
        """Return the fields and options of requests that Ollama passes over without a word."""
        return [name for body in self.bodies(path) for name in rules.list_ignored(path, body)]

    def enqueue(self, *steps: Step, path: str = CHAT) -> None:
        """Let the next requests to a path be answered so, one step each."""
        self._scripts[path].extend(steps)

    def forget(self) -> None:
        """Drop the steps that nobody asked for."""
        self._scripts.clear()

    def install(self, *models: str | Model) -> None:
        """Let the server have these models, full names with tags."""
        found = [Model(name=one) if isinstance(one, str) else one for one in models]
        self.models = {one.name: one for one in found}
        entries = [build_tag(one, self.generation) for one in found]
        self.answers[f"{self.prefix}/api/tags"] = build_json_answer({"models": entries})

    def play(self, asked: Asked) -> Play:
        """Return the response to a request."""
        target = asked.path.partition("?")[0]
        path = target.removeprefix(self.prefix)
        allowed = _list_methods(path)
        if allowed and asked.method not in allowed:
            return self._fail("wrong_method", {"Allow": ", ".join(allowed)})
        if target in self.answers:
            return self.answers[target].play()
        if path in _CALLS:
            return self._call(path, asked)
        tidy = "/" + "/".join(part for part in path.split("/") if part)
        if tidy != path and _list_methods(tidy):
            return self._fail("redirect", {"Location": self.prefix + tidy})
        return self._fail("no_page")

    def _call(self, path: str, asked: Asked) -> Play:
        """Return the answer to a request with a body, or its refusal."""
        context = Context(path=path, model="nope", stream=False, generation=self.generation)
        try:
            body = rules.decode_body(path, asked.raw)
            model = rules.find_model(path, body, self.models)
            if path == CHAT:
                rules.check_request(body, model, self.generation)
        except rules.RequestRefused as refused:
            return Fail(refused.name, **refused.given).play(context)
        stream = path == CHAT and body.get("stream") is not False
        context = Context(
            path=path,
            model=body.get("model", ""),
            stream=stream,
            generation=self.generation,
            prompt_tokens=count_tokens(body),
        )
        return self._step(path, body, model).play(context)

    def _step(self, path: str, body: dict[str, Any], model: Model) -> Step:
        if path == CHAT and not body.get("messages"):
            # A request without words loads or unloads a model.
            reason = "unload" if body.get("keep_alive") == 0 else "load"
            return Say(done_reason=reason, prompt_tokens=0, metrics=_NOTHING)
        if self._scripts[path]:
            return self._scripts[path].popleft()
        return build_json_answer(build_details(model)) if path == SHOW else Fail("unscripted")

    def _fail(self, name: str, headers: Mapping[str, str] | None = None) -> Play:
        context = Context(path="", model="", stream=False, generation=self.generation)
        play = Fail(name).play(context)
        return Play(
            parts=play.parts,
            status=play.status,
            headers={**play.headers, **(headers or {})},
            length=play.length,
        )


@contextmanager
def fake_ollama(
    *models: str | Model,
    version: str | None = None,
    generation: Generation = "new",
    prefix: str = "",
) -> Iterator[FakeOllama]:
    """Serve until the block ends."""
    version = version or {"old": "0.24.0", "new": "0.32.15"}[generation]
    fake = FakeOllama(generation=generation, prefix=prefix)
    fake.answers[f"{prefix}/api/version"] = build_json_answer({"version": version})
    fake.install(*models)
    with stage(fake.play) as fake._stage:
        yield fake


def _list_methods(path: str) -> tuple[str, ...]:
    if path in _LISTS:
        return ("GET", "HEAD")
    return ("POST",) if path in _CALLS else ()
