import json

import pytest

from tools.calibrate.cases import Collector, load_cases, save_cases
from tools.quality.sets import find_sets


@pytest.fixture
def sets(tmp_path):
    _write_set(
        tmp_path / "sets" / "first", {"a": "The pump is blue.", "b": "The seal is of rubber."}
    )
    _write_set(tmp_path / "sets" / "second", {"c": "Bread rests for hours."})
    return list(find_sets(tmp_path / "sets"))


def _write_set(folder, notes):
    (folder / "docs").mkdir(parents=True)
    rows = []
    for name, text in notes.items():
        (folder / "docs" / f"{name}.md").write_text(text)
        rows.append(
            {"id": name, "query": text, "doc": f"{name}.md", "line_start": 1, "line_end": 1}
        )
    (folder / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_questions_are_asked_with_all_documents_and_with_half_of_them(tmp_path, sets):
    collector = Collector(
        model="all-minilm-l6-v2", bases=tmp_path / "bases", every=1, modes=["lexical"]
    )

    cases = list(collector.collect(sets[0], sets))

    assert [(case.kind, case.rank) for case in cases] == [
        ("own", 1),
        ("own", 1),
        ("own", 1),
        ("related", None),
    ]
    assert {case.dataset for case in cases} == {"first"}
    assert not any(case.signals.by_vectors or case.foreign for case in cases)


def test_a_set_may_be_asked_with_all_documents_only(tmp_path, sets):
    collector = Collector(
        model="all-minilm-l6-v2",
        bases=tmp_path / "bases",
        every=1,
        modes=["lexical"],
        whole=["first"],
    )

    assert {case.kind for case in collector.collect(sets[0], sets)} == {"own"}


def test_cases_are_read_as_they_were_written(tmp_path, cases):
    save_cases(tmp_path / "cases.jsonl", cases[:3])
    save_cases(tmp_path / "cases.jsonl", cases[3:])

    assert load_cases(tmp_path / "cases.jsonl") == cases
