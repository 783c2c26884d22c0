import httpx
import pytest

from kebab.errors.catalog import ModelUnreachable
from kebab.llm.endpoint import find_proxy_variable, parse_endpoint
from kebab.llm.http_stream import Call, describe_proxy_refusal, translate_http_errors

FAR = parse_endpoint("http://models.example:11434")


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """Give an environment without a proxy, and what sets a variable in it."""
    for scheme in ("http", "https", "all", "no"):
        for name in (f"{scheme}_proxy", f"{scheme}_PROXY".upper()):
            monkeypatch.delenv(name, raising=False)
    return monkeypatch.setenv


@pytest.mark.parametrize(
    ("variable", "address"),
    [
        ("http_proxy", "http://models.example:1"),
        ("HTTP_PROXY", "http://models.example:1"),
        ("HTTPS_PROXY", "https://models.example"),
        ("ALL_PROXY", "https://models.example"),
    ],
)
def test_the_variable_with_the_proxy_is_named(environment, variable, address):
    environment(variable, "http://proxy:3128")

    assert find_proxy_variable(parse_endpoint(address)) == variable


@pytest.mark.parametrize(
    ("address", "excluded"),
    [
        ("http://127.0.0.1:11434", ""),
        ("http://localhost:11434", ""),
        ("http://models.example:11434", "models.example"),
        ("https://models.example", ""),
    ],
)
def test_without_a_proxy_for_the_address_there_is_no_variable(environment, address, excluded):
    environment("HTTP_PROXY", "http://proxy:3128")
    environment("NO_PROXY", excluded)

    assert find_proxy_variable(parse_endpoint(address)) is None


@pytest.mark.parametrize(
    ("status", "cause"),
    [
        (407, "the proxy requires a login (HTTP 407)"),
        (0, "the proxy refused"),
    ],
)
def test_a_refusal_names_the_variable_and_how_to_go_around_the_proxy(environment, status, cause):
    environment("HTTP_PROXY", "http://me:secret@proxy:3128")

    call = Call(endpoint=FAR, operation="ask")

    signal = call.build_unreachable(describe_proxy_refusal(status), "proxy", "HTTP_PROXY")

    assert signal.cause == cause
    assert "`HTTP_PROXY`" in str(signal)
    assert signal.format_hint() == (
        'go around the proxy: `export NO_PROXY="$NO_PROXY,"models.example`'
    )
    assert "secret" not in str(signal.details())


@pytest.mark.parametrize(
    ("failure", "cause"),
    [
        (httpx.ProxyError("407 Proxy Authentication Required"), "a login (HTTP 407)"),
        (httpx.ProxyError("text"), "the proxy refused"),
        (httpx.ConnectError("text"), "no connection"),
        (httpx.ConnectTimeout("text"), "connecting took too long"),
    ],
)
def test_a_connection_that_a_proxy_does_not_make_names_the_variable(environment, failure, cause):
    environment("ALL_PROXY", "http://proxy:3128")
    call = Call(endpoint=FAR, operation="ask")

    with pytest.raises(ModelUnreachable) as raised, translate_http_errors(call):
        raise failure

    assert cause in raised.value.cause
    assert (raised.value.reason, raised.value.setting) == ("proxy", "ALL_PROXY")
