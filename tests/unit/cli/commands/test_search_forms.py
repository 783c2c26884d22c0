import pytest


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ([], ("snippets", 10, None)),
        (["--detail", "ids"], ("ids", 10, None)),
        (["--format", "compact"], ("passages", 5, None)),
        (["--format", "compact", "-n", "7", "--detail", "snippets"], ("snippets", 7, None)),
        (["--format", "vimgrep"], ("passages", 10, None)),
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


@pytest.mark.parametrize(
    ("form", "first"),
    [
        ("text", " 1  0.83 strong  ops/backup.md:12"),
        ("compact", "1 passage in notes (revision 7) for: word"),
        ("vimgrep", "/home/ada/notes/ops/backup.md:12:1:"),
        ("paths", "/home/ada/notes/ops/backup.md"),
    ],
)
def test_a_form_of_output_is_printed(kebab, form, first):
    assert kebab("search", "word", "-n", "1", "--format", form).out.split("\n")[0] == first


def test_paths_contradict_another_form(kebab, opened):
    ran = kebab("search", "word", "-l", "--format", "compact", "--json")

    assert (ran.status, ran.fault["code"], opened) == (2, "usage_invalid", [])


def test_compact_text_ends_with_the_command_for_more(kebab):
    assert kebab("search", "word", "--format", "compact").out.endswith(
        "\nmore: kebab search word --format compact --page 2\n"
    )


@pytest.mark.parametrize("form", ["paths", "vimgrep"])
def test_notes_on_lines_for_programs_go_to_stderr(kebab, form):
    ran = kebab("search", "word", "-n", "1", "--format", form)

    assert ran.out.count("\n") == 1
    assert ran.err == f"more: kebab search word -n 1 --format {form} --page 2\n"
