"""Who runs the conformance suite of `LanguageModel`: each implementation with a server to script.

An adapter is one entry in `SUBJECTS`: a context manager that takes deadlines and gives a `Subject`.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from msgspec.structs import replace

from kebab.config.settings import Llm
from kebab.core.answers import AnswerCutError, Completion, JsonSchema, LanguageModel
from kebab.errors.catalog import (
    ContextOverflow,
    ModelBusy,
    ModelNotPulled,
    ModelProtocol,
    ModelRejected,
    ModelUnreachable,
    TimedOut,
)
from kebab.llm.chat import OllamaChat, OpenAiChat
from kebab.llm.endpoint import parse_base_url, parse_endpoint
from kebab.wire.record import FinishName
from tests.fakes import openai
from tests.fakes.language_model import Pieces, ScriptedModel
from tests.fakes.ollama import Fail, FakeOllama, Pause, Say, fake_ollama
from tests.fakes.ollama_wire import Generation
from tests.fakes.openai import KINDS, FakeOpenAi, Kind, fake_openai
from tests.fakes.waiting import PATIENCE_S, wait_for_request

if TYPE_CHECKING:
    from kebab.errors.signal import Signal
    from tests.fakes.ollama_script import End
    from tests.fakes.openai_script import End as OpenAiEnd

Trouble: TypeAlias = Literal["missing", "rejected", "busy", "overflow", "foreign"]
Ending: TypeAlias = Literal["cut", "unended", "failed"]
"""How an answer breaks: the connection is cut, the end mark is missing, the model crashed."""

_PLACE: dict[str, Any] = {"endpoint": "http://127.0.0.1:1", "operation": "ask"}
_LONG_S = 60.0

PATIENT = Llm(connect_s=5.0, first_token_s=20.0, total_s=40.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Speech:
    """An answer that a server gives."""

    pieces: tuple[str, ...] = ("Hello", " world")
    finish: FinishName = "stop"
    prompt_tokens: int = 7
    completion_tokens: int = 2
    drip: int | None = None
    """Bytes in one network write; None writes each piece whole."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What a server was asked."""

    messages: list[tuple[str, str]]
    max_tokens: int
    schema: JsonSchema | None = None


class Subject(Protocol):
    """A model, and what makes its server behave."""

    @property
    def model(self) -> LanguageModel:
        """The model that is examined."""

    def says(self, speech: Speech) -> None:
        """Let the next answer be this one."""

    def fails(self, trouble: Trouble) -> None:
        """Let the next answer be a failure before any token."""

    def breaks(self, *pieces: str, ending: Ending) -> None:
        """Let the next answer break after these pieces."""

    def stalls(self, *pieces: str) -> None:
        """Let the next answer come to no end after these pieces."""

    def dawdles(self) -> None:
        """Let the next answer go on for ever, with short pauses."""

    def wait_for_request(self) -> None:
        """Wait until the server is asked for an answer."""

    def noticed(self) -> bool:
        """Return whether the server finds out, soon, that nobody listens any more."""

    def refuses_schemas(self) -> None:
        """Let the server refuse the schema of the next request, if there is a server."""

    def heard(self) -> Heard:
        """Return what the server was asked last."""

    def overlooked(self) -> list[str]:
        """Return what the server did not understand of all it was asked, and passed over."""


def stop_after(count: int, reason: BaseException) -> Callable[[str], None]:
    """Return a listener that raises the reason at its n-th piece."""
    heard: list[str] = []

    def on_text(piece: str) -> None:
        heard.append(piece)
        if len(heard) == count:
            raise reason

    return on_text


Opener: TypeAlias = Callable[[Llm], AbstractContextManager[Subject]]


