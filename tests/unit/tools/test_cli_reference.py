from kebab.cli.command import COMMANDS
from kebab.cli.commands.schema import iterate_commands
from kebab.errors.signal import Exit
from tools.cli_reference import build_commands_table, build_reference_page


def test_the_table_has_a_row_for_each_command():
    assert build_commands_table().count("\n") == len(COMMANDS) + 1
    assert "| `kebab search` | Find passages by words and by meaning |" in build_commands_table()


def test_the_page_has_a_section_for_each_command_with_every_flag():
    page = build_reference_page()

    for path, command in iterate_commands():
        assert f"\n## kebab {path}\n" in page
        assert all(example in page for example in command.examples)
    for flag in ("--max-tokens", "--json", "--context", "--dry-run", "--data-dir"):
        assert f"`{flag}" in page or f", {flag}" in page


def test_the_page_lists_every_exit_status():
    assert all(f"\n| {status.value} | " in build_reference_page() for status in Exit)


def test_the_page_does_not_depend_on_the_terminal(monkeypatch):
    before = build_reference_page()
    monkeypatch.setenv("COLUMNS", "40")

    assert build_reference_page() == before


def test_choices_do_not_break_the_tables():
    rows = [line for line in build_reference_page().splitlines() if line.startswith("| `")]

    assert all(row.replace("\\|", "").count("|") == 3 for row in rows)
