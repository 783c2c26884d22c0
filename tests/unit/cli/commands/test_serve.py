import json
import os
import signal
import sys
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from kebab.cli.commands.serve import CollectedChannel
from tests.fakes.console import run
from tests.fakes.warm import open_runtime_folder
from tests.shape.tree import ROOT


@pytest.fixture
def runtime_folder(monkeypatch):
    with open_runtime_folder() as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
        yield folder


def test_nothing_runs_is_an_honest_no(runtime_folder):
    ran = run("serve", "--status")

    assert (ran.status, ran.out) == (1, "the warm process does not run\n")


def test_the_status_names_the_socket(runtime_folder):
    ran = run("serve", "--stop", "--json")

    assert ran.status == 1
    assert ran.reply["running"] is False
    assert ran.reply["socket"].startswith(str(runtime_folder))


@pytest.mark.parametrize("flags", [(), ("--stop",)])
def test_a_path_that_no_socket_can_have_is_explained(monkeypatch, flags):
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/" + "x" * 120)
    ran = run("serve", *flags)

    assert (ran.status, ran.out) == (1, "the warm process does not run\n")
    assert "`XDG_RUNTIME_DIR` or `TMPDIR` is too long" in ran.err


def test_a_folder_that_cannot_be_made_is_not_announced(monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/dev/null/runtime")
    monkeypatch.chdir(Path.cwd())  # the process would leave it
    ran = run("serve")

    assert ran.status == 2
    assert "listening" not in ran.err


@pytest.mark.parametrize(
    "flags",
    [
        ("--http", "--status"),
        ("--http", "127.0.0.1:0", "--stop"),
        ("--allow-write",),
        ("--status", "--deadline", "0"),
        ("--stop", "--workers", "0"),
        ("--http", "user@host"),
        ("--http", "127.0.0.1:0", "--deadline", "-1"),
    ],
)
def test_flags_that_do_not_fit_are_a_usage_error(flags):
    ran = run("serve", *flags, "--json")

    assert (ran.status, ran.fault["code"]) == (2, "usage_invalid")


@pytest.fixture
def start(tmp_path):
    """Return a function that starts the HTTP server and returns its process and first event."""
    started = []

    def start_server(*flags):
        environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}
        line = [sys.executable, "-m", "kebab", "serve", "--http", "127.0.0.1:0", "--json", *flags]
        line += ["--data-dir", str(tmp_path / "data")]
        process = Popen(line, stdout=PIPE, stderr=PIPE, text=True, cwd=ROOT, env=environment)
        started.append(process)
        assert process.stderr is not None
        return process, json.loads(process.stderr.readline())

    yield start_server
    for process in started:
        process.kill()
        process.communicate()


def post(event, path, body, token=None):
    token = token or Path(event["token_path"]).read_text().strip()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    call = Request(event["url"] + path, json.dumps(body).encode(), headers)
    try:
        with urlopen(call, timeout=30) as answer:
            return answer.status, json.load(answer)
    except HTTPError as fault:
        with fault:
            return fault.code, json.load(fault)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_the_http_server_answers_until_a_signal_and_writes_nothing_else(start, number, status):
    process, event = start()
    token_path = Path(event["token_path"])

    assert event["schema_version"] == "http_server_started.v1"
    assert token_path.stat().st_mode & 0o777 == 0o600
    assert post(event, "/v1/search", {"query": "cat"})[1]["code"] == "not_indexed"
    assert post(event, "/v1/search", {"query": "cat"}, token="wrong")[0] == 401
    assert post(event, "/v1/ingest_text", {"text": "eA==", "title": "t"})[0] == 403
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (status, "", "")
    assert token_path.read_text().strip() not in json.dumps(event)


def test_a_server_that_may_write_indexes_and_finds(start):
    _, event = start("--allow-write")
    text = {"text": "U291cmRvdWdoIHJpc2Vz", "title": "Bread"}

    assert post(event, "/v1/ingest_text", text)[1]["new"] == 1
    assert len(post(event, "/v1/search", {"query": "sourdough"})[1]["hits"]) == 1


def test_a_server_beyond_this_machine_has_a_warning(start):
    process, event = start("--http", "0.0.0.0:0")

    assert event["schema_version"] == "warning.v1"
    assert json.loads(process.stderr.readline())["url"].startswith("http://0.0.0.0:")


def test_a_missing_library_names_the_install_command(monkeypatch):
    monkeypatch.delitem(sys.modules, "kebab.http.server", raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    ran = run("serve", "--http", "127.0.0.1:0", "--json")

    assert ran.fault["code"] == "dependency_missing"
    assert "kebab[serve]" in ran.fault["details"]["install"]


class KeptOutput:
    def __init__(self, descriptors, live):
        self.descriptors, self.live, self.pieces = descriptors, live, []

    def collect(self, stream, data):
        if not self.live:
            self.pieces.append((stream, data))
        return not self.live


def test_output_is_collected_until_the_call_is_live(tmp_path):
    with (tmp_path / "out").open("wb") as file:
        call: Any = KeptOutput([0, file.fileno(), 2], live=False)
        channel = CollectedChannel(call, 1, "<stdout>")
        channel.write("kept\n")
        call.live = True
        channel.write("written\n")

    assert call.pieces == [(1, b"kept\n")]
    assert (tmp_path / "out").read_text() == "written\n"
