import pytest
from msgspec.structs import replace

from kebab.config.settings import Llm
from kebab.core.answers import Message
from kebab.llm.chat import OpenAiChat, ServerSentEvent, parse_events
from kebab.llm.endpoint import parse_base_url
from tests.fakes.openai import Say, fake_openai

MESSAGES = [
    Message("system", "Be brief."),
    Message("user", "빵이란?"),
    Message("assistant", "Bread."),
    Message("user", "and \ud800 cake?"),
]
PATIENT = Llm(connect_s=5.0, first_token_s=20.0, total_s=40.0)


def make(url, name="tiny", **options):
    chosen = replace(PATIENT, **{"context_tokens": 4096, **options})
    return OpenAiChat(parse_base_url(url), name, chosen)


def ask(model, on_text=lambda text: None):
    return model.chat(MESSAGES, max_tokens=64, on_text=on_text)


@pytest.fixture
def server():
    with fake_openai("tiny") as fake:
        yield fake


def test_the_request_follows_the_api(server):
    server.enqueue(Say("Hello"))

    ask(make(server.url))

    [asked] = server.asked
    assert (asked.method, asked.path) == ("POST", "/v1/chat/completions")
    assert asked.headers["content-type"] == "application/json"
    assert "authorization" not in asked.headers
    assert asked.body == {
        "model": "tiny",
        "messages": [{"role": one.role, "content": one.content} for one in MESSAGES],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 64,
        "temperature": 0,
    }
    assert server.ignored == []


@pytest.mark.parametrize("kind", ["vllm", "vllm-old"])
def test_a_server_without_token_counts_gets_a_second_request(kind):
    with fake_openai("tiny", kind=kind, counts=False) as server:
        server.enqueue(Say("Hello"), Say("again"))
        model = make(server.url)

        first, second = ask(model), ask(model)

        assert (first.text, second.text) == ("Hello", "again")
        assert ["stream_options" in body for body in server.bodies] == [True, False, False]
        assert first.prompt_tokens is None


def read(text):
    """Return the events of a text, cut into lines as the stream cuts it."""
    lines = text.encode().split(b"\n")
    return list(parse_events(line.removesuffix(b"\r") for line in lines))


def data(*texts):
    return [ServerSentEvent("", text.encode()) for text in texts]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("data: one\n\ndata: two\n\n", data("one", "two")),
        ("data\n\ndata:\n\ndata: \n\n", []),
        ("event: ping\n\ndata: one\n\n", data("one")),
        ("data: 빵 🍞\n\n", data("빵 🍞")),
        ("", []),
    ],
)
def test_events_are_parsed_by_the_standard(text, expected):
    assert read(text) == expected


def test_an_event_is_yielded_as_soon_as_it_is_complete():
    def lines():
        yield from (b"data: one", b"")
        raise AssertionError

    assert next(parse_events(lines())) == ServerSentEvent("", b"one")


@pytest.mark.parametrize(("think", "sent"), [(False, None), (True, None), ("high", "high")])
def test_a_level_of_thinking_is_sent(server, think, sent):
    server.enqueue(Say("Hello"))

    ask(make(server.url, think=think))

    assert server.bodies[0].get("reasoning_effort") == sent
    assert server.ignored == []
