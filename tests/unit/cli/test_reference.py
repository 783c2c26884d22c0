from kebab.cli.reference import commands, commands_table, reference_page
from kebab.cli.root import COMMANDS
from kebab.errors.signal import Exit


def test_the_table_has_a_row_for_each_command():
    assert commands_table().count("\n") == len(COMMANDS) + 1
    assert "| `kebab search` | Find passages by words and by meaning |" in commands_table()


def test_the_page_has_a_section_for_each_command_with_every_flag():
    page = reference_page()

    for path, command in commands():
        assert f"\n## kebab {path}\n" in page
        assert all(example in page for example in command.examples)
    for flag in ("--max-tokens", "--json", "--context", "--dry-run", "--data-dir"):
        assert f"`{flag}" in page or f", {flag}" in page


def test_the_page_lists_every_exit_status():
    assert all(f"\n| {status.value} | " in reference_page() for status in Exit)


def test_the_page_does_not_depend_on_the_terminal(monkeypatch):
    before = reference_page()
    monkeypatch.setenv("COLUMNS", "40")

    assert reference_page() == before


def test_choices_do_not_break_the_tables():
    rows = [line for line in reference_page().splitlines() if line.startswith("| `")]

    assert all(row.replace("\\|", "").count("|") == 3 for row in rows)
