import json

import pytest

from kebab.bench.run import MEASUREMENTS, BenchOptions, run_benchmark
from kebab.wire.evals import BenchProgress
from tests.contract.conftest import load_validators
from tests.fakes.runner import VERSION, FakeRunner
from tools.bench.run import ProgressPrinter, build_measurements, main

WITHOUT_FIGURES = {"imports"}
NAMES = list(build_measurements((), 0))


def run_selected(models, *only, **script):
    options = BenchOptions(chunks=12, runs=2, only=only)
    measurements = build_measurements((12, 120), 12)
    runner = FakeRunner(**script)
    return run_benchmark(options, models, lambda event: None, runner, measurements)


def test_everything_is_measured(models):
    report = run_selected(models, version=VERSION)

    names = {one.name.partition(".")[0] for one in report.figures}
    assert names == set(NAMES) - WITHOUT_FIGURES
    assert set(MEASUREMENTS) <= set(NAMES)
    assert report.growth
    assert report.imports
    assert report.gaps == []


@pytest.mark.parametrize("name", sorted(set(NAMES) - WITHOUT_FIGURES))
def test_one_measurement_can_run_alone(models, name):
    report = run_selected(models, name, version=VERSION)

    assert {one.name.partition(".")[0] for one in report.figures} == {name}


def test_figures_do_not_share_a_name(models):
    names = [(one.name, one.chunks) for one in run_selected(models, version=VERSION).figures]

    assert len(set(names)) == len(names)


def test_the_program_prints_the_published_record(models, capsys):
    status = main(["--only", "startup", "--runs", "1", "--json"], models)

    reply = json.loads(capsys.readouterr().out)
    load_validators()["bench_report.v1"].validate(reply)
    assert (status, reply["exit_code"]) == (0, 0)


def test_the_program_prints_a_table_for_a_person(models, capsys):
    assert main(["--only", "startup", "--runs", "1"], models) == 0

    assert "startup.help" in capsys.readouterr().out


def test_the_report_is_drawn_into_a_file(models, tmp_path, capsys):
    file = tmp_path / "a.svg"

    assert main(["--only", "startup", "--runs", "1", "--svg", str(file)], models) == 0

    assert "startup.help" in capsys.readouterr().out
    assert "startup.help" in file.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "arguments", [["--sizes", "9"], ["--files", "x"], ["--runs", "0"], ["--only", "nonsense"]]
)
def test_invalid_options_are_refused(arguments, models):
    with pytest.raises(SystemExit) as refusal:
        main(arguments, models)

    assert refusal.value.code == 2


def test_progress_names_each_step_once(capsys):
    printer = ProgressPrinter()
    for name in ("search", "search", "done"):
        printer(BenchProgress(name=name, done=0, total=1, elapsed_ms=1500))

    assert capsys.readouterr().err == "search, 2 s\ndone, 2 s\n"
