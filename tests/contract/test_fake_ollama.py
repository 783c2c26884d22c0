"""The fake Ollama keeps to the protocol: the official client gets along with it, byte by byte."""

import http.client
import json

import httpx
import ollama
import pytest

from tests.fakes.ollama import (
    Answer,
    Fail,
    Model,
    Pause,
    Say,
    fake_ollama,
)
from tests.fakes.ollama_failures import (
    FAILURES,
    build_failure,
)
from tests.fakes.ollama_wire import CHAT, SHOW

HELLO = [{"role": "user", "content": "hello"}]


@pytest.fixture
def server():
    with fake_ollama(
        "tiny:latest",
        Model(name="tinyembed:latest", capabilities=("embedding",)),
        Model(name="thinker:4b", capabilities=("completion", "thinking", "tools")),
    ) as fake:
        yield fake


@pytest.fixture
def client(server):
    with ollama.Client(server.url, trust_env=False, verify=False, timeout=10) as official:
        yield official


def post(server, path, body, **headers):
    """Return a response with its raw body; `body` is bytes or becomes JSON."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return httpx.post(
        server.url + path, content=raw, headers=headers, trust_env=False, verify=False, timeout=10
    )


def chat(server, **fields):
    return post(server, CHAT, {"model": "tiny", "messages": HELLO, **fields})


def lines(response):
    return [json.loads(line) for line in response.content.splitlines()]


# The official client


def test_the_official_client_lists_models(client):
    assert [one.model for one in client.list().models] == [
        "tiny:latest",
        "tinyembed:latest",
        "thinker:4b",
    ]


def test_the_official_client_streams_a_chat(client, server):
    server.enqueue(Say("Hello", " wörld", " <&> 안녕", prompt_tokens=12))

    *parts, last = client.chat("tiny", HELLO, stream=True)

    assert [part.message.content for part in parts] == ["Hello", " wörld", " <&> 안녕"]
    assert not any(part.done for part in parts)
    assert (last.done, last.done_reason, last.message.content) == (True, "stop", "")
    assert (last.prompt_eval_count, last.eval_count) == (12, 3)
    assert last.total_duration > last.eval_duration > 0


@pytest.mark.parametrize("stream", [True, False])
def test_the_official_client_sees_thoughts_before_words(client, server, stream):
    server.enqueue(Say("Yes", thinking=["hm", "mm"]))

    answer = client.chat("thinker:4b", HELLO, think=True, stream=stream)
    parts = list(answer) if stream else [answer]

    assert "".join(part.message.thinking or "" for part in parts) == "hmmm"
    assert "".join(part.message.content for part in parts) == "Yes"
    assert parts[0].message.thinking == ("hm" if stream else "hmmm")


@pytest.mark.parametrize("name", [name for name in FAILURES if name != "unscripted"])
def test_the_official_client_raises_failures_with_status_and_text(client, server, name):
    server.enqueue(Fail(name, model="tiny"))
    status, _, body = build_failure(name, CHAT, "new", {"model": "tiny", "full": "tiny"})

    with pytest.raises(ollama.ResponseError) as raised:
        list(client.chat("tiny", HELLO, stream=True))

    assert raised.value.status_code == status
    assert raised.value.error == json.loads(body)["error"]


def test_the_official_client_raises_an_error_line_without_a_status(client, server):
    server.enqueue(Say("one", "two", end="error"))
    parts = client.chat("tiny", HELLO, stream=True)

    assert [next(parts).message.content for _ in range(2)] == ["one", "two"]
    with pytest.raises(ollama.ResponseError, match="unexpected EOF") as raised:
        next(parts)

    assert raised.value.status_code == -1


def test_the_official_client_ends_silently_without_a_last_line(client, server):
    server.enqueue(Say("ha", "ha", end="silent"), Say("ha", end="silent"))

    assert [part.done for part in client.chat("tiny", HELLO, stream=True)] == [False, False]
    assert client.chat("tiny", HELLO).done is False


@pytest.mark.parametrize("end", ["cut", "reset"])
@pytest.mark.parametrize("stream", [True, False])
def test_the_official_client_meets_a_cut_connection(client, server, end, stream):
    server.enqueue(Say("one", end=end))

    with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
        list(client.chat("tiny", HELLO, stream=stream))


# The wire


def test_streams_are_lines_of_json_in_chunks(server):
    server.enqueue(Say("a", "b"))

    response = chat(server)

    assert response.headers["Content-Type"] == "application/x-ndjson"
    assert response.headers["Transfer-Encoding"] == "chunked"
    assert response.content.endswith(b"}\n")
    assert b"\n\n" not in response.content
    assert [line["done"] for line in lines(response)] == [False, False, True]


def test_a_nested_error_has_the_very_bytes(server):
    server.enqueue(Fail("overflow", generation="new"))

    response = chat(server)

    assert response.status_code == 400
    assert response.content == (
        rb'{"error":"{\"error\":{\"code\":400,\"message\":\"request (1018 tokens) exceeds the '
        rb"available context size (256 tokens), try increasing it\",\"type\":"
        rb'\"exceed_context_size_error\",\"n_prompt_tokens\":1018,\"n_ctx\":256}}"}'
    )


def test_a_request_without_a_script_fails_loudly(server):
    response = chat(server)

    assert (response.status_code, response.json()["error"]) == (
        500,
        "nothing is scripted for this request",
    )


# What Ollama refuses


UNMARSHAL = "json: cannot unmarshal"
WRONG = [
    (CHAT, b"{broken", 400, "invalid character 'b' looking for beginning of object key string"),
    (
        CHAT,
        {"model": 5},
        400,
        f"{UNMARSHAL} number into Go struct field ChatRequest.model of type string",
    ),
    (CHAT, {"model": ""}, 400, "model is required"),
    (CHAT, {"model": "nope"}, 404, "model 'nope' not found"),
    (SHOW, {"model": "nope"}, 404, "model 'nope:latest' not found"),
    (CHAT, {"model": "tinyembed"}, 400, '"tinyembed" does not support chat'),
    (
        CHAT,
        {"model": "tiny", "tools": [{}]},
        400,
        "registry.ollama.ai/library/tiny:latest does not support tools",
    ),
    (
        CHAT,
        {"model": "tiny", "think": "wrong"},
        400,
        'invalid think value: "wrong" (must be "high", "medium", "low", "max", true, or false)',
    ),
    (
        CHAT,
        {"model": "tiny", "options": {"num_ctx": "big"}},
        500,
        'option "num_ctx" must be of type integer',
    ),
    (
        CHAT,
        {"model": "tiny", "format": "xml"},
        500,
        'invalid format: "\\"xml\\""; expected "json" or a valid JSON Schema object',
    ),
]


@pytest.mark.parametrize(("path", "body", "status", "text"), WRONG)
def test_nonsense_is_refused_in_ollamas_words_and_costs_no_step(server, path, body, status, text):
    server.enqueue(Say("never"), path=path)
    if isinstance(body, dict) and path == CHAT:
        body = {"messages": HELLO, **body}

    response = post(server, path, body)

    assert (response.status_code, response.json()) == (status, {"error": text})
    assert server.unplayed == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"keep_alive": 300},
        {"format": {"type": "object"}},
        {"options": {"num_ctx": 8192, "num_predict": 5, "temperature": 0, "stop": ["x"]}},
    ],
)
def test_what_is_right_is_taken(server, fields):
    server.enqueue(Say("yes"))

    assert chat(server, **fields).status_code == 200
    assert server.ignored() == []


# What it remembers, and when it notices


@pytest.mark.parametrize(
    "step",
    [
        Say("a", held_s=60),
        Say(Pause(60), "a"),
        Say("a", Pause(60), "b"),
        Say("a" * 100, drip=1, drip_s=1),
        Fail("busy", delay_s=60),
        Answer(body=b"{}", delay_s=60),
    ],
    ids=["headers", "first", "middle", "drip", "failure", "answer"],
)
def test_a_client_that_hangs_up_is_noticed_while_the_server_pauses(server, step):
    server.enqueue(step)
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request("POST", CHAT, json.dumps({"model": "tiny", "messages": HELLO}))
    assert not server.hung_up.wait(0.05)

    connection.close()

    assert server.hung_up.wait(5)
    assert server.asked[0].hung_up.is_set()


def test_a_server_that_closes_does_not_wait_for_its_pauses():
    with fake_ollama("tiny:latest") as closing:
        closing.enqueue(Say("a", Pause(600)))
        connection = http.client.HTTPConnection("127.0.0.1", closing.port, timeout=10)
        connection.request("POST", CHAT, json.dumps({"model": "tiny", "messages": HELLO}))
        response = connection.getresponse()
        assert response.readline().endswith(b"}\n")

    response.close()
    connection.close()

    assert closing.asked[0].over.is_set()
    assert not closing.hung_up.is_set()
