import pytest

from kebab.bench.sandbox import Outcome
from tools.bench import peers
from tools.bench.peers import FTS, GREP, INDEX, KEBAB, MOVED, PeerError, list_programs, main


def test_the_table_has_a_row_for_each_step_and_is_written_into_the_page(
    tmp_path, capsys, monkeypatch
):
    notes, page = tmp_path / "notes", tmp_path / "speed.md"
    (notes / "kitchen").mkdir(parents=True)
    (notes / "kitchen" / "bread.md").write_text("# Bread\n\nSourdough needs time.\n", "utf-8")
    page.write_text("a\n<!-- table of tools.bench.peers -->\nformer\n<!-- end -->\nb\n", "utf-8")
    monkeypatch.setattr(peers, "find_spec", lambda _: None)
    arguments = [str(notes), "--turns", "1", "--qmd", "", "--ripgrep", "true", "--write"]

    assert main([*arguments, "--words", "sourdough"], page) == 0
    shown = capsys.readouterr().out

    assert page.read_text("utf-8").startswith("a\n<!-- table of tools.bench.peers -->\n1 real file")
    assert "former" not in page.read_text("utf-8")
    assert f"| | {KEBAB} | ripgrep | {FTS} |" in shown
    rows = {line.split(" | ")[0].strip("| "): line for line in shown.splitlines() if "|" in line}
    assert rows[GREP].count(" s |") == 2
    assert rows[INDEX].count(" s |") == 2
    assert rows[MOVED].count("–") == 2
    assert [path.name for path in notes.iterdir()] == ["kitchen"]


def test_the_warm_up_does_not_count(tmp_path):
    seconds = iter([50.0, 1.0, 5.0, 3.0])

    def run(command, environment, folder):
        return Outcome(status=0, seconds=next(seconds), cpu_seconds=1.0)

    found = peers.measure_programs({"a": {INDEX: [("x",)]}}, tmp_path, 3, run)

    assert found.steps["a", INDEX][:2] == (3.0, 1.0)


def test_a_program_that_fails_is_no_fast_program(tmp_path):
    programs = list_programs(tmp_path / "absent", "words", {})

    with pytest.raises(PeerError, match=KEBAB):
        peers.measure_programs({KEBAB: programs[KEBAB]}, tmp_path, 1)
