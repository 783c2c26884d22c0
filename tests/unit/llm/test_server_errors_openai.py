import json

import pytest
from msgspec.structs import replace

from kebab.errors.catalog import (
    ContextOverflow,
    ModelBusy,
    ModelNotPulled,
    ModelProtocol,
    ModelRejected,
    ModelUnreachable,
)
from kebab.llm.endpoint import ApiKey, parse_base_url
from kebab.llm.http_stream import ResponseHead
from kebab.llm.server_errors import ModelRequest, build_refusal
from tests.fakes.openai_failures import FAILURES, KINDS, build_failure

SECRET = "sk-proj-Zq81LmPvXw3TnB7yRk5d"
REQUEST = ModelRequest(
    endpoint=replace(
        parse_base_url("http://me:password@gpu-box:8080/v1"), key=ApiKey(SECRET, "OPENAI_API_KEY")
    ),
    operation="ask",
    model="team/tiny-1b",
    path="/chat/completions",
    prompt_tokens=900,
    context_tokens=8192,
)
MEANINGS = {
    "missing": ModelNotPulled,
    "overflow": ContextOverflow,
    "unauthorized": ModelRejected,
    "rejected": ModelRejected,
    "load_failed": ModelRejected,
    "template": ModelRejected,
    "crashed": ModelProtocol,
    "loading": ModelBusy,
    "busy": ModelBusy,
    "no_counts": ModelRejected,
    "no_schemas": ModelRejected,
    "bad_schema": ModelRejected,
    "no_images": ModelRejected,
    "no_route": ModelProtocol,
    "invalid": ModelRejected,
    "unscripted": ModelProtocol,
}


def signal(status, body, content_type="application/json"):
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return build_refusal(REQUEST, ResponseHead(status, content_type), raw)


def played(name, kind="openai", **given):
    """Return the signal for a failure of the fake."""
    given = {"model": REQUEST.model, "key": SECRET, **given}
    status, content_type, body = build_failure(name, kind, given)
    return signal(status, body, content_type)


def test_every_failure_has_an_expected_signal():
    assert MEANINGS.keys() == FAILURES.keys()


@pytest.mark.parametrize("name", MEANINGS)
def test_a_failure_has_the_same_signal_from_every_server(name):
    assert {type(played(name, kind)) for kind in KINDS} == {MEANINGS[name]}


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("body", [b"", b"<html>log in</html>", b'{"error":"wrong: sk-...k5d"}'])
def test_the_text_of_an_authorization_error_is_not_shown(status, body):
    refusal = signal(status, body, "text/html")

    assert isinstance(refusal, ModelRejected)
    assert refusal.cause == f"the server requires another key (HTTP {status})"


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (429, b"", ModelBusy),
        (429, b"<html>slow down</html>", ModelBusy),
        (503, b"no instance", ModelBusy),
        (503, {"status": "loading model"}, ModelBusy),
        (404, {"error": {"message": "nothing about team/tiny-1b"}}, ModelNotPulled),
        (404, {"error": {"message": "nothing about team/tiny-1b-it"}}, ModelProtocol),
        (404, {"error": {"message": "Not Found"}}, ModelProtocol),
        (405, {"detail": "Method Not Allowed"}, ModelProtocol),
        (307, {"error": "elsewhere"}, ModelProtocol),
        (204, b"", ModelProtocol),
        (400, {"hello": "world"}, ModelProtocol),
        (418, {"error": "a teapot"}, ModelRejected),
        (400, {"error": {"message": "slow", "type": "rate_limit_error"}}, ModelBusy),
        (400, {"error": {"message": "bad", "code": "invalid_api_key"}}, ModelRejected),
        (500, {"error": "out of memory"}, ModelRejected),
        (500, {"error": {"message": "model file not found"}}, ModelProtocol),
        (502, {"error": "upstream is gone"}, ModelUnreachable),
        (504, {"error": "upstream is slow"}, ModelUnreachable),
        (501, {"error": "no chat here"}, ModelRejected),
        (200, {"error": {"message": "no such thing", "code": 400}}, ModelRejected),
        (200, {"error": "it broke"}, ModelProtocol),
    ],
)
def test_the_status_decides_where_the_text_is_unknown(status, body, expected):
    assert type(signal(status, body)) is expected


ECHOES = [
    SECRET,
    f"Bearer {SECRET}",
    f"{'x' * 280} {SECRET}",
    f"{'x ' * 140}{SECRET * 20}",
]


@pytest.mark.parametrize("echo", ECHOES)
@pytest.mark.parametrize("shape", ["error", "message", "detail", "object", "type"])
def test_no_signal_contains_the_key(echo, shape):
    bodies = {
        "error": {"error": f"wrong: {echo}"},
        "message": {"error": {"message": f"wrong: {echo}", "type": echo, "code": echo}},
        "detail": {"detail": [{"loc": [echo], "msg": f"wrong: {echo}"}]},
        "object": {"object": "error", "message": json.dumps({"error": echo})},
        "type": b"wrong",
    }
    content_type = f"text/{echo}" if shape == "type" else "application/json"

    for status in (200, 302, 400, 401, 403, 404, 405, 422, 429, 500, 501, 503):
        refusal = signal(status, bodies[shape], content_type)

        told = f"{refusal.format_message()} {refusal.details()} {refusal!r} {refusal.args}"
        parts = (SECRET, SECRET[:8], SECRET[8:16], "Rk5d", "password")
        assert not [part for part in parts if part in told], status
