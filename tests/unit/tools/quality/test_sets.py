import json

import pytest

from kebab.wire.health import SchemaRequest
from tools.quality.rankings import sample_unrelated
from tools.quality.sets import build_base, find_sets, open_base


@pytest.fixture
def folder(tmp_path):
    """A folder with a set of lines, one of graded documents, and one of linked pages."""
    rows = {
        "wiki/en": {"id": "1", "query": "who?", "doc": "a.md", "line_start": 3, "line_end": 4},
        "graded": {"id": "2", "query": "what?", "doc": "a.md", "line_start": 1, "line_end": 1},
        "pages": {"id": "3", "query": "api", "doc": "a.md", "linked_from": ["b.md"]},
    }
    for name, row in rows.items():
        (tmp_path / name / "docs").mkdir(parents=True)
        (tmp_path / name / "docs" / f"{name[:2]}.md").write_text("# Title\n\nText.\n")
        (tmp_path / name / "queries.jsonl").write_text(json.dumps(row) + "\n")
    (tmp_path / "wiki/en/queries-ru.jsonl").write_text("")
    (tmp_path / "graded/qrels.tsv").write_text("query\tdoc\tgrade\n2\ta.md\t2\n2\tb.md\t1\n")
    return tmp_path


def test_sets_are_named_by_their_folders(folder):
    assert [one.name for one in find_sets(folder)] == ["graded", "pages", "wiki-en"]


def test_a_set_of_plain_text_is_not_unrelated_to_itself(folder):
    one = next(find_sets(folder))
    (one.docs / "gr.md").rename(one.docs / "gr.txt")

    assert one.list_names() == {"gr.txt"}
    assert sample_unrelated(one, one) == []


def test_the_main_file_of_questions_comes_first(folder):
    (wiki,) = (one for one in find_sets(folder) if one.name == "wiki-en")

    assert [path.name for path in wiki.list_query_files()] == ["queries.jsonl", "queries-ru.jsonl"]


def test_questions_are_judged_by_lines_grades_or_documents(folder):
    items = {one.name: one.load_items(one.list_query_files()[0])[0] for one in find_sets(folder)}

    by_lines = items["wiki-en"].question
    assert (by_lines.line_start, by_lines.line_end) == (3, 4)
    assert items["graded"].question.relevant == {"a.md": 2, "b.md": 1}
    assert items["pages"].question.line_start is None
    assert items["pages"].ignored == {"b.md"}


def test_a_knowledge_base_is_built_once_from_the_selected_documents(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("KEBAB_OFFLINE", "1")
    one = next(find_sets(folder))
    documents = sorted(one.docs.glob("*.md"))

    for _ in range(2):
        build_base(tmp_path / "base", documents, one.docs, "auto")

    with open_base(tmp_path / "base", "auto") as kebab:
        assert kebab.run(SchemaRequest()).stats.doc_count == 1
