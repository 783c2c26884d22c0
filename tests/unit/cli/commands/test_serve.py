import json
import shutil
import signal
import socket
import sys
from pathlib import Path
from subprocess import PIPE, Popen
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.fakes.console import run
from tests.fakes.waiting import PATIENCE_S, wait_until
from tests.shape.tree import ROOT

SCRIPT = shutil.which("kebab", path=Path(sys.executable).parent)
PROGRAM = [SCRIPT] if SCRIPT else [sys.executable, "-m", "kebab"]
"""The installed command, which worker processes import again; the module where there is none."""


@pytest.mark.parametrize("flag", ["--status", "--stop"])
def test_nothing_runs_is_an_honest_no(flag, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    ran = run("serve", flag)

    assert (ran.status, ran.out) == (1, "no server runs\n")
    assert run("serve", flag, "--json").reply["running"] is False


@pytest.mark.parametrize(
    "flags",
    [
        ("--status", "--stop"),
        ("--status", "--port", "1"),
        ("--stop", "--watch"),
        ("--port", "99999"),
        ("--workers", "0"),
        ("--deadline", "-1"),
        ("--http", "127.0.0.1:0"),
        ("--host", "203.0.113.7"),
    ],
)
def test_flags_that_do_not_fit_are_a_usage_error(flags):
    ran = run("serve", *flags, "--json")

    assert (ran.status, ran.fault["code"]) == (2, "usage_invalid")


@pytest.mark.parametrize("flag", ["--allow-write", "--watch"])
def test_a_server_that_only_reads_neither_writes_nor_watches(flag):
    ran = run("serve", flag, "--read-only", "--json")

    assert ran.fault["code"] == "read_only"


def test_the_hint_for_a_port_that_is_taken_keeps_the_other_flags():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ran = run("--json", "serve", "--workers", "2", f"--port={port}", "--allow-write")

    assert ran.fault["hint"] == "kebab serve --workers 2 --allow-write --port 0"


@pytest.fixture
def start(tmp_path, monkeypatch):
    """Return a function that starts the HTTP server and returns its process and first event."""
    started = []
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def start_server(*flags):
        line = [*PROGRAM, "serve", "--port", "0", "--json", *flags]
        line += ["--data-dir", str(tmp_path / "data")]
        process = Popen(line, stdout=PIPE, stderr=PIPE, text=True, cwd=ROOT)
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
        with urlopen(call, timeout=4 * PATIENCE_S) as answer:
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
    out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out, err) == (status, "", "")
    assert token_path.read_text().strip() not in json.dumps(event)


def ask(*flags):
    """Return the reply and the status of `kebab serve` beside a running server."""
    ran = run("serve", *flags, "--json")
    return ran.reply, ran.status


def test_every_server_is_shown_and_can_be_ended(start, tmp_path):
    (first, event), (second, _) = start(), start("--allow-write")
    status, code = ask("--status")

    assert (code, len(status["servers"])) == (0, 2)
    assert {one["pid"] for one in status["servers"]} == {first.pid, second.pid}
    port = event["url"].rpartition(":")[2]
    stopped, code = ask("--stop", "--port", port)
    assert (code, [one["pid"] for one in stopped["stopped"]]) == (0, [first.pid])
    assert [one["allow_write"] for one in stopped["servers"]] == [True]
    assert ask("--stop")[1] == 0
    assert ask("--stop")[1] == 1
    assert (first.wait(PATIENCE_S), second.wait(PATIENCE_S)) == (0, 0)
    assert list((tmp_path / "state" / "kebab" / "servers").iterdir()) == []


def test_a_watcher_keeps_the_index_current_and_shows_in_the_status(start, tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# Bread\n")
    run("ingest", str(tmp_path / "notes"), "--data-dir", str(tmp_path / "data"))
    _, event = start("--watch")

    def read_watcher():
        (server,) = ask("--status")[0]["servers"]
        return server["watcher"]

    assert wait_until(lambda: read_watcher() and read_watcher()["folders"])
    (tmp_path / "notes" / "b.md").write_text("# Sourdough\n")
    wait_until(lambda: post(event, "/v1/search", {"query": "sourdough"})[1]["hits"])
    wait_until(lambda: read_watcher()["state"] == "indexed")


def test_workers_answer_and_end_with_the_server(start):
    process, event = start("--workers", "2")
    wait_until(lambda: post(event, "/v1/list", {})[1]["code"] == "not_indexed")

    assert ask("--stop")[1] == 0
    assert process.wait(PATIENCE_S) == 0


def test_a_server_beyond_this_machine_has_a_warning(start):
    process, event = start("--host", "0.0.0.0")

    assert event["schema_version"] == "warning.v1"
    assert json.loads(process.stderr.readline())["url"].startswith("http://0.0.0.0:")
