"""The fake Ollama keeps to the protocol: the official client gets along with it, byte by byte."""

import http.client
import json
from datetime import datetime
from itertools import pairwise, product

import httpx
import ollama
import pytest

from tests.fakes.dead_ends import never_accepting, refusing
from tests.fakes.ollama import (
    Answer,
    Fail,
    Model,
    Pause,
    Raw,
    Say,
    build_json_answer,
    fake_ollama,
)
from tests.fakes.ollama_failures import (
    CRASHED,
    FAILURES,
    GARBAGE_LINE,
    HUGE_LINE,
    OVERFLOWS,
    STRANGE,
    build_failure,
)
from tests.fakes.ollama_wire import CHAT, SHOW, Generation

HELLO = [{"role": "user", "content": "hello"}]
GENERATIONS: tuple[Generation, ...] = ("old", "new")


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


def test_the_official_client_shows_a_model(client):
    shown = client.show("tiny")

    assert shown.capabilities == ["completion"]
    assert shown.modelinfo["llama.context_length"] == 8192
    assert client.show("tinyembed").capabilities == ["embedding"]


def test_the_official_client_streams_a_chat(client, server):
    server.enqueue(Say("Hello", " wörld", " <&> 안녕", prompt_tokens=12))

    *parts, last = client.chat("tiny", HELLO, stream=True)

    assert [part.message.content for part in parts] == ["Hello", " wörld", " <&> 안녕"]
    assert not any(part.done for part in parts)
    assert (last.done, last.done_reason, last.message.content) == (True, "stop", "")
    assert (last.prompt_eval_count, last.eval_count) == (12, 3)
    assert last.total_duration > last.eval_duration > 0


def test_the_official_client_chats_without_streaming(client, server):
    server.enqueue(Say("Hello", " world", done_reason="length"))

    answer = client.chat("tiny", HELLO)

    assert (answer.message.content, answer.done_reason) == ("Hello world", "length")


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


def test_the_official_client_meets_a_refusing_port():
    with (
        refusing() as url,
        ollama.Client(url, trust_env=False, verify=False) as client,
        pytest.raises(ConnectionError),
    ):
        client.list()


def test_the_official_client_waits_in_vain_for_a_connection():
    with (
        never_accepting() as url,
        ollama.Client(url, trust_env=False, verify=False, timeout=0.2) as client,
        pytest.raises(httpx.ConnectTimeout),
    ):
        client.list()


@pytest.mark.parametrize("drip", [1, 2, 7, 1_000_000])
def test_the_official_client_reads_any_split(client, server, drip):
    server.enqueue(Say("日本", "語 안", "🙂", drip=drip))

    said = "".join(part.message.content for part in client.chat("tiny", HELLO, stream=True))

    assert said == "日本語 안🙂"


# The wire


def test_streams_are_lines_of_json_in_chunks(server):
    server.enqueue(Say("a", "b"))

    response = chat(server)

    assert response.headers["Content-Type"] == "application/x-ndjson"
    assert response.headers["Transfer-Encoding"] == "chunked"
    assert response.content.endswith(b"}\n")
    assert b"\n\n" not in response.content
    assert [line["done"] for line in lines(response)] == [False, False, True]


def test_html_is_escaped_and_other_scripts_are_not(server):
    server.enqueue(Say("<é&>"))

    assert "\\u003cé\\u0026\\u003e".encode() in chat(server).content


def test_zeros_are_left_out_of_the_metrics(server):
    server.enqueue(Say("a", metrics={"load_duration": 0}, prompt_tokens=0))

    last = lines(chat(server))[-1]

    assert "load_duration" not in last
    assert "prompt_eval_count" not in last
    assert last["eval_count"] == 1


def test_an_old_server_drops_the_duration_of_a_single_token():
    with fake_ollama("tiny:latest", generation="old") as old:
        old.enqueue(Say("a"))

        assert "eval_duration" not in lines(chat(old))[-1]


def test_times_have_up_to_nine_digits(server):
    server.enqueue(Say(*"abcdefgh"))

    times = [line["created_at"] for line in lines(chat(server))]

    assert all(datetime.fromisoformat(time) for time in times)
    assert {len(time) for time in times} >= {len("2026-03-01T12:00:00Z"), 30}


@pytest.mark.parametrize(("text", "chunked"), [("short", False), ("long " * 1000, True)])
def test_large_objects_come_in_chunks(server, text, chunked):
    server.enqueue(Say(text))

    response = chat(server, stream=False)

    assert response.headers["Content-Type"] == "application/json; charset=utf-8"
    assert ("Transfer-Encoding" in response.headers) is chunked
    assert response.json()["message"]["content"] == text


