import pytest

from kebab.bench import run as yardsticks
from kebab.bench.sandbox import Sandbox


@pytest.fixture
def sandbox(tmp_path):
    return Sandbox(tmp_path / "sandbox", tmp_path / "models")


@pytest.fixture
def files(tmp_path):
    (tmp_path / "files" / "deep").mkdir(parents=True)
    (tmp_path / "files" / "deep" / "a.md").write_text("a")
    return tmp_path / "files"


@pytest.mark.parametrize(
    "make", [yardsticks.build_python_candidate, yardsticks.build_click_candidate]
)
def test_a_start_runs(sandbox, make):
    assert sandbox.run(make().build_command(0)).status == 0


def test_every_turn_copies_to_another_folder(sandbox, files, tmp_path):
    copy = yardsticks.build_copy_candidate(files, tmp_path / "copy")

    for turn in (0, 1):
        assert sandbox.run(copy.build_command(turn)).status == 0
        assert (tmp_path / f"copy-{turn}" / "deep" / "a.md").read_text() == "a"


def test_the_raw_query_has_another_text_in_every_turn(tmp_path):
    raw = yardsticks.build_question_candidate(tmp_path, ["first", "second"])

    assert [raw.build_command(turn)[-1] for turn in (0, 1)] == ["first", "second"]
