import json

from tools.table_questions import build_set, list_questions, split_cells

TABLE = """# Settings

| Name | Default | Meaning |
|------|---------|---------|
| `max_size` | 10 | The [largest](x.md) size |
| min_size | 1 | The smallest |
| **speed** | fast | How fast |
"""


def test_cells_are_plain_text():
    assert split_cells("| `max_size` | a \\| b | [text](url) |") == ["max_size", "a | b", "text"]


def test_a_question_joins_a_column_and_a_row_and_knows_its_line():
    rows = list(list_questions(TABLE, "a.md"))
    assert [(row.query, row.line_start) for row in rows] == [
        ("Default of max_size", 5),
        ("Meaning of min_size", 6),
        ("Default of speed", 7),
    ]
    lines = TABLE.split("\n")
    assert all(row.query.split(" of ")[1] in lines[row.line_start - 1] for row in rows)


def test_a_question_with_several_answers_is_left_out(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text(TABLE)
    (docs / "b.md").write_text(TABLE.replace("min_size", "other"))
    count = build_set(docs, tmp_path / "out", 100)
    lines = (tmp_path / "out/queries.jsonl").read_text().splitlines()
    asked = [json.loads(line) for line in lines]
    assert count == len(asked) == 2
    assert {row["query"] for row in asked} == {"Meaning of min_size", "Meaning of other"}
    assert (tmp_path / "out/docs/b.md").exists()
