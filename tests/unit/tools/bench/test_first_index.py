import pytest

from kebab.bench.sandbox import Outcome
from tools.bench.first_index import (
    KEBAB,
    Figures,
    IndexingError,
    format_table,
    list_programs,
    main,
    measure_programs,
)


def test_a_folder_is_indexed_by_kebab_and_by_sqlite(tmp_path, capsys):
    (tmp_path / "bread.md").write_text("# Bread\n\nSourdough needs time.\n", encoding="utf-8")

    assert main([str(tmp_path), "--runs", "1", "--qmd", "true"]) == 0
    lines = capsys.readouterr().out.splitlines()

    assert [line[:20].strip() for line in lines] == [
        *("program", "SQLite FTS5 alone", "kebab ingest", "qmd")
    ]
    wall, cpu = map(float, lines[2].split()[2:4])
    assert wall > 0
    assert cpu > 0


def test_the_warm_up_does_not_count_and_commands_add_up(tmp_path):
    seconds = iter([50.0, 50.0, 1.0, 2.0, 5.0, 6.0, 2.0, 2.0])

    def run(command, environment, folder):
        return Outcome(status=0, seconds=next(seconds), cpu_seconds=1.0)

    found = measure_programs({"a": (("x",), ("y",))}, 3, run)

    assert found == {"a": Figures(wall=4.0, cpu=2.0)}


def test_a_program_that_fails_is_no_fast_program(tmp_path):
    programs = list_programs(tmp_path / "absent", None)

    with pytest.raises(IndexingError, match=KEBAB):
        measure_programs({KEBAB: programs[KEBAB]}, 1)


def test_figures_are_also_given_for_sixty_megabytes():
    line = format_table({"a": Figures(2.0, 3.0)}, 30_000_000)[1]

    assert line.split() == ["a", "2.00", "3.00", "4.0", "6.0"]
