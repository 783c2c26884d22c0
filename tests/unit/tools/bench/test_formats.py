import pytest

from tests.shape.tree import ROOT
from tools.bench.formats import LIBRARIES, find_files, main


def test_a_row_for_each_format_names_files_that_cannot_be_read(tmp_path, capsys):
    (tmp_path / "a.html").write_text("<p>Tides turn twice a day.")
    (tmp_path / "b.md").write_text("# Tides\n\nThey turn twice a day.\n")
    (tmp_path / "broken.pdf").write_bytes(b"no PDF")
    (tmp_path / "picture.xcf").write_bytes(b"unread")

    assert main([str(tmp_path), "--turns", "1"]) == 0

    header, _, *rows = capsys.readouterr().out.splitlines()
    cells = {row.split(" | ")[0].strip("| "): row.split(" | ")[1:3] for row in rows}
    assert header.startswith("| format | files | not read |")
    assert cells == {"html": ["1", "0"], "md": ["1", "0"], "pdf": ["1", "1"]}


def test_only_the_chosen_formats_are_measured(tmp_path, capsys):
    (tmp_path / "a.html").write_text("<p>Tides")
    (tmp_path / "b.csv").write_text("a,b\n1,2\n")

    assert main([str(tmp_path), "--turns", "1", "--only", "csv"]) == 0

    assert "| csv | 1 | 0 |" in capsys.readouterr().out
    assert len(find_files([str(tmp_path)])) == 2


@pytest.mark.parametrize("suffix", LIBRARIES)
def test_the_library_of_a_format_reads_a_sample(suffix):
    path = next((ROOT / "samples").rglob(f"*.{suffix}"))

    LIBRARIES[suffix](path.read_bytes())
