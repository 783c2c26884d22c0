import json

import pytest
from msgspec.structs import replace

from kebab.config.settings import Llm
from kebab.core.answers import Message
from kebab.errors.catalog import (
    ContextOverflow,
    ModelBusy,
    ModelProtocol,
    ModelRejected,
    TimedOut,
)
from kebab.llm.chat import OpenAiChat
from kebab.llm.endpoint import parse_base_url
from tests.fakes.openai import (
    Pause,
    Raw,
    Say,
    Wording,
    build_json_answer,
    fake_openai,
)

HELLO = [Message("user", "hello")]
PATIENT = Llm(connect_s=5.0, first_token_s=20.0, total_s=40.0)


@pytest.fixture
def server():
    with fake_openai("tiny") as fake:
        yield fake


def ask(server, on_text=lambda text: None, deadlines=PATIENT):
    options = replace(deadlines, context_tokens=4096)
    model = OpenAiChat(parse_base_url(server.url), "tiny", options)
    return model.chat(HELLO, max_tokens=64, on_text=on_text)


def failure(server, step, kind):
    """Return the signal of an answer and what was heard before it."""
    heard: list[str] = []
    server.enqueue(step)
    with pytest.raises(kind) as raised:
        ask(server, heard.append)
    return raised.value, heard


WORDINGS = {
    "without a space": Wording(space=""),
    "CRLF": Wording(line_end="\r\n"),
    "CR": Wording(line_end="\r"),
    "comments": Wording(between=(": keep-alive", "")),
    "fields": Wording(between=("id: 7", "retry: 9", "event: message")),
    "no last blank line": Wording(last_blank=False),
}


@pytest.mark.parametrize("drip", [None, 1, 3])
@pytest.mark.parametrize("wording", WORDINGS.values(), ids=WORDINGS)
def test_all_forms_of_a_stream_are_read(server, wording, drip):
    server.enqueue(Say("Hello", " 世界", wording=wording, drip=drip))

    completion = ask(server)

    assert (completion.text, completion.prompt_tokens) == ("Hello 世界", 7)


@pytest.mark.parametrize("end", ["cut", "reset"])
def test_a_lost_connection_after_the_finish_is_ignored(server, end):
    last = b'data: {"choices":[{"delta":{},"finish_reason":"length"}]}\n\n'
    server.enqueue(Say("Hello", Raw(last), Pause(0.2), end=end))

    completion = ask(server)

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
        ask(server, on_text)

    assert raised.value is reason


@pytest.mark.parametrize("reason", ["content_filter", "tool_calls", "stop", "length"])
def test_the_finish_reason_is_that_of_the_server(server, reason):
    server.enqueue(Say("Hello", finish=reason))

    assert ask(server).finish == reason


def delta(**parts):
    return Raw(f"data: {json.dumps({'choices': [{'index': 0, 'delta': parts}]})}\n\n".encode())


@pytest.mark.parametrize("what", [b": keep-alive\n\n", delta(role="assistant", content="").data])
def test_other_events_do_not_restart_the_limit_for_silence(server, what):
    server.enqueue(Say(*(Raw(what), Pause(0.1)) * 100))

    with pytest.raises(TimedOut) as raised:
        ask(server, deadlines=Llm(connect_s=5, first_token_s=0.5, total_s=0))

    assert raised.value.operation == "first_token"


@pytest.mark.parametrize(
    "usage",
    [None, [], {}, {"prompt_tokens": -1}, {"prompt_tokens": True}],
)
def test_invalid_counts_are_unknown(server, usage):
    chunk = json.dumps({"choices": [], "usage": usage}).encode()
    server.enqueue(Say("Hello", Raw(b"data: " + chunk + b"\n\n"), end="only_mark"))

    completion = ask(server)

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

    completion = ask(server, heard.append)

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
