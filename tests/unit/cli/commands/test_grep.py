import pytest

from kebab.wire.fetch import GrepRequest


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["cat"], GrepRequest(pattern="cat")),
        (["cat", "a.md", "deep"], GrepRequest(pattern="cat", paths=["a.md", "deep"])),
        (
            ["-Fiw", "cat"],
            GrepRequest(pattern="cat", fixed=True, ignore_case=True, word=True),
        ),
        (["-C", "2", "-A", "5", "cat"], GrepRequest(pattern="cat", before=2, after=5)),
        (["-C", "2", "-B", "0", "cat"], GrepRequest(pattern="cat", before=0, after=2)),
        (["-l", "cat"], GrepRequest(pattern="cat", files_only=True)),
        (["-c", "cat"], GrepRequest(pattern="cat", count_only=True)),
        (["-m", "3", "-n", "9", "cat"], GrepRequest(pattern="cat", max_count=3, limit=9)),
        (["--max-columns", "0", "cat"], GrepRequest(pattern="cat", max_columns=None)),
        (["--format", "vimgrep", "cat"], GrepRequest(pattern="cat", max_columns=None)),
        (["--path", "a/**", "--", "-x"], GrepRequest(pattern="-x", path_glob="a/**")),
    ],
)
def test_flags_reach_the_library(kebab, opened, arguments, wanted):
    assert kebab("grep", *arguments).status == 0
    assert opened[0].asked == [("grep", wanted)]


def test_no_match_gives_exit_1(kebab):
    ran = kebab("grep", "nothing", "--json")

    assert (ran.status, ran.err, ran.reply["schema_version"]) == (1, "", "grep_response.v1")
    assert kebab("grep", "nothing").err == "note: no line matches in 4 files: nothing\n"


@pytest.mark.parametrize(
    ("flags", "end"),
    [
        ([], ":12:Stop the writer,\n"),
        (["-l"], "/backup.md\n"),
        (["-c"], ":1\n"),
        (["--format", "vimgrep"], ":12:6:Stop the writer,\n"),
    ],
)
def test_forms_of_output(kebab, flags, end):
    ran = kebab("grep", "the", *flags)

    assert ran.out.endswith(end)
    assert ran.err == ""


@pytest.mark.parametrize("flags", [["-l", "-c"], ["-l", "--format", "vimgrep"]])
def test_forms_exclude_each_other(kebab, flags):
    assert kebab("grep", "x", *flags, "--json").fault["code"] == "usage_invalid"


def test_a_column_limit_below_the_smallest_is_refused(kebab):
    assert kebab("grep", "x", "--max-columns", "3", "--json").fault["code"] == "invalid_input"