class ScriptedSubject:
    """The scripted model, which has no server: it raises what an adapter would."""

    def __init__(self) -> None:
        self.model = ScriptedModel()

    def says(self, speech: Speech) -> None:
        text = "".join(speech.pieces)
        finished = Completion(
            text=text,
            finish=speech.finish,
            prompt_tokens=speech.prompt_tokens,
            completion_tokens=speech.completion_tokens,
            first_token_ms=1.0 if text else None,
        )
        self.model.enqueue(Pieces(*speech.pieces, then=finished))

    def fails(self, trouble: Trouble) -> None:
        signals: dict[Trouble, Signal] = {
            "missing": ModelNotPulled(model="scripted", **_PLACE),
            "rejected": ModelRejected(model="scripted", cause="it only embeds", **_PLACE),
            "busy": ModelBusy(**_PLACE),
            "overflow": ContextOverflow(prompt_tokens=1018, context_tokens=256),
            "foreign": ModelProtocol(cause="HTML", **_PLACE),
        }
        self.model.enqueue(signals[trouble])

    def breaks(self, *pieces: str, ending: Ending) -> None:
        signals: dict[Ending, Signal] = {
            "cut": ModelUnreachable(cause="cut", **_PLACE),
            "failed": ModelProtocol(cause="crashed", **_PLACE),
            "unended": ModelProtocol(cause="no end", **_PLACE),
        }
        signals["unended"].__cause__ = AnswerCutError()
        self.model.enqueue(Pieces(*pieces, then=signals[ending]))

    def stalls(self, *pieces: str) -> None:
        operation = "next_token" if pieces else "first_token"
        late = TimedOut(operation=operation, elapsed_ms=300, deadline_ms=300)
        self.model.enqueue(Pieces(*pieces, then=late))

    def dawdles(self) -> None:
        late = TimedOut(operation="answer", elapsed_ms=300, deadline_ms=300)
        self.model.enqueue(Pieces(*["slow "] * 5, then=late))

    def wait_for_request(self) -> None:
        pass

    def noticed(self) -> bool:
        return True

    def refuses_schemas(self) -> None:
        pass

    def heard(self) -> Heard:
        told = self.model.told[-1]
        messages: list[tuple[str, str]] = [(one.role, one.content) for one in told.messages]
        return Heard(messages, told.max_tokens, told.schema)

    def overlooked(self) -> list[str]:
        return []


class OllamaSubject:
    """The adapter for Ollama with the fake server that it speaks to."""

    def __init__(self, server: FakeOllama, deadlines: Llm) -> None:
        self._server = server
        self.model = ollama_model(server.url, deadlines)

    def says(self, speech: Speech) -> None:
        self._server.enqueue(
            Say(
                *speech.pieces,
                done_reason=speech.finish,
                prompt_tokens=speech.prompt_tokens,
                completion_tokens=speech.completion_tokens,
                drip=speech.drip,
            )
        )

    def fails(self, trouble: Trouble) -> None:
        names: dict[Trouble, str] = {"rejected": "embedding_only", "foreign": "html"}
        self._server.enqueue(Fail(names.get(trouble, trouble)))

    def breaks(self, *pieces: str, ending: Ending) -> None:
        ends: dict[Ending, End] = {"cut": "cut", "unended": "silent", "failed": "error"}
        self._server.enqueue(Say(*pieces, end=ends[ending]))

    def stalls(self, *pieces: str) -> None:
        self._server.enqueue(Say(*pieces, Pause(_LONG_S)) if pieces else Say(held_s=_LONG_S))

    def dawdles(self) -> None:
        self._server.enqueue(Say(*("slow ", Pause(0.05)) * 1000))

    def wait_for_request(self) -> None:
        wait_for_request(self._server)

    def noticed(self) -> bool:
        return self._server.asked[-1].hung_up.wait(PATIENCE_S)

    def refuses_schemas(self) -> None:
        self._server.enqueue(Fail("bad_schema"))

    def heard(self) -> Heard:
        body = self._server.bodies()[-1]
        messages = [(one["role"], one["content"]) for one in body["messages"]]
        return Heard(messages, body["options"]["num_predict"], body.get("format"))

    def overlooked(self) -> list[str]:
        return self._server.ignored()


