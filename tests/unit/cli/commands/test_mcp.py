"""`kebab mcp` answers a client on stdout, and ends with its input."""

import json
import os
import subprocess
import sys

import pytest

from tests.contract.test_mcp import HELLO
from tests.fakes.console import run


@pytest.mark.parametrize("flags", [["--read-only"], ["--json"], ["--allow-write"]])
def test_the_end_of_the_input_ends_it(flags):
    ran = run("mcp", *flags, stdin=json.dumps(HELLO).encode() + b"\n")

    assert (ran.status, ran.err) == (0, "")
    (answer,) = ran.events
    assert answer["result"]["serverInfo"]["name"] == "kebab"
    assert "Nothing is indexed yet" in answer["result"]["instructions"]


def test_a_person_who_starts_it_by_hand_learns_what_it_is(monkeypatch):
    monkeypatch.setattr("kebab.cli.commands.mcp.find_terminal", lambda channels: channels.err)

    assert "kebab install CLIENT --mcp" in run("mcp").err
    assert run("mcp", "--json").err == ""


def test_without_a_standard_input_it_ends(tmp_path):
    environ = {**os.environ, "HOME": str(tmp_path)}
    line = f"exec {sys.executable} -m kebab mcp --data-dir {tmp_path / 'data'} <&-"
    ran = subprocess.run(["/bin/sh", "-c", line], env=environ, capture_output=True, check=False)

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")
