import pytest

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.review import (
    ReviewTally,
    render_items,
    render_outcome,
    render_review_notes,
    render_summary,
)
from kebab.review.document import Fix
from kebab.review.items import ItemLocator
from kebab.wire.review import TranslatedText
from kebab.wire.search import DegradedChannel
from tests.fakes import review_pages
from tests.fakes.review_pages import item, page, reviewed

TEXT = "# Doors\n\nOpen the the worng door.\n"
WIDE = Canvas(width=80)


@pytest.fixture
def document(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "a.md"
    file.write_text(TEXT, encoding="utf-8")
    return reviewed(file, of=3)


def words(document, text, **changes):
    start = TEXT.index(text)
    return item(document, start, start + len(text), **changes)


def draw(found, canvas=WIDE):
    return list(render_items(found, ItemLocator().locate(found), canvas))


def tally(*pages):
    counted = ReviewTally()
    for one in pages:
        counted.add(one)
    return counted


def test_a_finding_has_its_place_severity_message_and_rule(document):
    found = words(document, "worng", severity="warning", rule_id="spelled-wrong")
    drawn = draw(page(document, found))

    assert drawn[0] == "  3:14  warning     the word is misspelled [spelled-wrong]"
    assert drawn[1:] == ["    3 │ Open the the worng door.", "      │              ^^^^^"]


def test_a_fix_tells_what_it_does(document):
    fix = Fix("wrong", "swaps two letters")
    found = words(document, "worng", edit="replace", fix=fix)

    assert "    fix: wrong (swaps two letters)" in draw(page(document, found))


def test_a_changed_file_has_findings_without_places(document, tmp_path):
    found = page(document, words(document, "worng"))
    (tmp_path / "a.md").write_text("other", encoding="utf-8")

    assert draw(found) == ["    error       the word is misspelled [spelling]"]


def test_the_summary_counts_by_severity_and_rule(document):
    repeated = words(document, " the", severity="warning", rule_id="repeated-word")
    found = page(document, words(document, "worng"), repeated, words(document, "door"))

    assert list(render_summary(tally(found), WIDE)) == [
        "3 findings in 1 of 3 documents",
        "  2  spelling       error",
        "  1  repeated-word  warning",
    ]


def test_the_summary_of_clean_documents_has_no_findings(document):
    assert list(render_summary(tally(page(document)), WIDE)) == ["no findings in 3 documents"]
    assert list(render_summary(tally(page(None)), WIDE)) == ["nothing to review"]


def test_what_was_not_available_is_a_note_with_its_hint(document):
    lost = DegradedChannel(channel="llm", reason="connection refused", hint="ollama serve")
    found = page(document, degraded=[lost], warnings=["downshift_exhausted", "unit_incomplete"])
    notes = list(render_review_notes(tally(found, found), Canvas()))

    assert notes[:2] == [
        "note: not all was reviewed by the model: connection refused",
        "hint: ollama serve",
    ]
    assert len(notes) == 4


LOST = DegradedChannel(channel="llm", reason="no answer", hint=None)


def test_no_findings_are_said_of_what_was_reviewed_only(document):
    found = tally(page(document, degraded=[LOST], unanswered_count=1))

    summary = "no findings in the reviewed part of 3 documents"
    assert list(render_summary(found, Canvas())) == [summary]
    assert list(render_review_notes(found, Canvas())) == [
        "note: not all was reviewed by the model: no answer",
    ]


def test_what_was_not_translated_is_named_with_its_cause():
    text = TranslatedText(text="x", segments=2, translated=1, findings=[])
    lost = DegradedChannel(channel="llm", reason="no answer", hint="kebab translate --run-id R")
    found = review_pages.page(None, translation=text, degraded=[lost], unanswered_count=1)

    assert list(render_outcome(found, (), Canvas())) == [
        "1 of 2 segments translated",
        "note: not all is translated: no answer",
        "hint: kebab translate --run-id R",
    ]
