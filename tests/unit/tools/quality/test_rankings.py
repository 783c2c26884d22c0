import json

import pytest

from tools.quality.__main__ import main

NOTES = {
    "ada.md": "# Ada\n\nAda Lovelace met Charles Babbage in London in 1833.\n",
    "bread.md": "# Bread\n\nThe sourdough of Marta Klein rests for twelve hours in the cellar.\n",
}
QUESTIONS = [
    {"id": "1", "query": "When did Ada Lovelace meet Charles Babbage?", "doc": "ada.md"},
    {"id": "2", "query": "How long does the sourdough of Marta Klein rest?", "doc": "bread.md"},
]


@pytest.fixture
def sets(tmp_path, monkeypatch):
    monkeypatch.setenv("KEBAB_OFFLINE", "1")
    folder = tmp_path / "sets" / "notes"
    (folder / "docs").mkdir(parents=True)
    for name, text in NOTES.items():
        (folder / "docs" / name).write_text(text)
    rows = [{**row, "line_start": 3, "line_end": 3} for row in QUESTIONS]
    (folder / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path / "sets"


def run(capsys, *arguments):
    """Return the columns of the lines after the head."""
    assert main(["sets", *map(str, arguments)]) == 0
    return [line.split() for line in capsys.readouterr().out.splitlines()[1:]]


def test_a_line_has_the_figures_of_a_set_and_counts_what_is_related(capsys, sets, tmp_path):
    row = {"query": "When did Marta Klein meet Charles Babbage?", "near_doc": "ada.md"}
    (sets / "notes" / "unanswerable.jsonl").write_text(json.dumps(row))

    (row,) = run(capsys, sets, "--bases", tmp_path / "bases", "--modes", "lexical")

    assert row[:6] == ["notes/queries", "lexical", "2", "1.000", "1.000", "1.000"]
    assert row[9] in {"0.000", "1.000"}
