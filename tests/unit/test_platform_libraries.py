import os
import subprocess
import sys

import pytest

from kebab import platform

CLIENT = "lance_namespace_urllib3_client"


def test_lance_uses_two_threads_unless_the_user_sets_another_number(monkeypatch):
    monkeypatch.setenv("LANCE_CPU_THREADS", "7")
    monkeypatch.delenv("LANCE_IO_THREADS", raising=False)

    platform.limit_lance_threads()

    assert (os.environ["LANCE_CPU_THREADS"], os.environ.pop("LANCE_IO_THREADS")) == ("7", "2")


def test_the_rest_client_of_lance_is_a_package_whose_code_has_not_run(monkeypatch):
    monkeypatch.setitem(sys.modules, CLIENT, None)
    del sys.modules[CLIENT]

    platform.skip_lance_rest_client()

    client = sys.modules[CLIENT]
    assert client.__path__
    assert not hasattr(client, "ApiClient")


def test_a_rest_client_that_is_loaded_stays(monkeypatch):
    loaded = type(sys)(CLIENT)
    monkeypatch.setitem(sys.modules, CLIENT, loaded)
    platform.skip_lance_rest_client()
    assert sys.modules[CLIENT] is loaded


def test_the_command_line_of_httpx_cannot_be_imported(monkeypatch):
    monkeypatch.setitem(sys.modules, "httpx._main", None)
    del sys.modules["httpx._main"]
    platform.skip_httpx_command_line()
    with pytest.raises(ImportError):
        __import__("httpx._main")


def test_a_server_of_mcp_loads_no_client():
    program = "import sys, kebab.server.mcp; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)

    assert {"mcp.client", "mcp.server.mcpserver", "httpx2"}.isdisjoint(done.stdout.decode().split())
