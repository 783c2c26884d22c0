import pytest

from tests.contract.conftest import load_validators

SMALL = ["bench", "--only", "startup", "--runs", "1"]


def test_progress_is_on_stderr_and_the_report_alone_on_stdout(kebab):
    ran = kebab(*SMALL, "--json")

    assert ran.reply["schema_version"] == "bench_report.v1"
    assert {one["schema_version"] for one in ran.asides} == {"bench_progress.v1"}


def test_every_line_keeps_to_its_schema(kebab):
    ran = kebab(*SMALL, "--json")

    for one in (ran.reply, *ran.asides):
        load_validators()[one["schema_version"]].validate(one)


def test_text_output_has_figures(kebab):
    ran = kebab(*SMALL)

    assert "startup.help" in ran.out
    assert "start-up" in ran.err


def test_the_knowledge_base_of_the_caller_is_not_opened(kebab, home, opened):
    kebab(*SMALL)

    assert opened == []
    assert list(home.iterdir()) == []


@pytest.mark.parametrize(("within", "status"), [(True, 0), (False, 0)])
def test_a_missed_budget_does_not_change_the_status(kebab, monkeypatch, within, status):
    def measured(context):
        from kebab.bench.sandbox import Budget, Sample

        context.results.add_figure(
            "a", "s", Sample([1.0]), budget=Budget(2.0 if within else 0.5, "s")
        )

    monkeypatch.setattr("kebab.bench.run.MEASUREMENTS", {"startup": measured})

    ran = kebab(*SMALL, "--json")

    assert ran.reply["figures"][0]["within"] is within
    assert ran.status == status


def test_a_failed_measurement_changes_the_status(kebab, monkeypatch):
    def broken(context):
        context.results.add_failure("startup", "no such program")

    monkeypatch.setattr("kebab.bench.run.MEASUREMENTS", {"startup": broken})

    ran = kebab(*SMALL, "--json")

    assert (ran.status, ran.reply["exit_code"]) == (1, 1)
    assert ran.reply["gaps"][0]["reason"] == "no such program"


@pytest.mark.parametrize(
    "flags",
    [
        ["--only", "nonsense"],
        ["--only", "growth"],
        ["--sizes", "1k"],
        ["--runs", "0"],
        ["--chunks", "x"],
    ],
)
def test_invalid_values_are_refused(kebab, flags):
    assert kebab("bench", *flags, "--json").fault["code"] == "usage_invalid"
