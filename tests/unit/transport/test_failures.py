import inspect
import socket

import httpx
import pytest

from kebab.errors.catalog import ModelUnreachable, TimedOut
from kebab.transport.endpoint import parse_endpoint
from kebab.transport.failures import Call, misuse, translated, translations

CALL = Call(endpoint=parse_endpoint("http://me:secret@host:1"), operation="ask", deadline_s=0.25)


def translate(failure):
    with pytest.raises((ModelUnreachable, TimedOut)) as raised, translated(CALL):
        raise failure
    return raised.value


def failure_of(kind):
    if issubclass(kind, httpx.HTTPStatusError):
        request = httpx.Request("GET", "http://host")
        return kind("text", request=request, response=httpx.Response(500))
    return kind("text")


def test_every_exception_of_httpx_has_its_row_or_is_misuse():
    exported = {
        thing
        for thing in (getattr(httpx, name) for name in httpx.__all__)
        if inspect.isclass(thing) and issubclass(thing, Exception)
    }

    assert exported == set(translations()) | misuse()
    assert not set(translations()) & misuse()


@pytest.mark.parametrize("kind", list(translations()), ids=lambda kind: kind.__name__)
def test_each_row_gives_a_signal_that_keeps_its_cause_and_no_secret(kind):
    failure = failure_of(kind)

    signal = translate(failure)

    assert signal.__cause__ is failure
    assert signal.operation == "ask"
    assert "secret" not in str(signal.details())


@pytest.mark.parametrize("kind", [httpx.ReadTimeout, httpx.WriteTimeout, httpx.PoolTimeout])
def test_a_late_answer_is_a_timeout_with_its_deadline(kind):
    assert translate(kind("text")).details()["deadline_ms"] == 250


def test_a_connect_timeout_is_unreachable():
    assert isinstance(translate(httpx.ConnectTimeout("text")), ModelUnreachable)


def test_refused_and_unknown_names_are_told_apart():
    unknown = httpx.ConnectError("text")
    unknown.__cause__ = socket.gaierror(-2, "Name or service not known")
    refused = httpx.ConnectError("text")
    refused.__context__ = ConnectionRefusedError(111, "Connection refused")

    causes = [translate(unknown).cause, translate(refused).cause]

    assert causes == ["the host name is not known", "connection refused"]


def test_an_exception_without_a_row_takes_that_of_its_nearest_parent():
    class Newer(httpx.ReadTimeout):
        pass

    assert isinstance(translate(Newer("text")), TimedOut)


def test_bugs_of_the_caller_stay_themselves():
    with pytest.raises(httpx.StreamConsumed), translated(CALL):
        raise httpx.StreamConsumed
