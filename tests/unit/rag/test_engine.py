import pytest
from msgspec.structs import replace

from kebab.core.answers import AnswerMode, AskQuery, Refusal
from kebab.core.queries import Filters, Mode
from kebab.errors.catalog import InvalidInput
from kebab.rag.engine import EMPTY_USAGE, AskEngine, DraftAnswer
from kebab.wire.ask import AnswerWarning
from tests.fakes.evidence import hit, page, stored

NOTE = "The backup of all documents runs every night at two with restic."
FOUND = page(hit(stored(NOTE)), asked={"backup": 2.0, "run": 2.0})
ELSEWHERE = page(hit(stored(NOTE), score=0.01), asked={"tomato": 3.0, "volcano": 3.0, "jupit": 3.0})


class Listening:
    def __init__(self):
        self.heard = []

    def on_retrieved(self, found):
        self.heard.append(found)

    def on_token(self, text):
        self.heard.append(text)

    def on_restart(self, reason):
        self.heard.append(reason)


class Writing:
    """A writer that says what it is told to."""

    mode = AnswerMode.EXTRACTIVE
    model = None

    def __init__(self, worded):
        self.worded = worded
        self.asked = []

    def write(self, question, found, history, listener):
        self.asked.append(question)
        return self.worded


def answered(found, worded=None, **fields):
    queries, writer, listener = [], Writing(worded or DraftAnswer(text="Nightly [1]")), Listening()

    def search(query):
        queries.append(query)
        return found

    ticks = iter((10.0, 10.5))
    engine = AskEngine(search, writer, clock=lambda: next(ticks))
    inquiry = AskQuery(question="when does the backup run", **fields)
    return engine.answer(inquiry, [], listener), writer, listener, queries


def test_what_the_writer_words_is_the_answer():
    worded = DraftAnswer(
        text="Nightly [1]",
        warnings=(AnswerWarning(code="odd", message="odd", marker=None, span=None),),
        usage=replace(EMPTY_USAGE, prompt_tokens=7),
        used=1,
    )

    answer, writer, listener, _ = answered(FOUND, worded)

    assert (answer.text, answer.grounded, answer.mode) == (
        "Nightly [1]",
        True,
        AnswerMode.EXTRACTIVE,
    )
    assert answer.warnings == worded.warnings
    assert (answer.usage.prompt_tokens, answer.usage.latency_ms) == (7, 500.0)
    assert (answer.retrieved.used, answer.retrieved.page) == (1, FOUND)
    assert writer.asked == ["when does the backup run"]
    assert listener.heard == [FOUND]


def test_the_search_keeps_to_mode_limit_and_filters():
    filters = Filters(tag=("ops",))

    _, _, _, queries = answered(FOUND, mode=Mode.LEXICAL, limit=3, filters=filters)

    (query,) = queries
    assert (query.text, query.mode, query.limit, query.filters) == (
        "when does the backup run",
        Mode.LEXICAL,
        3,
        filters,
    )


def test_without_hits_there_is_nothing_to_answer_from():
    answer, writer, _, _ = answered(page())

    assert (answer.refusal, answer.grounded) == (Refusal.NO_CHUNKS, False)
    assert answer.text
    assert writer.asked == []


def test_a_question_on_another_matter_is_refused_before_anything_is_worded():
    answer, writer, _, _ = answered(ELSEWHERE)

    assert answer.refusal is Refusal.SCORE_GATE
    assert answer.retrieved.top_score < answer.retrieved.gate
    assert writer.asked == []


@pytest.mark.parametrize("refusal", list(Refusal))
def test_a_refusal_without_words_of_its_own_gets_a_sentence(refusal):
    answer, _, _, _ = answered(FOUND, DraftAnswer(refusal=refusal))

    assert answer.refusal is refusal
    assert answer.text.strip()


@pytest.mark.parametrize("question", ["", " \n"])
def test_an_empty_question_is_refused(question):
    engine = AskEngine(lambda _: FOUND, Writing(DraftAnswer()))

    with pytest.raises(InvalidInput, match="question"):
        engine.answer(AskQuery(question=question), [], Listening())
