from dataclasses import replace

import pytest

from kebab.errors.catalog import ModelProtocol, TimedOut
from kebab.llm.endpoint import parse_endpoint
from kebab.llm.server_check import probe_ollama, sort_near_names
from tests.fakes.ollama import Answer, build_json_answer, fake_ollama


@pytest.fixture
def ollama():
    with fake_ollama("gemma3:4b", "tiny:latest") as server:
        yield server


def look(server, model="", **limits):
    return probe_ollama(parse_endpoint(server.url), model, **limits)


def test_version_and_models_are_returned(ollama):
    server = look(ollama, "gemma3:4b")

    assert server == ("0.32.15", ("gemma3:4b", "tiny:latest"))
    paths = [path for _, path, _ in ollama.requests]
    assert paths == ["/api/version", "/api/tags", "/api/show"]


@pytest.mark.parametrize("name", ["tiny", "tiny:latest", ""])
def test_a_name_without_a_tag_means_latest(ollama, name):
    assert look(ollama, name)[0] == "0.32.15"


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/api/version", Answer(body=b"404 page not found", status=404)),
        ("/api/version", Answer(body=b"<html>proxy</html>", status=500, content_type="text/html")),
        ("/api/version", Answer(body=b"", status=403)),
        ("/api/version", Answer(body=b"", status=307)),
        ("/api/version", Answer(body=b"<html>hello</html>", content_type="text/html")),
        ("/api/version", Answer(body=b"\xff\xfe")),
        ("/api/version", Answer(body=b"")),
        ("/api/version", build_json_answer(["0.32"])),
        ("/api/version", build_json_answer({"version": 3})),
        ("/api/tags", build_json_answer({"models": {"tiny": 1}})),
        ("/api/tags", Answer(body=b"404 page not found", status=404)),
    ],
)
def test_another_server_is_a_protocol_error(ollama, path, answer):
    ollama.answers[path] = answer

    with pytest.raises(ModelProtocol, match=r"`/api/(version|tags)` returned "):
        look(ollama)


@pytest.mark.parametrize(
    "slow", [{"delay_s": 60.0}, {"pieces_s": 0.05}], ids=["silent", "dripping"]
)
def test_the_probe_ends_at_its_time_limit(ollama, slow):
    ollama.answers["/api/version"] = replace(ollama.answers["/api/version"], **slow)
    with pytest.raises(TimedOut) as raised:
        look(ollama, read_s=0.3)

    assert raised.value.deadline_ms == 300


def test_the_names_nearest_to_the_missing_one_come_first():
    names = ("llama3:8b", "gemma3:1b", "other:latest")

    assert sort_near_names("gemma3:4b", names) == ["gemma3:1b", "llama3:8b", "other:latest"]
    assert sort_near_names("x", ()) == []


@pytest.mark.parametrize(
    "answer",
    [
        Answer(body=b'{"capabilities": ["completion", "tools"]}', content_type="application/json"),
        Answer(body=b"404 page not found", status=404, content_type="text/plain"),
    ],
)
def test_a_model_that_is_not_said_to_lack_completion_is_accepted(ollama, answer):
    ollama.answers["/api/show"] = answer

    assert look(ollama, "tiny")[1]
