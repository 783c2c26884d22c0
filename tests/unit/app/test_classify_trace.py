"""The trace of a caller is kept when it has the form of W3C Trace Context."""

import json

import pytest

from kebab.app.classify import accept_trace, classify_error, find_trace
from kebab.errors.catalog import Cancelled
from kebab.wire.record import encode_json

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
MALFORMED = {
    "empty": "",
    "upper": TRACE.upper(),
    "zeros": f"00-{'0' * 32}-b7ad6b7169203331-01",
    "parent": f"{TRACE[:36]}{'0' * 16}-01",
    "version": f"ff{TRACE[2:]}",
    "longer": f"{TRACE}-more",
    "line": f"{TRACE}\n",
    "words": "a trace",
}


def test_the_environment_gives_the_trace_of_a_command(monkeypatch):
    monkeypatch.setenv("TRACEPARENT", TRACE)

    reply = classify_error(Cancelled(operation="x"), operation="x").reply

    assert json.loads(encode_json(reply))["trace"] == TRACE


def test_an_error_without_a_trace_has_no_field_for_it(monkeypatch):
    monkeypatch.delenv("TRACEPARENT", raising=False)

    reply = classify_error(Cancelled(operation="x"), operation="x").reply

    assert "trace" not in json.loads(encode_json(reply))


@pytest.mark.parametrize("given", MALFORMED.values(), ids=MALFORMED.keys())
def test_a_malformed_trace_is_ignored(given, monkeypatch):
    monkeypatch.setenv("TRACEPARENT", given)

    assert find_trace() is None


def test_a_later_version_may_have_more_parts(monkeypatch):
    monkeypatch.setenv("TRACEPARENT", f"01{TRACE[2:]}-more")

    assert find_trace() == f"01{TRACE[2:]}-more"


@pytest.mark.parametrize(("length", "kept"), [(256, True), (257, False)])
def test_a_trace_of_a_later_version_has_256_characters_at_most(length, kept, monkeypatch):
    given = f"01{TRACE[2:]}-".ljust(length, "x")
    monkeypatch.setenv("TRACEPARENT", given)

    assert find_trace() == (given if kept else None)


@pytest.mark.parametrize("given", [TRACE, None, 7], ids=["trace", "none", "number"])
def test_a_request_never_has_the_trace_of_the_server(given, monkeypatch):
    monkeypatch.setenv("TRACEPARENT", f"00-{'a' * 32}-{'b' * 16}-00")

    with accept_trace(given):
        assert find_trace() == (TRACE if given == TRACE else None)
