"""A home has an index and a log, and its state can be put back."""

import json

import pytest

from tests.fakes.console import environment, run
from tools.surfaces.clients import Output
from tools.surfaces.home import Home, build_environment


@pytest.fixture
def home(tmp_path, monkeypatch):
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "backups.md").write_text("# Backups\n\nHow to restore a backup.\n")
    (tmp_path / "given" / "more.md").write_text("# More\n\nrestore, restore.\n")
    (tmp_path / "home").mkdir()
    for name, value in build_environment(tmp_path / "home").items():
        monkeypatch.setenv(name, value)

    def run_line(line):
        done = run(*line.arguments, stdin=line.stdin)
        return Output(done.status, done.out.encode(), done.err.encode())

    made = Home(tmp_path / "home", tmp_path / "given", run_line)
    made.prepare()
    return made


def test_a_home_has_an_index_a_session_and_an_error(home):
    assert run("inspect", "chunk", home.words["CHUNK"]).status == 0
    assert run("session", "show", "talk").status == 0
    assert run("errors", "--id", home.words["ERROR_ID"]).status == 0


def test_the_state_can_be_put_back(home):
    assert run("reset", "--yes").status == 0
    home.restore()

    assert json.loads(run("list", "--json").out)["total"] == 2


def test_words_are_those_of_the_notes(home):
    words = home.list_words()

    assert "backups.md" in words["refs"]
    assert words["cursor"] == [home.words["CURSOR"]]


def test_nothing_of_the_caller_is_in_the_environment(tmp_path):
    made = build_environment(tmp_path)

    assert made["HOME"] == environment(tmp_path)["HOME"]
    assert not [name for name in made if name.startswith("PYTEST")]


def test_a_failed_command_is_reported(tmp_path, home):
    (tmp_path / "other").mkdir()
    broken = Home(tmp_path / "other", home.notes, lambda _: Output(2, b"", b"no"))

    with pytest.raises(RuntimeError, match="init"):
        broken.prepare()
