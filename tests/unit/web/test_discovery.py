import http.server
import threading
from pathlib import Path

import pytest

from kebab.config.settings import Paths
from kebab.web.discovery import (
    ServerRecord,
    build_local_url,
    find_server,
    remove_record,
    wait_for_server,
    write_record,
)


class Health(http.server.BaseHTTPRequestHandler):
    """Answers like a server that lives, or like another program."""

    body = b'{"status":"ok"}\n'

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *_):
        """Write nothing."""


@pytest.fixture
def paths(tmp_path):
    return Paths(tmp_path / "data", tmp_path / "models", tmp_path / "state")


@pytest.fixture
def record(monkeypatch):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Health)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield ServerRecord(f"http://127.0.0.1:{server.server_port}", "an instance", 1)
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_server_of_a_data_folder_is_found_while_it_answers(paths, record, monkeypatch):
    assert find_server(paths) is None
    write_record(paths, record)
    (file,) = paths.state.iterdir()

    assert find_server(paths) == record == wait_for_server(paths, 0)
    assert file.stat().st_mode & 0o777 == 0o600
    assert find_server(paths._replace(data=Path("/other"))) is None
    monkeypatch.setattr(Health, "body", b"another program")
    assert find_server(paths) is None
    file.write_text("broken")
    assert find_server(paths) is None


def test_a_server_removes_only_its_own_file(paths, record):
    write_record(paths, record)
    remove_record(paths, "an earlier instance")
    assert find_server(paths)
    remove_record(paths, record.instance)
    remove_record(paths, record.instance)
    assert find_server(paths) is None


def test_the_address_is_one_of_this_machine():
    assert build_local_url("http://0.0.0.0:80") == "http://127.0.0.1:80"
    assert build_local_url("http://[::]:80") == "http://[::1]:80"
    assert build_local_url("http://notes.lan:80") == "http://notes.lan:80"


def test_a_login_leads_to_a_search(record):
    assert record.build_login("token", {"q": "a b"}).endswith("&q=a+b")
