import click
import pytest

from kebab import __version__
from kebab.cli.command import COMMANDS, EXIT_MEANINGS, SECTIONS, Command, list_exit_statuses, root
from kebab.errors.signal import Exit


def test_help_ends_with_examples_and_exit_statuses(kebab):
    text = kebab("search", "--help").out

    assert text.index("Options:") < text.index("Global options:") < text.index("Examples:")
    assert "  1    no hit, " in text[text.index("Exit status:") :]


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_is_on_stdout_in_both_spellings(kebab, flag):
    ran = kebab("fetch", flag)

    assert (ran.status, ran.err) == (0, "")
    assert "  span" in ran.out


def test_a_mistyped_command_gets_the_nearest_name(kebab):
    ran = kebab("serch", "x")

    assert (ran.status, ran.out) == (2, "")
    assert "no such command `serch`, did you mean `search`?" in ran.err


def test_a_mistyped_subcommand_does_too(kebab):
    ran = kebab("inspect", "chank", "--json")

    assert ran.fault["message"] == "no such command `chank`, did you mean `chunk`?"
    assert ran.fault["hint"] == "kebab inspect chunk"
    assert ran.fault["command"] == "inspect"


def test_a_name_like_no_other_gets_no_suggestion(kebab):
    assert kebab("zzz").err.startswith("error: no such command `zzz`\n")


def test_a_group_alone_is_a_usage_error(kebab):
    assert kebab("inspect", "--json").fault["code"] == "usage_invalid"


def test_a_command_has_its_full_name(kebab):
    assert kebab("fetch", "chunk", "x", "--json").reply["command"] == "fetch chunk"


def test_help_is_at_most_a_hundred_columns_wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")

    formatter = Command("x").make_context("x", []).make_formatter()

    assert formatter.width == 100 - 2  # click leaves two columns free


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["a.md"], "fetch"),
        (["chunk", "x"], "fetch chunk"),
        (["--color", "never", "chunk", "x"], "fetch chunk"),
        (["./chunk"], "fetch"),
        (["--context", "3", "a.md", "chunk"], "fetch"),
        (["a.md", "chunk"], "fetch"),
    ],
)
def test_the_first_argument_selects_the_subcommand_or_the_default(kebab, arguments, command):
    assert kebab("fetch", *arguments, "--json").reply["command"] == command


def test_every_status_has_a_meaning():
    assert set(EXIT_MEANINGS) == set(Exit)


def test_statuses_of_a_command_are_in_order_and_once_each():
    found = [status for status, _ in list_exit_statuses(Exit.UNUSABLE, Exit.NO, Exit.DONE)]

    assert found == [0, 1, 2, 3, 130, 141]


def test_the_version_is_one_line(kebab):
    assert kebab("--version").out == f"kebab {__version__}\n"
    assert kebab("--verbose", "--version").out == f"kebab {__version__}\n"


def test_kebab_alone_is_help(kebab):
    ran = kebab()

    assert (ran.status, ran.err) == (0, "")
    assert ran.out == kebab("--help").out


def test_flags_alone_are_a_usage_error(kebab):
    assert kebab("--json").fault["message"] == "missing command"


@pytest.fixture
def context():
    return click.Context(root, info_name="kebab")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_summary_is_the_first_sentence_of_the_help(name, context):
    command = root.get_command(context, name)

    assert command is not None
    assert command.name == name
    assert (command.help or "").partition(".")[0] == COMMANDS[name]


def test_every_command_is_listed_under_its_section(kebab):
    text = kebab("--help").out

    assert all(f"\n{section}:\n" in text for section in SECTIONS)
    assert all(f"  {name} " in text for name in COMMANDS)


def test_a_name_that_is_not_in_the_table_is_no_command(context):
    assert root.get_command(context, "os") is None
