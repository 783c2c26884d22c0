import random
import sys

from tools.planted_mistakes import KINDS, count_found, main, write_cases

_PROSE = "This is a sentence of many words that says nothing special about the garden at all."
_PAGE = f"# Garden\n\n{_PROSE}\n\n{_PROSE}\n\n{_PROSE}\n"


def test_every_kind_changes_the_lines_that_it_names(tmp_path):
    lines = _PAGE.split("\n")
    for plant in KINDS.values():
        planted = plant(lines, random.Random(1))
        assert planted is not None
        marked = {planted.lines[number - 1] for number in planted.numbers}
        assert marked - set(lines)


def test_a_place_counts_when_it_was_not_there_before(tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    (source / "a.md").write_text(_PAGE)
    out = tmp_path / "out"
    cases = list(write_cases(source, out, 1, seed=1))
    first = cases[0]
    line = first.numbers.start

    assert [case.kind for case in cases] == list(KINDS)
    assert count_found(f"{first.folder}/page.md:{line}: x", cases, out)[first.kind] == 1
    assert count_found(f"{first.folder}/page.md:1: x", cases, out).total() == 0


def test_the_table_has_a_row_for_each_kind_and_a_column_for_each_tool(tmp_path, capsys):
    source = tmp_path / "source"
    source.mkdir()
    (source / "a.md").write_text(_PAGE)
    tool = f"none={sys.executable} -c pass"

    assert main([str(source), str(tmp_path / "out"), "--pages", "1", "--tool", tool]) == 0

    rows = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()]
    assert rows[0] == ["mistake", "planted", "kebab", "none"]
    assert [row[0] for row in rows[2:]] == [*KINDS, "all"]
    planted, kebab, none = map(int, rows[-1][1:])
    assert (planted, none) == (len(KINDS), 0)
    assert kebab > planted / 2
