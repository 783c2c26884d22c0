"""Responses that come from no model server: web pages, redirects, proxies."""

import json

import pytest
from msgspec.structs import replace

from kebab.errors.catalog import ModelProtocol, ModelUnreachable
from kebab.llm.endpoint import ApiKey, parse_base_url
from kebab.llm.http_stream import ResponseHead
from kebab.llm.server_errors import (
    ModelRequest,
    build_refusal,
    build_unexpected_response,
    format_one_line,
    parse_server_error,
)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("  as it is ", "as it is"),
        ("\n" * 10_000 + "far", ""),
    ],
)
def test_a_text_becomes_one_printable_line(text, line):
    assert format_one_line(text) == line


REQUEST = ModelRequest(
    endpoint=replace(
        parse_base_url("http://models.example:8080"), key=ApiKey("sk-secret-1234567", "MY_KEY")
    ),
    operation="ask",
    model="tiny",
    path="/chat/completions",
)
PAGE = b"<html><head><title lang=en>\n Sign in &amp; go\x1b[1m\n</title></head></html>"


def refuse(status, content_type="text/html; charset=utf-8", body=PAGE, location=""):
    return build_refusal(REQUEST, ResponseHead(status, content_type, location), body)


@pytest.mark.parametrize("status", [200, 404])
def test_a_web_page_is_named_with_its_title_and_the_setting_of_the_address(status):
    signal = refuse(status)

    assert isinstance(signal, ModelProtocol)
    assert signal.cause == (
        f"`/chat/completions` returned a web page (HTTP {status}): Sign in & go [1m"
    )
    assert "`models.llm.endpoint`" in str(signal)
    assert signal.format_hint() == ("export KEBAB_MODELS_LLM_ENDPOINT=URL")


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        ("https://login.example/x?token=abc#y", "https://login.example/x"),
        ("/login", "/login"),
        ("/sk-secret-1234567", "/[key]"),
    ],
)
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_names_its_target_without_secrets(status, location, shown):
    signal = refuse(status, location=location)

    assert isinstance(signal, ModelProtocol)
    assert signal.cause == f"`/chat/completions` redirects to {shown} (HTTP {status})"


@pytest.mark.parametrize("status", [407, 502, 504])
def test_a_page_of_a_proxy_names_the_variable_of_the_proxy(status, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://proxy:3128")
    monkeypatch.setenv("no_proxy", "")

    signal = refuse(status)

    assert isinstance(signal, ModelUnreachable)
    assert (signal.reason, signal.setting) == ("proxy", "http_proxy")
    assert f"HTTP {status}" in signal.cause


@pytest.mark.parametrize(("status", "what"), [(403, "refused"), (407, "requires a login")])
@pytest.mark.parametrize("build", [build_refusal, build_unexpected_response])
def test_a_proxy_that_refuses_is_no_web_page_and_no_missing_key(status, what, build, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://proxy:3128")
    monkeypatch.setenv("no_proxy", "")

    signal = build(REQUEST, ResponseHead(status, "text/html"), PAGE)

    assert isinstance(signal, ModelUnreachable)
    assert (signal.reason, signal.setting) == ("proxy", "http_proxy")
    assert signal.cause == f"the proxy {what} (HTTP {status})"


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize(
    ("key", "reason"), [("sk-secret-1234567", "key_refused"), ("", "key_missing")]
)
def test_a_refused_key_names_its_variable_and_whether_it_is_set(status, key, reason):
    endpoint = replace(REQUEST.endpoint, key=ApiKey(key, "MY_KEY"))
    request = replace(REQUEST, endpoint=endpoint)
    body = b'{"error": {"message": "Incorrect API key: sk-secret-1234567"}}'

    signal = build_refusal(request, ResponseHead(status, "application/json"), body)

    assert signal.details()["reason"] == reason
    assert signal.details()["setting"] == "MY_KEY"
    assert signal.format_hint() == "export MY_KEY=KEY"
    assert ("is not set" in str(signal)) is (not key)
    assert "secret" not in str(signal)


def nested(levels):
    error: object = "too deep"
    for _ in range(levels):
        error = {"error": error}
    return error


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ({"error": {"message": "no"}}, "no"),
        ({"error": "no"}, "no"),
        ({"object": "error", "message": "no", "code": 400}, "no"),
        ({"message": "no"}, "no"),
        ({"error": {"message": "no"}, "message": "again"}, "no"),
        ({"detail": "Not Found"}, "Not Found"),
        ({"detail": {"message": "no"}}, "no"),
        (
            {"detail": [{"loc": ["body", "messages", 0], "msg": "required"}, {"msg": "no"}]},
            "messages.0: required; no",
        ),
        ({"error": json.dumps({"error": {"message": "no"}})}, "no"),
        ({"error": "{no JSON"}, "{no JSON"),
        ({"error": '{"other": 1}'}, '{"other": 1}'),
        ({"error": ""}, ""),
        (nested(4), "too deep"),
    ],
)
def test_the_text_of_an_error_is_found(answer, text):
    error = parse_server_error(answer)

    assert error is not None
    assert error.text == text