class OpenAiSubject:
    """The adapter for OpenAI-compatible servers with the fake server that it speaks to."""

    def __init__(self, server: FakeOpenAi, deadlines: Llm) -> None:
        self._server = server
        self.model = openai_model(server.url, deadlines)

    def says(self, speech: Speech) -> None:
        self._server.enqueue(
            openai.Say(
                *speech.pieces,
                finish=speech.finish,
                prompt_tokens=speech.prompt_tokens,
                completion_tokens=speech.completion_tokens,
                drip=speech.drip,
            )
        )

    def fails(self, trouble: Trouble) -> None:
        names: dict[Trouble, str] = {"foreign": "html"}
        self._server.enqueue(openai.Fail(names.get(trouble, trouble)))

    def breaks(self, *pieces: str, ending: Ending) -> None:
        ends: dict[Ending, OpenAiEnd] = {"cut": "cut", "unended": "silent", "failed": "error"}
        self._server.enqueue(openai.Say(*pieces, end=ends[ending]))

    def stalls(self, *pieces: str) -> None:
        reply = openai.Say(*pieces, Pause(_LONG_S)) if pieces else openai.Say(held_s=_LONG_S)
        self._server.enqueue(reply)

    def dawdles(self) -> None:
        self._server.enqueue(openai.Say(*("slow ", Pause(0.05)) * 1000))

    def wait_for_request(self) -> None:
        wait_for_request(self._server)

    def noticed(self) -> bool:
        return self._server.asked[-1].hung_up.wait(PATIENCE_S)

    def refuses_schemas(self) -> None:
        self._server.schemas = False

    def heard(self) -> Heard:
        body = self._server.bodies[-1]
        messages = [(one["role"], one["content"]) for one in body["messages"]]
        named = body.get("response_format", {}).get("json_schema", {})
        return Heard(messages, body["max_tokens"], named.get("schema"))

    def overlooked(self) -> list[str]:
        return self._server.ignored


@contextmanager
def _build_scripted(deadlines: Llm) -> Iterator[Subject]:
    yield ScriptedSubject()


def _build_ollama(generation: Generation) -> Opener:
    @contextmanager
    def opened(deadlines: Llm) -> Iterator[Subject]:
        with fake_ollama("tiny:latest", generation=generation) as server:
            yield OllamaSubject(server, deadlines)

    return opened


def _build_openai(kind: Kind) -> Opener:
    @contextmanager
    def opened(deadlines: Llm) -> Iterator[Subject]:
        with fake_openai("tiny", kind=kind) as server:
            yield OpenAiSubject(server, deadlines)

    return opened


def ollama_model(
    url: str, deadlines: Llm, *, model: str = "tiny", context_tokens: int = 8192
) -> OllamaChat:
    """Return the adapter for a server."""
    options = replace(deadlines, context_tokens=context_tokens)
    return OllamaChat(parse_endpoint(url), model, options)


def openai_model(url: str, deadlines: Llm) -> OpenAiChat:
    """Return the adapter for a server."""
    return OpenAiChat(parse_base_url(url), "tiny", deadlines)


SUBJECTS: dict[str, Opener] = {
    "scripted": _build_scripted,
    "ollama": _build_ollama("new"),
    "openai": _build_openai("llamacpp"),
}
DIALECTS: dict[str, Opener] = {
    **SUBJECTS,
    "ollama-old": _build_ollama("old"),
    **{f"openai-{kind}": _build_openai(kind) for kind in KINDS},
}
"""The same with the servers that differ in how they word a failure."""
ADAPTERS: dict[str, Callable[[str, Llm], LanguageModel]] = {
    "ollama": ollama_model,
    "openai": openai_model,
}
"""How each adapter is made for a server anywhere."""
