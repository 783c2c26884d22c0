import json

import pytest

from kebab.bench.sandbox import Sandbox
from tools.bench import yardsticks


@pytest.fixture
def sandbox(tmp_path):
    return Sandbox(tmp_path / "sandbox", tmp_path / "models")


@pytest.fixture
def files(tmp_path):
    (tmp_path / "files" / "deep").mkdir(parents=True)
    (tmp_path / "files" / "deep" / "a.md").write_text("a")
    return tmp_path / "files"


def test_files_are_looked_at(sandbox, files):
    assert sandbox.run(yardsticks.stat_files(files).build_command(1)).status == 0
    assert sandbox.run(yardsticks.stat_files(files / "missing").build_command(1)).status != 0


def test_words_are_indexed_in_a_new_database_in_every_turn(sandbox, files, tmp_path):
    words = yardsticks.index_words(files, tmp_path / "words")

    for turn in (0, 1):
        assert sandbox.run(words.build_command(turn)).status == 0
        assert (tmp_path / f"words-{turn}.db").exists()


def test_a_matrix_is_searched_for_several_questions(sandbox):
    outcome = sandbox.run(yardsticks.multiply_matrix(20, 8))

    assert len(json.loads(outcome.out)["ms"]) == 30


def test_variables_are_added_for_some_processes(sandbox):
    warm = yardsticks.add_variables(sandbox, KEBAB_DAEMON_AUTO="true")

    assert warm.environment == {**sandbox.environment, "KEBAB_DAEMON_AUTO": "true"}
    assert sandbox.environment["KEBAB_DAEMON_AUTO"] == "false"
