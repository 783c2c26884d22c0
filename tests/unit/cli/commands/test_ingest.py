import pytest


def test_a_log_gets_lines_on_stderr_and_the_summary_on_stdout(kebab, monkeypatch):
    monkeypatch.setattr("kebab.cli.render.progress._SHORT_S", 0.0)
    ran = kebab("ingest")

    assert ran.out.startswith("10 documents, 12 files found, in 1.2 s: 3 new, ")
    assert ran.err.startswith("scanning /home/ada/notes\n")
    assert "embedding 3/3 passages" in ran.err


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
