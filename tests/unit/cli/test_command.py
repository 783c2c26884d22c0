import pytest

from kebab.cli.command import Command


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
