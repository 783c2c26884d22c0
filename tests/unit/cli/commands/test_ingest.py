import pytest


def test_short_work_prints_the_summary_only(kebab):
    ran = kebab("ingest")

    assert ran.out.startswith("10 documents, 12 files found, in 1.2 s: 3 new, ")
    assert ran.err == ""


@pytest.mark.parametrize(
    "flags",
    [
        ["--stdin"],
        ["--stdin", "--title", "T", "folder"],
        ["--stdin", "--title", "T", "--force"],
        ["--title", "T"],
        ["--source-uri", "u:1"],
    ],
)
def test_flags_that_do_not_go_together_are_refused(kebab, opened, flags):
    ran = kebab("ingest", *flags, "--json")

    assert (ran.status, ran.fault["code"], opened) == (2, "usage_invalid", [])
