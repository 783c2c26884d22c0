import pytest

from kebab.bench import yardsticks
from kebab.bench.bed import Bed


@pytest.fixture
def bed(tmp_path):
    return Bed(tmp_path / "bed", tmp_path / "models")


@pytest.fixture
def files(tmp_path):
    (tmp_path / "files" / "deep").mkdir(parents=True)
    (tmp_path / "files" / "deep" / "a.md").write_text("a")
    return tmp_path / "files"


@pytest.mark.parametrize("make", [yardsticks.bare_python, yardsticks.import_click])
def test_a_start_runs(bed, make):
    assert bed.run(make().command(0)).status == 0


def test_files_are_looked_at(bed, files):
    assert bed.run(yardsticks.stat_files(files).command(1)).status == 0
    assert bed.run(yardsticks.stat_files(files / "missing").command(1)).status != 0


def test_every_copy_has_a_place_of_its_own(bed, files, tmp_path):
    copy = yardsticks.copy_files(files, tmp_path / "copy")

    for turn in (0, 1):
        assert bed.run(copy.command(turn)).status == 0
        assert (tmp_path / f"copy-{turn}" / "deep" / "a.md").read_text() == "a"


def test_the_raw_query_has_another_text_in_every_turn(tmp_path):
    raw = yardsticks.raw_query(tmp_path, ["first", "second"])

    assert [raw.command(turn)[-1] for turn in (0, 1)] == ["first", "second"]
