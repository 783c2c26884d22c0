import pytest
from msgspec.structs import replace

from kebab.core.queries import Query
from kebab.rag.engine import EMPTY_USAGE, REFUSALS, DraftAnswer, answer_question
from kebab.wire.ask import AnswerWarning
from tests.fakes.evidence import hit, page, stored

NOTE = "The backup of all documents runs every night at two with restic."
FOUND = page(hit(stored(NOTE)), asked={"backup": 2.0, "run": 2.0})
OTHER_TOPIC = page(
    hit(stored(NOTE), score=0.01), asked={"tomato": 3.0, "volcano": 3.0, "jupit": 3.0}
)


def ask(found, draft=None, question="when does the backup run"):
    """Return the outcome, and the questions that the writer was asked."""
    asked = []

    def write(question, _found, _history):
        asked.append(question)
        return draft or DraftAnswer(text="Nightly [1]")

    return answer_question(Query(text=question, prose=True), lambda _: found, write), asked


def test_the_draft_of_the_writer_is_the_answer():
    draft = DraftAnswer(
        text="Nightly [1]",
        warnings=(AnswerWarning(code="odd", message="odd", marker=None, span=None),),
        usage=replace(EMPTY_USAGE, prompt_tokens=7),
        used=1,
    )

    outcome, asked = ask(FOUND, draft)

    assert (outcome.question, outcome.page) == ("when does the backup run", FOUND)
    assert replace(outcome.draft, usage=draft.usage) == draft
    assert outcome.draft.usage.prompt_tokens == 7
    assert asked == ["when does the backup run"]


@pytest.mark.parametrize(
    ("found", "reason"), [(page(), "no_chunks"), (OTHER_TOPIC, "score_gate")], ids=["none", "weak"]
)
def test_too_little_is_refused_before_the_writer_runs(found, reason):
    outcome, asked = ask(found)

    assert (outcome.draft.refusal, outcome.draft.text) == (reason, REFUSALS[reason])
    assert asked == []


def test_a_refusal_without_text_gets_a_sentence_in_english():
    outcome, _ = ask(FOUND, DraftAnswer(refusal="llm_self_judge"), "wann l\u00e4uft die Sicherung")

    assert outcome.draft.text == "The notes do not answer this question."


def ask_about(question, *absent):
    outcome, _ = ask(FOUND._replace(absent_terms=absent), question=question)
    return outcome.draft.uncertain, [one.message for one in outcome.draft.warnings]


@pytest.mark.parametrize("term", ["Ruritania", "MPEG-7", "2031"])
def test_a_name_code_or_number_that_the_search_calls_absent_makes_an_answer_uncertain(term):
    said = ask_about(f"when does {term} run the backup", term)

    assert said == (True, [f"not in the notes: {term}"])


def test_a_convincing_passage_outweighs_a_plain_word_that_is_absent():
    assert ask_about("how promptly does the backup run", "promptly") == (False, [])
    assert ask_about("wann l\u00e4uft die Datensicherung", "Datensicherung") == (False, [])
