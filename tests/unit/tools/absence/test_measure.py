import json

import pytest

from tools.absence.measure import load_questions, main

NOTES = {
    "ada.md": "# Ada\n\nAda Lovelace met Charles Babbage in London in 1833.\n",
    "bread.md": "# Bread\n\nThe sourdough of Marta Klein rests for twelve hours in the cellar.\n",
}
QUERIES = [
    {"query": "When did Ada Lovelace meet Charles Babbage in London?", "doc": "ada.md"},
    {"query": "How long does the sourdough of Marta Klein rest in the cellar?", "doc": "bread.md"},
]
WITHOUT = [{"query": "Who did not meet Ada Lovelace in London?", "near_doc": "ada.md"}]


@pytest.fixture
def dataset(tmp_path):
    (tmp_path / "docs").mkdir()
    for name, text in NOTES.items():
        (tmp_path / "docs" / name).write_text(text, encoding="utf-8")
    for name, rows in (("queries", QUERIES), ("unanswerable", WITHOUT)):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    return tmp_path


def test_the_questions_of_a_data_set_are_of_every_kind(dataset):
    kinds = {one.kind for one in load_questions(dataset)}

    assert kinds == {"answerable", "unanswerable", "name", "product", "elsewhere"}


def test_a_data_set_may_have_no_questions_without_an_answer(dataset):
    (dataset / "unanswerable.jsonl").unlink()

    assert "unanswerable" not in {one.kind for one in load_questions(dataset)}


def test_the_shares_are_printed_by_kind_with_the_weights(dataset, capsys):
    assert main([str(dataset), "--mode", "lexical", "--fit"]) == 0

    lines = capsys.readouterr().out.splitlines()
    table = {line.split()[0]: line.split()[1:] for line in lines[1:6]}
    assert lines[0].split() == ["kind", "all", "gate", "absent", "flagged", "together"]
    assert table["answerable"] == ["2", "0.000", "0.000", "0.000", "0.000"]
    assert table["name"][-1] == "1.000"
    assert any(line.startswith("start ") for line in lines)


def test_a_part_of_the_questions_may_be_asked(dataset, capsys):
    main([str(dataset), "--mode", "lexical", "--every", "100"])

    assert len(capsys.readouterr().out.splitlines()) == 2
