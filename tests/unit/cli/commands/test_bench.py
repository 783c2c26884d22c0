import pytest

SMALL = ["bench", "--only", "startup", "--runs", "1"]


def test_progress_is_on_stderr_and_the_report_alone_on_stdout(kebab, opened):
    ran = kebab(*SMALL, "--json")

    assert {one["schema_version"] for one in ran.asides} == {"bench_progress.v1"}
    assert ran.reply["schema_version"] == "bench_report.v1"
    assert ran.status == (not all(one["within"] in (True, None) for one in ran.reply["figures"]))
    assert opened == []


def test_a_person_reads_figures(kebab):
    ran = kebab(*SMALL)

    assert "startup.help" in ran.out
    assert "start-up" in ran.err


@pytest.mark.parametrize("flags", [["--only", "nonsense"], ["--runs", "0"], ["--chunks", "x"]])
def test_what_makes_no_sense_is_refused(kebab, flags):
    assert kebab("bench", *flags, "--json").fault["code"] == "usage_invalid"
