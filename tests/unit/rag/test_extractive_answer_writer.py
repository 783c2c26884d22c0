from kebab.core.answers import Refusal
from kebab.rag.extractive_answer import ExtractiveWriter
from tests.fakes.evidence import hit, page, stored

QUESTION = "When does the nightly backup run?"
ASKED = {"nightli": 2.0, "backup": 2.0, "run": 1.0}
NOTE = "Bread is baked on Friday. The nightly backup runs at two. Tea is at four."


class RecordingListener:
    def __init__(self):
        self.tokens = []

    def on_retrieved(self, found):
        """Take no notice."""

    def on_token(self, text):
        self.tokens.append(text)

    def on_restart(self, reason):
        """Take no notice."""


def write_answer(*chunks, sentences=1, asked=ASKED):
    hits = [hit(one, rank) for rank, one in enumerate(chunks, start=1)]
    writer = ExtractiveWriter(embedder=lambda: None, sentences=sentences)
    listener = RecordingListener()
    return writer.write(QUESTION, page(*hits, asked=asked), [], listener), listener


def test_a_quote_that_lacks_what_is_asked_for_makes_the_answer_uncertain():
    asked = {"backup": 2.0, "invoic": 9.0}
    writer = ExtractiveWriter(embedder=lambda: None, sentences=1)
    found = page(hit(stored(NOTE)), asked=asked)

    draft = writer.write("How much are the backup invoices?", found, [], RecordingListener())

    assert draft.uncertain is True
    assert [one.code for one in draft.warnings] == ["term_not_cited"]
    assert draft.warnings[0].message == "not in the cited sentence: invoices"
    assert write_answer(stored(NOTE))[0].uncertain is False


def test_nothing_is_quoted_when_no_passage_has_the_rare_word_that_is_asked_for():
    asked = {"backup": 2.0, "invoic": 9.0}
    writer = ExtractiveWriter(embedder=lambda: None, sentences=1)
    found = page(hit(stored(NOTE)), asked=asked)._replace(unheld_terms=("invoices",))

    draft = writer.write("How much are the backup invoices?", found, [], RecordingListener())

    assert (draft.refusal, draft.text, draft.citations) == (Refusal.SCORE_GATE, "", ())
    assert [(one.code, one.message) for one in draft.warnings] == [
        ("term_not_found", "in none of the passages that were found: invoices")
    ]
