import pytest

from kebab.cli.channels import OutputChannel
from kebab.cli.options import read_argument
from tests.fakes.console import standard_input


@pytest.mark.parametrize(
    ("setting", "flags", "expected"),
    [
        ("false", [], None),
        ("false", ["--rerank"], True),
        ("true", [], True),
        ("true", ["--no-rerank"], False),
    ],
)
def test_a_flag_switches_reranking_on_and_off(kebab, opened, home, setting, flags, expected):
    (home / "config.toml").write_text(f"[search]\nrerank = {setting}\n")

    kebab("search", "x", *flags, "--config", str(home / "config.toml"))

    assert opened[0].asked[0][1].rerank is expected


def test_without_a_query_three_examples_are_shown(kebab):
    ran = kebab("search")

    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith(
        "examples:\n"
        '  kebab search "how do I restore a backup"\n'
        "  kebab search snapshot --tag ops --since 30d --limit 5\n"
        "  kebab search --mode lexical '\"exact phrase\"' -- -draft\n"
        "error: "
    )


@pytest.mark.parametrize("more", [["word"], ["--stream"], ["-q", "word"]])
def test_bulk_goes_with_neither_query_nor_stream(kebab, more):
    assert kebab("search", "--bulk", *more).fault["code"] == "usage_invalid"


@pytest.mark.parametrize("flags", [["-i"], ["-i", "--json"]])
def test_choosing_a_hit_needs_a_terminal(kebab, flags):
    ran = kebab("search", "x", *flags)

    assert ran.status == 2
    assert "`--interactive` needs a terminal" in ran.err


@pytest.mark.parametrize("flags", [["--bulk"], ["--stream"], ["-q", "x"], ["--cursor", "x"]])
def test_choosing_a_hit_excludes_other_ways_to_search(kebab, flags):
    ran = kebab("search", "-i", *flags)

    assert (ran.status, ran.out) == (2, "")
    assert "exclude each other" in ran.err


@pytest.mark.parametrize(
    ("flags", "detail"),
    [([], "passages"), (["--snippet-chars", "90"], "snippets"), (["--detail", "ids"], "ids")],
)
def test_a_terminal_shows_lines_of_passages_unless_a_text_is_chosen(
    kebab, opened, monkeypatch, flags, detail
):
    monkeypatch.setattr(OutputChannel, "is_terminal", True)

    kebab("search", "x", *flags)

    assert opened[0].asked[0][1].detail == detail


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ([], ("snippets", 10, None)),
        (["--detail", "ids"], ("ids", 10, None)),
        (["--format", "compact"], ("best", 5, None)),
        (["--format", "compact", "--all"], ("passages", 5, None)),
        (["--format", "json"], ("snippets", 10, None)),
        (["--format", "compact", "-n", "7", "--detail", "snippets"], ("snippets", 7, None)),
        (["-l"], ("ids", 10, 1)),
        (["-l", "--format", "paths", "--per-doc", "2"], ("ids", 10, 2)),
        (["--format", "compact", "--json"], ("snippets", 10, None)),
        (["--stream", "-l"], ("snippets", 10, None)),
    ],
)
def test_a_form_of_output_asks_for_what_it_shows(kebab, opened, flags, expected):
    assert kebab("search", "word", *flags).status == 0

    request = opened[0].asked[0][1]
    assert (request.detail, request.limit, request.per_doc) == expected


def test_notes_on_paths_for_programs_go_to_stderr(kebab):
    ran = kebab("search", "word", "-n", "1", "--format", "paths")

    assert ran.out.count("\n") == 1
    assert ran.err == "more: kebab search word --format paths -n 2\n"


@pytest.mark.parametrize(
    ("data", "text"), [(b"\xef\xbb\xbfrestore\na backup\n", "restore\na backup"), (b"", "")]
)
def test_a_minus_alone_stands_for_stdin(data, text):
    with standard_input(data):
        assert read_argument(("-",), "query", 100) == text


def test_commands_for_further_pages_repeat_a_query_from_stdin(kebab):
    ran = kebab("search", "-", "-n", "1", stdin=b"word")

    assert "more: kebab search word -n 2" in ran.out
