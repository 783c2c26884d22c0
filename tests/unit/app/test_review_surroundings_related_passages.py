from dataclasses import replace

import pytest

from kebab.app.review_surroundings import build_passage_finder
from kebab.review.document import ReviewDocument
from tests.fakes.review import make_document

FILLING = "grass sun cloud rain wind snow tree leaf root stem"
TEXT = "The sourdough bakes at 250 degrees for 40 minutes."


def fill(desk):
    desk.write("oven.md", "# Oven\n\nSourdough bakes at 230 degrees for 40 minutes.\n")
    desk.write("a.md", f"# Bread\n\n{TEXT}\n")
    for word in FILLING.split():
        desk.write(f"{word}.md", f"# {word}\n\n{word} in the meadow\n")
    desk.ingest()


def find(desk, text, document=None):
    """Return the paths of the passages that are found for a text of a document."""
    finder = build_passage_finder(desk.context())
    assert finder is not None
    return [one.path for one in finder(document or make_document(text), text)]


def test_without_an_index_there_is_no_finder(desk):
    assert build_passage_finder(desk.context()) is None


def test_passages_of_other_notes_are_found_but_not_the_document_itself(desk):
    fill(desk)
    source = replace(make_document(TEXT).source, file=desk.notes / "a.md")

    assert find(desk, TEXT, ReviewDocument(source)) == ["oven.md"]


def test_the_document_is_known_by_its_id_too(desk):
    fill(desk)
    doc_id = desk.documents()["a.md"].doc_id
    source = replace(make_document(TEXT).source, doc_id=doc_id)

    assert find(desk, TEXT, ReviewDocument(source)) == ["oven.md"]


def test_a_document_outside_the_index_is_compared_too(desk):
    fill(desk)

    assert find(desk, TEXT)[0] == "a.md"


def test_passages_about_something_else_are_left_out(desk):
    fill(desk)

    assert find(desk, "Quantum chromodynamics describes gluons.") == []


@pytest.mark.parametrize("text", ["", "...", "\x00"])
def test_a_text_without_words_has_no_passages(desk, text):
    fill(desk)

    assert find(desk, text) == []
