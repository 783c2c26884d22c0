import json

import pytest
from msgspec.structs import replace

from kebab.config.settings import Llm
from kebab.core.answers import Message
from kebab.errors.catalog import ContextOverflow, ModelBusy, ModelProtocol, ModelRejected, TimedOut
from kebab.llm.chat import OpenAiChat, ServerSentEvent, parse_events
from kebab.llm.endpoint import parse_base_url
from tests.fakes.openai import Pause, Raw, Say, Wording, build_json_answer, fake_openai

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


def answer(server, on_text=lambda text: None, deadlines=PATIENT):
    model = OpenAiChat(parse_base_url(server.url), "tiny", deadlines)
    return model.chat([Message("user", "hello")], max_tokens=64, on_text=on_text)


def failure(server, step, kind):
    """Return the signal of an answer and what was heard before it."""
    heard: list[str] = []
    server.enqueue(step)
    with pytest.raises(kind) as raised:
        answer(server, heard.append)
    return raised.value, heard


WORDINGS = {
    "without a space": Wording(space=""),
    "CRLF": Wording(line_end="\r\n"),
    "CR": Wording(line_end="\r"),
    "comments": Wording(between=(": keep-alive", "")),
    "fields": Wording(between=("id: 7", "retry: 9", "event: message")),
    "no last blank line": Wording(last_blank=False),
}


@pytest.mark.parametrize("drip", [None, 1])
@pytest.mark.parametrize("wording", WORDINGS.values(), ids=WORDINGS)
def test_all_forms_of_a_stream_are_read(server, wording, drip):
    server.enqueue(Say("Hello", " 世界", wording=wording, drip=drip))

    completion = answer(server)

    assert (completion.text, completion.prompt_tokens) == ("Hello 世界", 7)


@pytest.mark.parametrize("end", ["cut", "reset"])
def test_a_lost_connection_after_the_finish_is_ignored(server, end):
    last = b'data: {"choices":[{"delta":{},"finish_reason":"length"}]}\n\n'
    server.enqueue(Say("Hello", Raw(last), Pause(0.2), end=end))

    completion = answer(server)

    assert (completion.text, completion.finish) == ("Hello", "length")
    assert completion.prompt_tokens is None


def test_an_exception_of_the_listener_after_the_finish_is_raised(server):
    late = b'data: {"choices":[{"delta":{"content":"more"}}]}\n\n'
    last = b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n'
    server.enqueue(Say(Raw(last), Raw(late)))
    reason = TimedOut(operation="listening", elapsed_ms=1, deadline_ms=1)

    def on_text(_text):
        raise reason

    with pytest.raises(TimedOut) as raised:
        answer(server, on_text)

    assert raised.value is reason


@pytest.mark.parametrize("reason", ["content_filter", "tool_calls", "stop", "length"])
def test_the_finish_reason_is_that_of_the_server(server, reason):
    server.enqueue(Say("Hello", finish=reason))

    assert answer(server).finish == reason


def delta(**parts):
    return Raw(f"data: {json.dumps({'choices': [{'index': 0, 'delta': parts}]})}\n\n".encode())


@pytest.mark.parametrize("what", [b": keep-alive\n\n", delta(role="assistant", content="").data])
def test_other_events_do_not_restart_the_limit_for_silence(server, what):
    server.enqueue(Say(*(Raw(what), Pause(0.1)) * 100))

    with pytest.raises(TimedOut) as raised:
        answer(server, deadlines=Llm(connect_s=5, first_token_s=0.5, total_s=0))

    assert raised.value.operation == "first_token"


@pytest.mark.parametrize(
    "usage",
    [None, [], {}, {"prompt_tokens": -1}, {"prompt_tokens": True}],
)
def test_invalid_counts_are_unknown(server, usage):
    chunk = json.dumps({"choices": [], "usage": usage}).encode()
    server.enqueue(Say("Hello", Raw(b"data: " + chunk + b"\n\n"), end="only_mark"))

    completion = answer(server)

    assert (completion.prompt_tokens, completion.completion_tokens) == (None, None)


@pytest.mark.parametrize("form", ["data", "event", "field", "bare"])
@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ({"message": "Compute error.", "type": "server_error"}, ModelProtocol),
        ({"message": "it is full", "code": 503}, ModelBusy),
        ({"message": "say less", "type": "exceed_context_size_error"}, ContextOverflow),
        ({"message": "no", "type": "invalid_request_error", "code": 400}, ModelRejected),
    ],
)
def test_an_error_in_a_stream_is_read_like_a_body(server, form, error, expected):
    step = Say("Hello", end="error", error=error, error_form=form)

    _, heard = failure(server, step, expected)

    assert heard == ["Hello"]


@pytest.mark.parametrize(
    "data",
    [
        b"data: 5\n\n",
        b"data: no JSON\n\n",
        b'data: {"choices":{"a":1}}\n\n',
        b'data: {"choices":["a"]}\n\n',
        b'data: {"choices":[{"delta":"a"}]}\n\n',
        b'data: {"choices":[{"delta":{"content":5}}]}\n\n',
        b"data: " + b"[" * 100_000 + b"\n\n",
    ],
)
def test_an_invalid_event_is_a_protocol_error(server, data):
    _, heard = failure(server, Say("Hello", Raw(data)), ModelProtocol)

    assert heard == ["Hello"]


def test_an_answer_that_is_not_streamed_is_one_piece(server):
    heard: list[str] = []
    server.enqueue(Say("Hello", " world", plain=True, reasoning=["hm"], finish="length"))

    completion = answer(server, heard.append)

    assert heard == ["Hello world"]
    assert (completion.text, completion.finish) == ("Hello world", "length")
    assert (completion.prompt_tokens, completion.completion_tokens) == (7, 3)
    assert completion.first_token_ms is not None


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"error": {"message": "Unexpected endpoint or method. (POST /x)"}}, ModelProtocol),
        ({"error": "it broke"}, ModelProtocol),
        ({"choices": []}, ModelProtocol),
        ({"choices": [{"text": "Hello"}]}, ModelProtocol),
        ({"object": "error", "message": "no", "code": 400}, ModelRejected),
        ([], ModelProtocol),
    ],
)
def test_json_without_an_answer_is_a_signal(server, body, expected):
    failure(server, build_json_answer(body), expected)
