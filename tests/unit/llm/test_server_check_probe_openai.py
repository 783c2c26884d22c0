from dataclasses import replace
from time import perf_counter

import pytest

from kebab.errors.catalog import (
    ModelProtocol,
    ModelRejected,
    TimedOut,
)
from kebab.llm.endpoint import ApiKey, parse_base_url
from kebab.llm.server_check import probe_openai
from tests.fakes.openai import MODELS, Answer, Fail, build_json_answer, fake_openai

SECRET = "sk-proj-Zq81LmPvXw3TnB7yRk5d"


@pytest.fixture
def server():
    with fake_openai("tiny", "team/큰-모델") as fake:
        yield fake


def look(server, **options):
    return probe_openai(parse_base_url(server.url), "tiny", **options)


def test_the_models_are_listed(server):
    assert look(server) == ("tiny", "team/큰-모델")

    [asked] = server.asked
    assert (asked.method, asked.path, asked.raw) == ("GET", "/v1/models", b"")
    assert "authorization" not in asked.headers


def test_a_wrong_key_is_rejected(server):
    server.key = SECRET

    with pytest.raises(ModelRejected) as raised:
        look(server, key=ApiKey("sk-wrong-one", "OPENAI_API_KEY"))

    assert raised.value.details() == {
        "model": "tiny",
        "endpoint": server.url,
        "operation": "doctor",
        "cause": "the server requires another key (HTTP 401)",
        "reason": "key_refused",
        "setting": "OPENAI_API_KEY",
    }


@pytest.mark.parametrize(
    "step",
    [
        Fail("no_page"),
        Fail("html"),
        Fail("login"),
        Fail("redirect"),
        Fail("empty"),
        Fail("list"),
        Fail("no_answer"),
        Fail("no_route", "lmstudio"),
        Fail("no_route", "llamacpp"),
        build_json_answer({"data": {"id": "tiny"}}),
        Answer(body=b"\xff\xfe"),
    ],
)
def test_another_server_is_a_protocol_error(server, step):
    server.answers[MODELS] = step

    with pytest.raises(ModelProtocol, match="/models"):
        look(server)


@pytest.mark.parametrize("slow", [{"delay_s": 5.0}, {"pieces_s": 0.05}], ids=["silent", "dripping"])
def test_the_probe_ends_at_its_time_limit(server, slow):
    server.answers[MODELS] = replace(build_json_answer({"data": [{"id": "x" * 500}]}), **slow)
    started = perf_counter()

    with pytest.raises(TimedOut) as raised:
        look(server, read_s=0.3)

    assert perf_counter() - started < 5.0
    assert (raised.value.operation, raised.value.deadline_ms) == ("doctor", 300)
