import pytest

from kebab.bench.rig import BenchOptions
from kebab.bench.run import MEASUREMENTS, machine, run
from tests.fakes.runner import VERSION, FakeRunner


def benched(models, *only, **script):
    options = BenchOptions(chunks=12, files=12, sizes=(12, 120), runs=2, only=only)
    return run(options, models, lambda event: None, FakeRunner(**script))


def test_everything_is_measured(models):
    report = benched(models, version=VERSION)

    assert {one.name.partition(".")[0] for one in report.figures} == set(MEASUREMENTS) - {"imports"}
    assert report.growth
    assert report.imports
    assert report.gaps == []
    assert report.seed == 1


@pytest.mark.parametrize("name", sorted(set(MEASUREMENTS) - {"imports"}))
def test_one_measurement_can_run_alone(models, name):
    report = benched(models, name, version=VERSION)

    assert {one.name.partition(".")[0] for one in report.figures} == {name}


def test_figures_do_not_share_a_name(models):
    names = [(one.name, one.chunks) for one in benched(models, version=VERSION).figures]

    assert len(set(names)) == len(names)


def test_the_folder_goes_afterwards(models, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "t"))
    (tmp_path / "t").mkdir()

    benched(models, version=VERSION)

    assert list((tmp_path / "t").iterdir()) == []


def test_the_machine_is_described():
    assert machine().cores >= 1
    assert machine().python.startswith("3.")
