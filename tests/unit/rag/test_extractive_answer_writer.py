from typing import Any

import pytest

from kebab.rag.extractive_answer import quote_passages
from tests.fakes.evidence import hit, page, stored

QUESTION = "When does the nightly backup run?"
INVOICES = {"backup": 2.0, "invoic": 9.0}
ASKED = {"nightli": 2.0, "backup": 2.0, "run": 1.0}
NOTE = "Bread is baked on Friday. The nightly backup runs at two. Tea is at four."


def write_answer(question=QUESTION, asked=ASKED, chunk=None, **said):
    events: list[Any] = []
    found = page(hit(chunk or stored(NOTE)), asked=asked)._replace(**said)
    draft = quote_passages(question, found, embedder=None, sentences=1, report=events.append)
    return draft, [event.delta for event in events]


def test_a_quote_that_lacks_what_is_asked_for_makes_the_answer_uncertain():
    draft, said = write_answer("How much are the backup invoices?", INVOICES)

    assert draft.uncertain is True
    assert [one.code for one in draft.warnings] == ["term_not_cited"]
    assert draft.warnings[0].message == "not in the cited sentence: invoices"
    assert said == [draft.text]
    assert write_answer()[0].uncertain is False


@pytest.mark.parametrize(
    ("title", "fact", "uncertain"),
    [
        ("Cellar pump", "The cellar pump was built in 1931.", True),
        ("Cellar pump", "The cellar pump needs a voltage of 230 V.", False),
        ("Tools", "The cellar pump was built in 1931.", False),  # names nothing of the question
    ],
)
def test_other_facts_of_a_note_about_the_subject_make_the_answer_uncertain(title, fact, uncertain):
    asked = {"voltag": 0.3, "cellar": 1.0, "pump": 1.0}
    question = "Which voltage does the cellar pump need?"
    draft, _ = write_answer(question, asked, stored(fact, title=title))

    assert draft.uncertain is uncertain
    messages = [one.message for one in draft.warnings]
    assert messages == (["not in the cited sentence: voltage"] if uncertain else [])


@pytest.mark.parametrize("field", ["unheld_terms", "absent_terms"])
def test_nothing_is_quoted_when_no_passage_has_the_rare_word_that_is_asked_for(field):
    draft, said = write_answer(
        "How much are the backup invoices?", INVOICES, **{field: ("invoices",)}
    )

    assert (draft.refusal, draft.text, draft.citations, said) == ("score_gate", "", (), [])
    assert [(one.code, one.message) for one in draft.warnings] == [
        ("term_not_found", "in none of the passages that were found: invoices")
    ]


def test_a_mistyped_word_makes_the_answer_uncertain():
    draft, _ = write_answer("Bakcup run?", {"run": 2, "bakcup": 9}, absent_terms=["Bakcup"])

    assert (draft.refusal, draft.uncertain) == (None, True)
