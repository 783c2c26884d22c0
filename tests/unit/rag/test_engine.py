import pytest
from msgspec.structs import replace

from kebab.core.answers import AnswerMode, AskQuery, Refusal
from kebab.rag.engine import (
    EMPTY_USAGE,
    REFUSAL_SENTENCES,
    AskEngine,
    DraftAnswer,
    get_refusal_sentence,
)
from kebab.wire.ask import AnswerWarning
from tests.fakes.evidence import hit, page, stored

NOTE = "The backup of all documents runs every night at two with restic."
FOUND = page(hit(stored(NOTE)), asked={"backup": 2.0, "run": 2.0})
OTHER_TOPIC = page(
    hit(stored(NOTE), score=0.01), asked={"tomato": 3.0, "volcano": 3.0, "jupit": 3.0}
)


class RecordingListener:
    def __init__(self):
        self.heard = []

    def on_retrieved(self, found):
        self.heard.append(found)

    def on_token(self, text):
        self.heard.append(text)

    def on_restart(self, reason):
        self.heard.append(reason)


class FixedWriter:
    """A writer that returns a given draft."""

    mode = AnswerMode.EXTRACTIVE
    model = None

    def __init__(self, draft):
        self.draft = draft
        self.asked = []

    def write(self, question, found, history, listener):
        self.asked.append(question)
        return self.draft


def ask(found, draft=None, **fields):
    queries, writer, listener = (
        [],
        FixedWriter(draft or DraftAnswer(text="Nightly [1]")),
        RecordingListener(),
    )

    def search(query):
        queries.append(query)
        return found

    ticks = iter((10.0, 10.5))
    engine = AskEngine(search, writer, clock=lambda: next(ticks))
    query = AskQuery(question="when does the backup run", **fields)
    return engine.answer(query, [], listener), writer, listener, queries


def test_the_draft_of_the_writer_is_the_answer():
    draft = DraftAnswer(
        text="Nightly [1]",
        warnings=(AnswerWarning(code="odd", message="odd", marker=None, span=None),),
        usage=replace(EMPTY_USAGE, prompt_tokens=7),
        used=1,
    )

    answer, writer, listener, _ = ask(FOUND, draft)

    assert (answer.text, answer.grounded, answer.mode) == (
        "Nightly [1]",
        True,
        AnswerMode.EXTRACTIVE,
    )
    assert answer.warnings == draft.warnings
    assert (answer.usage.prompt_tokens, answer.usage.latency_ms) == (7, 500.0)
    assert (answer.retrieved.used, answer.retrieved.page) == (1, FOUND)
    assert writer.asked == ["when does the backup run"]
    assert listener.heard == [FOUND]


def test_no_hits_are_refused():
    answer, writer, _, _ = ask(page())

    assert (answer.refusal, answer.grounded) == (Refusal.NO_CHUNKS, False)
    assert answer.text
    assert writer.asked == []


def test_a_question_on_another_topic_is_refused_before_the_writer_runs():
    answer, writer, _, _ = ask(OTHER_TOPIC)

    assert answer.refusal is Refusal.SCORE_GATE
    assert answer.retrieved.top_score < answer.retrieved.gate
    assert writer.asked == []


@pytest.mark.parametrize("refusal", list(Refusal))
def test_a_refusal_without_text_gets_a_sentence(refusal):
    answer, _, _, _ = ask(FOUND, DraftAnswer(refusal=refusal))

    assert answer.refusal is refusal
    assert answer.text.strip()


def ask_about(question, counts, found=FOUND, draft=None):
    writer = FixedWriter(draft or DraftAnswer(text="Nightly [1]"))
    said = found._replace(absent_terms=tuple(question.split()))
    engine = AskEngine(
        lambda _: said,
        writer,
        count_occurrences=lambda tokens: {**dict.fromkeys(tokens, 1), **counts},
    )
    return engine.answer(AskQuery(question=question), [], RecordingListener()), writer


def test_a_question_about_an_absent_name_is_refused_before_the_writer_runs():
    answer, writer = ask_about("when does Ruritania run the backup", {"ruritania": 0})

    assert (answer.refusal, answer.absent_terms) == (Refusal.ABSENT_TERMS, ("Ruritania",))
    assert answer.text == "The notes do not mention Ruritania."
    assert writer.asked == []


def test_an_absent_name_beside_the_question_makes_the_answer_uncertain():
    answer, _ = ask_about("I live in Ruritania. When does the backup run?", {"ruritania": 0})

    assert (answer.grounded, answer.uncertain) == (True, True)
    assert answer.absent_terms == ("Ruritania",)


def test_only_what_the_search_calls_absent_is():
    engine = AskEngine(
        lambda _: FOUND,
        FixedWriter(DraftAnswer(text="Nightly [1]")),
        count_occurrences=lambda tokens: dict.fromkeys(tokens, 0),
    )
    query = AskQuery(question="when does Ruritania run the backup")

    assert engine.answer(query, [], RecordingListener()).absent_terms == ()


def test_german_nouns_are_no_names():
    answer, _ = ask_about("wann läuft die Datensicherung", {"datensicherung": 0})

    assert answer.refusal is not Refusal.ABSENT_TERMS


@pytest.mark.parametrize(
    ("question", "absent"),
    [
        ("ルリタニアのバックアップはいつですか", ()),
        ("When does Ruritania run the backup?", ("Ruritania",)),
        ("2031年のバックアップはいつですか", ("2031",)),
    ],
)
def test_names_are_not_compared_with_notes_in_another_language(question, absent):
    counts = {"ruritania": 0, "2031": 0, **dict.fromkeys(("ルリ", "リタ", "タニ", "ニア", "ア"), 0)}
    answer, _ = ask_about(question, counts)

    assert answer.absent_terms == absent


@pytest.mark.parametrize("code", REFUSAL_SENTENCES)
def test_every_language_has_one_sentence_for_every_refusal(code):
    said = [get_refusal_sentence(reason, code) for reason in Refusal]

    assert len(set(said)) == len(Refusal)
    assert all(one.endswith((".", "。")) and "\n" not in one for one in said)
