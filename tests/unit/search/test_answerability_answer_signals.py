import pytest

from kebab.core.chunks import NO_BACKGROUND, CosineBackground
from kebab.core.queries import Mode, Query
from kebab.search.answerability import compute_margin, read_signals
from kebab.search.retrieval import Ranker, StageTimer
from kebab.search.snippet import PassageCache
from kebab.search.vector import VectorRetriever

_ENGLISH = "The backup of all the documents runs every night at two, and it is kept for a year."


@pytest.fixture
def read(base):
    def read(text, mode=Mode.HYBRID):
        reader = base.reader()
        retriever = VectorRetriever(
            library=reader, vectors=lambda: base.vectors, embedder=lambda: base.embedder
        )
        passages = PassageCache(reader)
        query = Query(text=text, mode=mode)
        found = Ranker(reader, retriever).rank(query, StageTimer(lambda: 0.0), passages)
        return read_signals(found, passages)

    return read


def test_words_alone_give_no_signal_of_vectors(base, read):
    base.add("a.md", _ENGLISH, lang="en")

    signals = read("When does the backup run?", Mode.LEXICAL)

    assert signals.passages == ((1.0, 0.0),)
    assert (signals.margin, signals.by_words, signals.by_vectors) == (0.0, True, False)
    assert not signals.foreign


def test_each_passage_has_its_own_words_and_cosine(base, read):
    base.add("a.md", _ENGLISH)
    base.add("b.md", "A backup.")

    (first, second) = read("backup of the documents").passages

    assert first[0] > second[0]
    assert first[1] != second[1] > 0


@pytest.mark.parametrize(
    ("question", "held"),
    [
        ("Wann laufen die Sicherungen?", True),
        ("Wann laufen die Sichtungen?", False),
    ],
    ids=["inflected", "other"],
)
def test_another_form_of_a_word_counts_as_held(base, read, question, held):
    base.add("a.md", "Die Sicherung der Dokumente: sie laufen nachts um zwei.")

    ((words, _),) = read(question, Mode.LEXICAL).passages

    assert (words == 1.0) is held


@pytest.mark.parametrize(
    ("query", "absent"), [("FROBOZZ", True), ("what is FROBOZZ", True), ("FROBOZZ backup", False)]
)
def test_a_query_is_absent_when_every_term_is(base, read, query, absent):
    base.add("a.md", _ENGLISH)

    assert read(query).absent is absent


def test_a_passage_without_a_vector_counts_with_the_highest_cosine(base, read):
    base.add("a.md", "A list of the documents.")
    base.add("b.md", "The backup of the archive.", embed=False)

    first, second = read("backup list of the documents").passages

    assert first[1] == second[1] > 0


@pytest.mark.parametrize(
    ("question", "foreign"),
    [
        ("When does the backup of the documents run?", False),
        ("Wann l\u00e4uft die Sicherung der Dokumente?", True),
        ("backup", False),
        ("Panthers savunmas\u0131 ka\u00e7 say\u0131 b\u0131rakm\u0131\u015ft\u0131r?", True),
    ],
)
def test_the_language_of_the_question_is_compared_with_the_passages(base, read, question, foreign):
    base.add("a.md", _ENGLISH, lang="en")

    assert read(question).foreign is foreign


def test_passages_in_an_unknown_language_are_not_foreign(base, read):
    base.add("a.md", _ENGLISH)

    assert not read("Wann l\u00e4uft die Sicherung der Dokumente?").foreign


def test_the_rival_is_the_next_passage_with_another_text(base, read):
    base.add("a.md", "pump seal", title="One")
    base.add("b.md", "pump seal", title="One")
    base.add("c.md", "a pump that has no part of rubber and is not new", title="Two")

    assert 0 < read("where is the pump seal").rival < 0.9


def test_without_another_passage_there_is_no_rival(base, read):
    base.add("a.md", "pump seal")

    assert read("where is the pump seal").rival == 0


def test_the_margin_counts_deviations_above_the_best_of_chance():
    background = CosineBackground(size=1000, mean=0.7, deviation=0.02)

    assert compute_margin(0.86, background) == pytest.approx(1000 / 1020 * (8 - 3.717), abs=0.01)


def test_a_few_passages_tell_little_about_the_usual_cosine():
    few, many = (CosineBackground(size, mean=0.7, deviation=0.02) for size in (5, 500))

    assert 0 < compute_margin(0.8, few) < 1 < compute_margin(0.8, many)


@pytest.mark.parametrize("background", [NO_BACKGROUND, CosineBackground(1, 0.8, 0.0)])
def test_without_a_spread_there_is_no_margin(background):
    assert compute_margin(0.8, background) == 0
