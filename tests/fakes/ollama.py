"""A twin of an Ollama server: real HTTP on loopback, answers scripted by path.

    with fake_ollama("tiny:latest") as server:
        server.enqueue(Say("Hello", " world"), Fail("busy"))

It refuses what Ollama refuses, in Ollama's words, and remembers what it was asked.
"""

import ipaddress
import threading
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tests.fakes import ollama_rules as rules
from tests.fakes.ollama_script import Answer, Context, Fail, Raw, Say, Step, build_json_answer
from tests.fakes.ollama_wire import (
    CHAT,
    EMBED,
    GENERATE,
    METRICS,
    SHOW,
    Generation,
    Model,
    build_details,
    build_embeddings,
    build_running,
    build_tag,
)
from tests.fakes.play import Asked, Pause, Play, Stage, stage

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

_LISTS = ("/", "/api/version", "/api/tags", "/api/ps")
_CALLS = (CHAT, GENERATE, EMBED, SHOW)
_TRUSTED_NAMES = (".localhost", ".local", ".internal")
_DEFAULT_WINDOW = 4096
_NOTHING = dict.fromkeys(METRICS, 0)


@dataclass
class FakeOllama:
    """The script and the record of one server."""

    answers: dict[str, Answer] = field(default_factory=dict)
    """Answers that stay, by path: they come before every script."""
    generation: Generation = "new"
    prefix: str = ""
    models: dict[str, Model] = field(default_factory=dict)
    windows: dict[str, int] = field(default_factory=dict)
    """The models in memory, each with its `num_ctx`."""
    _scripts: dict[str, deque[Step]] = field(default_factory=lambda: defaultdict(deque))
    _stage: Stage | None = None

    @property
    def stage(self) -> Stage:
        """The server at work."""
        assert self._stage, "not serving"
        return self._stage

    @property
    def port(self) -> int:
        """The port on loopback."""
        return self.stage.port

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}{self.prefix}"

    @property
    def asked(self) -> list[Asked]:
        """Every request, in order."""
        return self.stage.asked

    @property
    def requests(self) -> list[tuple[str, str, str]]:
        """Method, path and `Host` of everything that was asked."""
        return [(one.method, one.path, one.headers.get("host", "")) for one in self.asked]

    @property
    def hung_up(self) -> threading.Event:
        """Set when some client was gone before the server was done."""
        return self.stage.hung_up

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
        if not _is_trusted(asked.headers):
            return self._fail("forbidden")
        if allowed and asked.method not in allowed:
            return self._fail("wrong_method", {"Allow": ", ".join(allowed)})
        if target in self.answers:
            return self.answers[target].play()
        if path in _CALLS:
            return self._call(path, asked)
        return self._list(path)

    def _list(self, path: str) -> Play:
        if path == "/":
            alive = b"Ollama is running"
            return Answer(body=alive, content_type="text/plain; charset=utf-8").play()
        if path == "/api/ps":
            entries = [
                build_running(self.models[name], size) for name, size in self.windows.items()
            ]
            return build_json_answer({"models": entries}).play()
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
            rules.check_request(path, body, model, self.generation)
        except rules.RequestRefused as refused:
            return Fail(refused.name, **refused.given).play(context)
        stream = path in (CHAT, GENERATE) and body.get("stream") is not False
        context = Context(
            path=path, model=body.get("model", ""), stream=stream, generation=self.generation
        )
        return self._step(path, body, model).play(context)

    def _step(self, path: str, body: dict[str, Any], model: Model) -> Step:
        if path in (CHAT, GENERATE) and not body.get("messages" if path == CHAT else "prompt"):
            return self._preloaded(body, model)
        if path != SHOW:
            self._load(body, model)
        if self._scripts[path]:
            return self._scripts[path].popleft()
        if path == SHOW:
            return build_json_answer(build_details(model))
        if path == EMBED:
            return build_json_answer(
                build_embeddings(model, _read_texts(body), body.get("dimensions"))
            )
        return Fail("unscripted")

    def _load(self, body: Mapping[str, Any], model: Model) -> None:
        options = body.get("options") or {}
        self.windows[model.name] = options.get("num_ctx", _DEFAULT_WINDOW)

    def _preloaded(self, body: Mapping[str, Any], model: Model) -> Step:
        """Return the answer to a request without words, which loads or unloads a model."""
        if body.get("keep_alive") == 0:
            self.windows.pop(model.name, None)
            return Say(done_reason="unload", prompt_tokens=0, metrics=_NOTHING)
        self._load(body, model)
        return Say(done_reason="load", prompt_tokens=0, metrics=_NOTHING)

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


def _read_texts(body: Mapping[str, Any]) -> list[str]:
    given = body.get("input") or []
    return [given] if isinstance(given, str) else given


def _is_trusted(headers: Mapping[str, str]) -> bool:
    """Return whether a server on loopback talks to this `Host` and `Origin`."""
    origin = headers.get("origin")
    hosts = [urlsplit(f"//{headers.get('host', '')}").hostname]
    hosts += [urlsplit(origin).hostname] if origin else []
    return all(_is_local(host or "") for host in hosts)


def _is_local(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host in ("", "localhost") or host.endswith(_TRUSTED_NAMES)
    return address.is_private or address.is_loopback or address.is_unspecified
