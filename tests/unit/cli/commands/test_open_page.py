import json
import os
import signal
import sys
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path
from subprocess import PIPE, Popen
from urllib.parse import urlsplit

import pytest

from kebab.cli.commands.open import open_in_editor
from tests.contract.conftest import load_validators
from tests.fakes import replies
from tests.fakes.waiting import PATIENCE_S
from tests.shape.tree import ROOT


@pytest.fixture
def environment(tmp_path):
    script = tmp_path / "browser"
    script.write_text(f'#!/bin/sh\necho "$1" >> {tmp_path}/opened\n')
    script.chmod(0o755)
    return {
        **os.environ,
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "BROWSER": str(script),
    }


@pytest.fixture
def start(tmp_path, environment):
    """Return a function that runs a command line, and collects the servers that it leaves."""
    started = []

    def run_line(*words, data="data"):
        line = [sys.executable, "-m", "kebab", *words, "--data-dir", str(tmp_path / data)]
        process = Popen(line, stdout=PIPE, stderr=PIPE, text=True, cwd=ROOT, env=environment)
        started.append(process)
        return process

    yield run_line
    for process in started:
        process.kill()
        process.communicate()
    for file in (tmp_path / "state" / "kebab" / "servers").glob("*/server.json"):
        with suppress(ProcessLookupError):
            os.kill(json.loads(file.read_text())["pid"], signal.SIGKILL)


def get(url, path="", **headers):
    parts = urlsplit(url)
    connection = HTTPConnection(parts.hostname, parts.port, timeout=PATIENCE_S)
    target = path or f"{parts.path}?{parts.query}"
    connection.request("GET", target, headers={"Accept": "text/html", **headers})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer


def test_a_server_is_opened_found_and_forgotten(start, tmp_path):
    server = start("serve", "--port", "0", "--open")
    assert server.stderr.readline().startswith("listening: http://127.0.0.1:")
    assert server.stderr.readline().startswith("token: ")
    found = start("open", "--web", "restore a backup")
    out, err = found.communicate(timeout=PATIENCE_S)

    assert (found.returncode, err) == (0, "")
    lines = (tmp_path / "opened").read_text().split()
    assert len(lines) == 2
    for url in lines:
        answer = get(url)
        cookie = answer.headers["Set-Cookie"].partition(";")[0]
        assert answer.status == 303
        assert get(url).status == 401
        assert get(out.strip(), "/", Cookie=cookie).status == 200
    assert lines[1].endswith("&q=restore+a+backup")
    server.send_signal(signal.SIGTERM)
    server.communicate(timeout=PATIENCE_S)
    assert not list((tmp_path / "state" / "kebab" / "servers").iterdir())


def test_the_editor_has_a_window_of_its_own(monkeypatch, tmp_path):
    opened = []
    opener = "kebab.cli.commands.open.start_program"
    monkeypatch.setattr(opener, lambda words, _: opened.append(words))
    program = tmp_path / "xdg-open"
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("kebab.platform.SYSTEM", "linux")
    found = replies.fetch_result(file="/n/a.md")
    for editor in ("code --wait", "vim", ""):
        monkeypatch.setenv("VISUAL", editor)
        monkeypatch.delenv("EDITOR", raising=False)
        open_in_editor(found, 7)

    assert opened == [
        ["code", "--wait", "--goto", "/n/a.md:7"],
        [str(Path("xdg-open")), "/n/a.md"],
        ["xdg-open", "/n/a.md"],
    ]


def test_without_a_server_one_is_started_in_the_background(start, tmp_path):
    line = start("open", "--web", "--json")
    out, err = line.communicate(timeout=90)
    reply = json.loads(out)

    assert (line.returncode, err) == (0, "")
    assert (reply["schema_version"], reply["started"], reply["ran"]) == ("web_page.v1", True, True)
    load_validators()["web_page.v1"].validate(reply)
    assert "ticket" not in reply["url"]
    assert get(read_opened(tmp_path, 1)).status == 303


def read_opened(tmp_path, count):
    lines = (tmp_path / "opened").read_text().split()
    assert len(lines) == count
    return lines[-1]