def test_a_nested_error_has_the_very_bytes(server):
    server.enqueue(Fail("overflow", generation="new"))

    response = chat(server)

    assert response.status_code == 400
    assert response.content == (
        rb'{"error":"{\"error\":{\"code\":400,\"message\":\"request (1018 tokens) exceeds the '
        rb"available context size (256 tokens), try increasing it\",\"type\":"
        rb'\"exceed_context_size_error\",\"n_prompt_tokens\":1018,\"n_ctx\":256}}"}'
    )


@pytest.mark.parametrize("name", OVERFLOWS)
@pytest.mark.parametrize("generation", GENERATIONS)
def test_every_overflow_is_a_400_about_the_context(server, name, generation):
    server.enqueue(Fail(name, generation))

    response = chat(server)

    assert response.status_code == 400
    assert "context" in response.json()["error"]


@pytest.mark.parametrize("name", FAILURES)
def test_every_failure_of_the_table_has_words_for_every_call(name):
    for path, generation in product((CHAT, SHOW), GENERATIONS):
        status, kind, body = build_failure(name, path, generation, {})

        assert status >= 400
        assert kind.startswith("application/json")
        assert "$" not in json.loads(body)["error"]


@pytest.mark.parametrize("name", STRANGE)
def test_what_is_no_error_of_the_api_comes_as_it_is(server, name):
    server.enqueue(Fail(name))
    status, kind, body = STRANGE[name]

    response = chat(server)

    assert (response.status_code, response.content) == (status, body)
    assert response.headers.get("Content-Type", "") == kind


@pytest.mark.parametrize("junk", [GARBAGE_LINE, HUGE_LINE], ids=["garbage", "huge"])
def test_a_strange_line_can_stand_between_tokens(server, junk):
    server.enqueue(Say("a", Raw(junk), "b"))

    response = chat(server)

    assert response.content.splitlines(keepends=True)[1] == junk
    assert len(response.content.splitlines()) == 4


def test_an_error_line_is_the_last_and_the_only_sign(server):
    server.enqueue(Say("a", error="out of luck"), Say(end="error"), Say("a", end="error"))

    assert lines(chat(server))[-1] == {"error": "out of luck"}
    assert lines(chat(server)) == [{"error": CRASHED}]
    whole = chat(server, stream=False)
    assert (whole.status_code, whole.json()) == (500, {"error": CRASHED})


def test_a_stream_is_what_comes_when_nothing_is_said_about_it(server):
    server.enqueue(Say("a"), Say("a"))

    assert len(lines(chat(server))) == 2
    assert len(lines(chat(server, stream=False))) == 1


def test_scripts_are_played_in_order_and_by_path(server):
    server.enqueue(Fail("busy"), Say("later"))
    server.enqueue(build_json_answer({"other": True}), path=SHOW)

    assert chat(server).status_code == 503
    assert post(server, SHOW, {"model": "tiny"}).json() == {"other": True}
    assert server.unplayed == 1
    assert lines(chat(server))[0]["message"]["content"] == "later"


def test_a_request_without_a_script_fails_loudly(server):
    response = chat(server)

    assert (response.status_code, response.json()["error"]) == (
        500,
        "nothing is scripted for this request",
    )


def test_answers_that_stay_come_before_scripts(server):
    server.enqueue(Say("never"))
    server.answers[CHAT] = build_json_answer({"error": "always"}, 500)

    assert [chat(server).status_code for _ in range(2)] == [500, 500]


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("path", ["/api/version", "/api/tags"])
def test_lists_are_told_with_and_without_a_body(server, method, path):
    response = httpx.request(method, server.url + path, trust_env=False, verify=False)

    assert response.status_code == 200
    assert bool(response.content) is (method == "GET")


# What Ollama refuses


UNMARSHAL = "json: cannot unmarshal"
WRONG = [
    (CHAT, b"", 400, "missing request body"),
    (CHAT, b"{broken", 400, "invalid character 'b' looking for beginning of object key string"),
    (
        CHAT,
        {"model": 5},
        400,
        f"{UNMARSHAL} number into Go struct field ChatRequest.model of type string",
    ),
    (
        CHAT,
        {"model": "tiny", "messages": [{"role": "user", "content": 5}]},
        400,
        f"{UNMARSHAL} number into Go struct field ChatRequest.messages.content of type string",
    ),
    (CHAT, {"model": ""}, 400, "model is required"),
    (SHOW, {"model": ""}, 400, "model is required"),
    (CHAT, {"model": "a b"}, 400, "invalid model name"),
    (CHAT, {"model": "nope"}, 404, "model 'nope' not found"),
    (SHOW, {"model": "nope"}, 404, "model 'nope:latest' not found"),
    (CHAT, {"model": "tinyembed"}, 400, '"tinyembed" does not support chat'),
    (
        CHAT,
        {"model": "tiny", "tools": [{}]},
        400,
        "registry.ollama.ai/library/tiny:latest does not support tools",
    ),
    (CHAT, {"model": "tiny", "think": True}, 400, '"tiny" does not support thinking'),
    (CHAT, {"model": "tiny", "think": "low"}, 400, '"tiny" does not support thinking'),
    (
        CHAT,
        {"model": "tiny", "think": "wrong"},
        400,
        'invalid think value: "wrong" (must be "high", "medium", "low", "max", true, or false)',
    ),
    (
        CHAT,
        {"model": "tiny", "keep_alive": "300"},
        400,
        'time: missing unit in duration "300"',
    ),
    (CHAT, {"model": "tiny", "keep_alive": "abc"}, 400, 'time: invalid duration "abc"'),
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
        {"think": False},
        {"keep_alive": "1h30m"},
        {"keep_alive": -1},
        {"keep_alive": 300},
        {"format": "json"},
        {"format": {"type": "object"}},
        {"options": {"num_ctx": 8192, "num_predict": 5, "temperature": 0, "stop": ["x"]}},
        {"options": None, "think": None},
        {"truncate": False, "shift": False},
        {"messages": [{"role": "narrator", "content": "x"}]},
    ],
)
def test_what_is_right_is_taken(server, fields):
    server.enqueue(Say("yes"))

    assert chat(server, **fields).status_code == 200
    assert server.ignored() == []


