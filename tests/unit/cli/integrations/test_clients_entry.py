import sys
from pathlib import Path

import pytest

from kebab.cli.integrations.clients import build_entry, find_program, is_current, keeps_members

ENTRY = {"command": "/usr/bin/kebab", "args": ["mcp"]}


@pytest.fixture
def interpreter(tmp_path, monkeypatch):
    """A folder with an interpreter and no `kebab` beside it."""
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin/python"))
    (tmp_path / "bin").mkdir()
    return tmp_path / "bin"


def test_the_program_that_was_called_is_named_with_its_link(tmp_path, interpreter, monkeypatch):
    (interpreter / "kebab").touch()
    (tmp_path / "kebab").symlink_to(interpreter / "kebab")
    monkeypatch.chdir(tmp_path)

    assert find_program(["./kebab", "install"]) == [str(tmp_path / "kebab")]


def test_the_program_beside_the_interpreter_is_named_else(interpreter):
    (interpreter / "kebab").touch()

    assert find_program(["/lib/kebab/__main__.py"]) == [str(interpreter / "kebab")]


@pytest.mark.parametrize("arguments", [[], [""], ["/gone/kebab"], ["-c"]])
def test_without_a_program_the_interpreter_runs_the_package(interpreter, arguments):
    assert find_program(arguments) == [str(interpreter / "python"), "-m", "kebab"]


def test_an_entry_has_the_members_of_the_client_and_the_flags_of_the_call(interpreter):
    entry = build_entry({"type": "stdio"}, ["--data-dir", "/notes"], ["-c"])

    assert entry == {
        "type": "stdio",
        "command": str(interpreter / "python"),
        "args": ["-m", "kebab", "mcp", "--data-dir", "/notes"],
    }
    assert list(entry) == ["type", "command", "args"]
    assert Path(entry["command"]).is_absolute()


@pytest.mark.parametrize(
    ("found", "current"),
    [
        (ENTRY, True),
        ({**ENTRY, "env": {}}, True),
        ({"command": "/usr/bin/kebab"}, False),
        ({**ENTRY, "args": []}, False),
        ({**ENTRY, "url": "http://127.0.0.1"}, False),
        (None, False),
        ([], False),
    ],
)
def test_an_entry_is_current_when_it_starts_this_program(found, current):
    assert is_current(found, ENTRY) is current


def test_an_entry_for_the_network_keeps_no_members():
    assert keeps_members({"env": {}})
    assert not keeps_members({"httpUrl": "http://127.0.0.1"})
    assert not keeps_members("kebab")
