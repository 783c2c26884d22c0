from datetime import date
from pathlib import Path

import pytest

from kebab.core.review import Site
from kebab.review.answers import RecordedSurroundings, answer_question
from tests.fakes.review import FakeSurroundings, make_document

SOURCE = make_document("").source
HERE = FakeSurroundings(files=frozenset({"/notes/b.md"}), notes={"b": Path("/notes/b.md")})


def ask_everything(surroundings):
    surroundings.exists("/notes/b.md")
    surroundings.list_anchors(Path("/notes/b.md"))
    surroundings.find_note(SOURCE, "b")
    surroundings.list_namesakes(SOURCE, "b.md")
    surroundings.list_usual_fields(SOURCE)
    surroundings.find_similar(SOURCE, "A paragraph.")
    surroundings.find_any_case("/notes/B.md")
    surroundings.find_site(SOURCE.file)
    surroundings.find_original(SOURCE.file)
    surroundings.is_built("/notes/c.md")
    surroundings.list_usual_jumps(SOURCE)
    surroundings.list_doubtful(SOURCE)
    surroundings.is_usual_fault(SOURCE, "not valid")
    surroundings.list_routes(Site("hugo", "/notes"))
    surroundings.find_heading(SOURCE, "costs")
    surroundings.count_documents(SOURCE, "bread")
    assert surroundings.today


def answer_all(questions, surroundings=HERE, index_state="1"):
    return {one: answer_question(surroundings, SOURCE, one, index_state) for one in questions}


@pytest.fixture
def questions():
    recorded = RecordedSurroundings(HERE)
    ask_everything(recorded)
    return [*recorded.questions]


def test_the_answers_are_those_of_the_surroundings():
    recorded = RecordedSurroundings(HERE)

    assert recorded.exists("/notes/b.md") is True
    assert recorded.find_note(SOURCE, "b") == Path("/notes/b.md")
    assert (recorded.glossary, recorded.stale_days) == (HERE.glossary, HERE.stale_days)


def test_every_question_is_kept_once():
    recorded = RecordedSurroundings(HERE)
    ask_everything(recorded)
    ask_everything(recorded)

    assert len(recorded.questions) == 17


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ({"files": frozenset()}, ["exists", "case"]),
        ({"headings": {"costs": Path("/notes/b.md")}}, ["heading"]),
        ({"counts": {"bread": 5}}, ["count"]),
        ({"routes": frozenset({"b"})}, ["routes"]),
        ({"site": Site("hugo", "/notes")}, ["site"]),
        ({"faults": frozenset({"not valid"})}, ["fault"]),
        ({"notes": {}}, ["note"]),
        ({"namesakes": {"b.md": (Path("/notes/x/b.md"),)}}, ["namesakes"]),
        ({"usual_fields": frozenset({"title"})}, ["fields"]),
        ({"today": date(2026, 1, 16)}, ["today"]),
        ({"originals": {str(SOURCE.file): Path("/notes/b.md")}}, ["original"]),
        ({"built": frozenset({"/notes/c.md"})}, ["built"]),
        ({"jumps": frozenset({(1, 3)})}, ["jumps"]),
    ],
)
def test_another_answer_is_noticed(questions, change, names):
    fields = {"files": HERE.files, "notes": HERE.notes} | change
    before, after = answer_all(questions), answer_all(questions, FakeSurroundings(**fields))

    assert [one[0] for one in questions if before[one] != after[one]] == names


def test_a_heading_and_the_index_are_asked_for_like_what_they_stand_for():
    recorded = RecordedSurroundings(HERE)
    recorded.has_heading(Path("/notes/b.md"), "costs")
    assert recorded.has_index

    assert [*recorded.questions] == [("file", "/notes/b.md"), ("index",)]


def test_another_state_of_the_index_is_noticed(questions):
    before, after = answer_all(questions), answer_all(questions, index_state="2")

    assert [one for one in questions if before[one] != after[one]] == [("index",)]


def test_a_changed_file_is_noticed(tmp_path):
    path = tmp_path / "a.md"
    states = [answer_question(HERE, SOURCE, ("file", str(path)), "")]
    for text in ("one", "other"):
        path.write_text(text, encoding="utf-8")
        states.append(answer_question(HERE, SOURCE, ("file", str(path)), ""))

    assert len(set(states)) == 3
