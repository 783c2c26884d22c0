import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.review.items import convert_kind, convert_severity, import_items, locate_older_items
from kebab.wire.review import ItemV1
from tests.fakes.review import make_document

DOCUMENT = make_document("Teh cat sat.\r\nTeh dog\r\n\U0001f600 saw “the  cat”.\r\n")


def make_item(evidence="Teh", *, key="spelling", severity="error", suggestion=None):
    return ItemV1(
        key=key, severity=severity, message="why", evidence=evidence, suggestion=suggestion
    )


def locate(*items):
    located = locate_older_items(DOCUMENT, items)
    return [(one.kind, one.start, one.end, one.edit) for one in located.findings], located.dropped


def test_evidence_becomes_a_place_and_a_suggestion_a_fix():
    located = locate_older_items(DOCUMENT, [make_item(suggestion="The")])
    (finding,) = located.findings

    assert (finding.start, finding.end, finding.edit, finding.fix) == (
        0,
        3,
        "replace",
        ("The", None),
    )
    assert (finding.severity, finding.reason, finding.rule_id) == ("error", "why", None)


def test_evidence_that_occurs_again_means_the_next_place():
    places = [
        ("spelling", 0, 3, "note"),
        ("spelling", 13, 16, "note"),
        ("spelling", 13, 16, "note"),
    ]
    assert locate(make_item(), make_item(), make_item()) == (places, 0)


def test_items_of_different_kinds_share_a_place():
    found, _ = locate(make_item(), make_item(key="style"))
    assert found == [("spelling", 0, 3, "note"), ("style", 0, 3, "note")]


def test_evidence_is_folded_when_it_is_not_found_as_it_is():
    start = DOCUMENT.text.index("“the")
    assert locate(make_item('"the cat"')) == ([("spelling", start, start + 10, "note")], 0)


def test_an_item_without_a_place_is_dropped_and_counted():
    assert locate(make_item("a mouse"), make_item(""), make_item("dog")) == (
        [("spelling", 17, 20, "note")],
        2,
    )


@pytest.mark.parametrize(("suggestion", "edit"), [("", "delete"), ("Teh", "note"), (None, "note")])
def test_a_suggestion_that_changes_nothing_is_a_note(suggestion, edit):
    assert locate(make_item(suggestion=suggestion))[0] == [("spelling", 0, 3, edit)]


@pytest.mark.parametrize(
    ("word", "severity"),
    [
        ("ERROR", "error"),
        ("major ", "error"),
        ("warn", "warning"),
        ("info", "suggestion"),
        ("", "suggestion"),
    ],
)
def test_severities_of_other_vocabularies_are_converted(word, severity):
    assert convert_severity(word) == severity


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("spelling", "spelling"),
        ("Typo", "spelling"),
        ("wordChoice", "terminology"),
        ("Logical gap!", "logical-gap"),
        ("Füllwort", "fullwort"),
        ("1st", "st"),
        ("문법", "other"),
        ("", "other"),
        ("x" * 60, "x" * 40),
    ],
)
def test_keys_become_kinds(key, kind):
    assert convert_kind(key) == kind


@given(st.text())
def test_every_key_becomes_a_valid_kind(key):
    assert re.fullmatch(r"[a-z][a-z0-9_-]{0,39}", convert_kind(key))


def test_the_unit_has_the_items_in_the_order_of_their_places_and_counts_those_without():
    emoji = "\U0001f600 saw"
    result = import_items(DOCUMENT, [make_item(emoji), make_item("a mouse"), make_item("sat")])

    raw = DOCUMENT.source.raw.encode("utf-16-le")
    texts = [raw[2 * one.o[0] : 2 * one.o[1]].decode("utf-16-le") for one in result.items]
    assert texts == ["sat", emoji]
    assert [one.s for one in result.items] == ["error", "error"]
    assert (result.usage.dropped, result.usage.warnings) == (1, ("items_dropped",))


def test_a_repeated_item_is_one_item():
    assert len(import_items(DOCUMENT, [make_item("sat"), make_item("sat")]).items) == 1
