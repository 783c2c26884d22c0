"""Evaluation with the whole program."""

import json

import pytest

QUESTIONS = [
    {"query": "check the repository when a restore fails", "doc": "backups.md", "line_start": 19},
    {"query": "yellow lower leaves magnesium", "doc": "garden.md"},
    {"query": "씨앗의 절반은 싹트지 않지만", "doc": "reading.ko.md"},
    {"query": "qqqqqqqq zzzzzzzz", "answerable": False},
]

pytestmark = pytest.mark.usefixtures("in_process")


@pytest.fixture
def golden(library):
    path = library.folder / "queries.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in QUESTIONS), encoding="utf-8")
    return path


def test_an_evaluation_leaves_the_knowledge_base_as_it_was(library, golden):
    before = {path: path.read_bytes() for path in library.data.rglob("*.sqlite")}

    library.json("eval", golden)

    assert before
    assert {path: path.read_bytes() for path in library.data.rglob("*.sqlite")} == before
