import subprocess
import sys

import httpx
import pytest

from kebab.errors.catalog import ModelUnreachable
from kebab.llm.endpoint import parse_endpoint
from kebab.llm.http_stream import Call, open_client

PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch):
    for name in (*PROXIES, "NO_PROXY", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)


def client(endpoint, connect_s=0.0):
    call = Call(endpoint=parse_endpoint(endpoint), operation="ask")
    return open_client(call, connect_s=connect_s)


def test_zero_means_no_limit_and_redirects_are_not_followed():
    with client("127.0.0.1") as opened:
        assert opened.timeout == httpx.Timeout(None)
        assert not opened.follow_redirects


def test_the_proxy_environment_is_used_only_for_other_machines(monkeypatch):
    with client("127.0.0.1") as near, client("http://example.com") as far:
        assert not near.trust_env
        assert far.trust_env


@pytest.mark.parametrize("proxy", ["gopher://127.0.0.1:9", "http://[::1"])
def test_an_unusable_proxy_is_reported(monkeypatch, proxy):
    monkeypatch.setenv("HTTP_PROXY", proxy)

    with pytest.raises(ModelUnreachable, match="the proxy of the environment"):
        client("http://example.com")


def test_unreadable_certificates_are_reported(monkeypatch, tmp_path):
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))

    with pytest.raises(ModelUnreachable, match="the certificates of the environment"):
        client("https://example.com")


def test_the_command_line_of_httpx_is_not_imported():
    program = (
        "import sys; from kebab.llm.http_stream import open_client;"
        "from kebab.llm.endpoint import parse_endpoint;"
        "from kebab.llm.http_stream import Call;"
        "call = Call(endpoint=parse_endpoint('127.0.0.1'), operation='ask');"
        "open_client(call, connect_s=1).close();"
        "assert not {'rich', 'click', 'pygments'} & set(sys.modules), sorted(sys.modules)"
    )

    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