def test_what_ollama_ignores_is_noted(server):
    server.enqueue(Say("yes"))

    assert chat(server, strem=True, options={"num_ctxx": 5}).status_code == 200
    assert server.ignored() == ["strem", "options.num_ctxx"]


@pytest.mark.parametrize(("keep", "reason"), [(None, "load"), (0, "unload")])
def test_a_chat_without_messages_only_loads_or_unloads(server, keep, reason):
    response = chat(server, messages=[], keep_alive=keep)

    assert [line["done_reason"] for line in lines(response)] == [reason]
    assert "total_duration" not in lines(response)[0]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/nope", 404),
        ("POST", "/v1/chat/completions", 404),
        ("GET", CHAT, 405),
        ("POST", "/api/version", 405),
        ("POST", "/api/chat/", 307),
        ("POST", "//api//chat", 307),
    ],
)
def test_wrong_doors_are_no_errors_of_the_api(server, method, path, status):
    response = httpx.request(
        method,
        f"http://127.0.0.1:{server.port}{path}",
        trust_env=False,
        verify=False,
        content=b"{}",
    )

    assert response.status_code == status
    assert response.headers.get("Allow") == (
        {CHAT: "POST"}.get(path, "GET, HEAD") if status == 405 else None
    )
    assert response.headers.get("Location") == (CHAT if status == 307 else None)
    assert (
        response.content
        == {
            404: b"404 page not found",
            405: b"405 method not allowed",
            307: b"",
        }[status]
    )


def test_a_server_behind_a_prefix_answers_there_only():
    with fake_ollama("tiny:latest", prefix="/behind") as server:
        server.enqueue(Say("a"))

        assert chat(server).status_code == 200
        assert len(server.bodies()) == 1
        assert httpx.get(f"{server.url}/api/tags", trust_env=False, verify=False).status_code == 200


# What it remembers, and when it notices


def test_requests_are_remembered_whole(server):
    server.enqueue(Say("a"))
    post(server, CHAT, {"model": "tiny", "messages": HELLO}, Authorization="Bearer x")

    [asked] = server.asked

    assert (asked.method, asked.path) == ("POST", CHAT)
    assert asked.headers["authorization"] == "Bearer x"
    assert asked.body == server.bodies()[0] == {"model": "tiny", "messages": HELLO}
    assert asked.over.wait(5)
    assert not asked.hung_up.is_set()


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


def test_tokens_arrive_while_the_server_still_works(server):
    server.enqueue(Say("a", Pause(60), "b"))

    with httpx.stream(
        "POST",
        server.url + CHAT,
        json={"model": "tiny", "messages": HELLO},
        trust_env=False,
        verify=False,
        timeout=10,
    ) as response:
        first = next(response.iter_lines())

    assert json.loads(first)["message"]["content"] == "a"
    assert server.hung_up.wait(5)


def test_drip_splits_lines_and_characters(server):
    server.enqueue(Say("日本", drip=2))

    with httpx.stream(
        "POST",
        server.url + CHAT,
        json={"model": "tiny", "messages": HELLO},
        trust_env=False,
        verify=False,
    ) as response:
        pieces = list(response.iter_raw())

    assert max(map(len, pieces)) == 2
    assert any(one[-1] >= 0x80 and other[0] & 0xC0 == 0x80 for one, other in pairwise(pieces))


def test_a_mistake_of_a_script_comes_to_light():
    class Broken:
        def play(self, context):
            raise LookupError("broken script")

    def served():
        with fake_ollama("tiny:latest") as server:
            server.enqueue(Broken())
            with pytest.raises(httpx.RemoteProtocolError):
                chat(server)

    with pytest.raises(LookupError, match="broken script"):
        served()
