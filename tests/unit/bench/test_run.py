import pytest

from kebab.bench.run import MEASUREMENTS, BenchOptions, describe_machine, run_benchmark
from tests.fakes.runner import VERSION, FakeRunner


def run_selected(models, *only, **script):
    options = BenchOptions(chunks=12, runs=2, only=only)
    return run_benchmark(options, models, lambda event: None, FakeRunner(**script))


def test_all_measurements_run(models):
    report = run_selected(models, version=VERSION)

    assert {one.name.partition(".")[0] for one in report.figures} == set(MEASUREMENTS)
    assert report.gaps == []
    assert report.seed == 1


@pytest.mark.parametrize("name", sorted(MEASUREMENTS))
def test_one_measurement_can_be_selected(models, name):
    report = run_selected(models, name, version=VERSION)

    assert {one.name.partition(".")[0] for one in report.figures} == {name}


def test_figures_do_not_share_a_name(models):
    names = [(one.name, one.chunks) for one in run_selected(models, version=VERSION).figures]

    assert len(set(names)) == len(names)


def test_the_temporary_folder_is_removed(models, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "t"))
    (tmp_path / "t").mkdir()

    run_selected(models, version=VERSION)

    assert list((tmp_path / "t").iterdir()) == []


def test_the_machine_is_described():
    assert describe_machine().cores >= 1
    assert describe_machine().python.startswith("3.")
