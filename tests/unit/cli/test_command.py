from kebab.cli.command import COMMANDS, EXIT_MEANINGS, SECTIONS, Command
from kebab.errors.signal import Exit


def test_a_group_alone_is_a_usage_error(kebab):
    assert kebab("inspect", "--json").fault["code"] == "usage_invalid"


def test_help_is_at_most_a_hundred_columns_wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")

    formatter = Command("x").make_context("x", []).make_formatter()

    assert formatter.width == 100 - 2  # click leaves two columns free


def test_every_status_has_a_meaning():
    assert set(EXIT_MEANINGS) == set(Exit)


def test_every_command_is_listed_under_its_section(kebab):
    text = kebab("--help").out

    assert all(f"\n{section}:\n" in text for section in SECTIONS)
    assert all(f"  {name} " in text for name in COMMANDS)
