import inspect
import ssl

import h11
import httpx
import pytest

from kebab.errors.catalog import ModelProtocol, ModelUnreachable, TimedOut
from kebab.llm.endpoint import parse_endpoint
from kebab.llm.http_stream import Call, load_error_table, translate_http_errors

MISUSE = {
    httpx.StreamError,
    httpx.StreamConsumed,
    httpx.StreamClosed,
    httpx.ResponseNotRead,
    httpx.RequestNotRead,
    httpx.CookieConflict,
}
"""The exceptions for wrong use of httpx; they are bugs and are not translated."""
CALL = Call(endpoint=parse_endpoint("http://me:secret@host:1"), operation="ask", deadline_s=0.25)


def translate(failure, **known):
    with (
        pytest.raises((ModelUnreachable, ModelProtocol, TimedOut)) as raised,
        translate_http_errors(CALL, **known),
    ):
        raise failure
    return raised.value


def failure_of(kind):
    if issubclass(kind, httpx.HTTPStatusError):
        request = httpx.Request("GET", "http://host")
        return kind("text", request=request, response=httpx.Response(500))
    return kind("text")


EXPORTED = [
    thing
    for thing in (getattr(httpx, name) for name in httpx.__all__)
    if inspect.isclass(thing) and issubclass(thing, Exception)
]
TRANSLATED = [kind for kind in EXPORTED if kind not in MISUSE]


def test_every_exception_of_httpx_has_its_row_or_is_misuse():
    rows = tuple(load_error_table())

    assert {kind for kind in EXPORTED if not issubclass(kind, rows)} == MISUSE
    assert set(rows) <= set(EXPORTED)


@pytest.mark.parametrize("kind", TRANSLATED, ids=lambda kind: kind.__name__)
def test_each_row_gives_a_signal_that_keeps_its_cause_and_no_secret(kind):
    failure = failure_of(kind)

    signal = translate(failure)

    assert signal.__cause__ is failure
    assert signal.operation == "ask"
    assert "secret" not in str(signal.details())


@pytest.mark.parametrize("kind", [httpx.ReadTimeout, httpx.PoolTimeout])
def test_a_late_answer_is_a_timeout_with_its_deadline(kind):
    assert translate(kind("text")).details()["deadline_ms"] == 250


@pytest.mark.parametrize(
    ("fault", "cause"),
    [
        (ssl.SSLCertVerificationError(1, "x"), "the certificate is not trusted: expired"),
        (ssl.SSLError(1, "[SSL: NO_CIPHERS]"), "no secure connection can be made"),
    ],
)
def test_tls_errors_have_a_cause(fault, cause):
    fault.verify_message = "expired"
    failure = httpx.ConnectError("text")
    failure.__cause__ = fault

    assert translate(failure).cause == cause


@pytest.mark.parametrize(
    ("parser", "responded", "signal"),
    [
        (h11.RemoteProtocolError("text"), False, ModelProtocol),
        (h11.RemoteProtocolError("text"), True, ModelUnreachable),
        (None, False, ModelUnreachable),
    ],
)
def test_another_program_is_distinguished_from_a_cut_connection(parser, responded, signal):
    failure = httpx.RemoteProtocolError("text")
    failure.__cause__ = parser

    assert isinstance(translate(failure, responded=responded), signal)


def test_misuse_errors_are_not_translated():
    with pytest.raises(httpx.StreamConsumed), translate_http_errors(CALL):
        raise httpx.StreamConsumed
