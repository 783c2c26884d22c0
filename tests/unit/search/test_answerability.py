from itertools import pairwise

import pytest
from msgspec.structs import replace

from kebab.core.chunks import AnswerabilityCurve
from kebab.core.queries import Mode, Query
from kebab.search.answerability import (
    FAIR,
    AnswerSignals,
    Calibration,
    PassageSignals,
    combine,
    compute_found,
    compute_probability,
    read_signals,
)
from kebab.search.query_parser import QueryIntent
from kebab.search.retrieval import Ranker, StageTimer, VectorRetriever
from kebab.search.snippet import PassageCache
from tests.fakes.embedder import PROFILE, HashingEmbedder

_NOTES = (
    "The backup of all documents runs every night at two with restic.",
    "Rye bread rests for twelve hours before it is baked with steam.",
    "The cottage has no heating, take the 4 warm bags and map 2.10.3.",
    "Invoices are paid within thirty days after they have come.",
)


@pytest.fixture
def notes(base):
    for number, text in enumerate(_NOTES):
        base.add(f"{number}.md", text, title=f"Note {number}")
    return base


def _answerability(notes, text, mode=Mode.LEXICAL, **given):
    page = notes.engine().search(Query(text=text, mode=mode, **given))
    return page.answerability if page.hits else 0.0


@pytest.mark.parametrize("mode", [Mode.LEXICAL, Mode.HYBRID])
def test_a_question_with_an_answer_in_the_notes_is_answerable(notes, mode):
    assert _answerability(notes, "When does the backup of documents run?", mode) >= FAIR


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize(
    "text", ["volcano eruptions on jupiter moons", "xqzt vrrbl frumptious", "2.10.4"]
)
def test_other_topics_other_numbers_and_nonsense_are_not_answerable(notes, text, mode):
    assert _answerability(notes, text, mode) < FAIR


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("warm bags", 1.0),
        ("warm zeppelins", 1 / 3),
        ("heating bags", 0.75),
        ("which warm zeppelins?", 0.5),
    ],
)
def test_a_word_of_a_topic_that_is_absent_or_guessed_counts_less(base, read, text, held):
    base.add("a.md", "The bags in the theater are warm.")
    base.add("b.md", "Invoices are paid within thirty days.")

    words, *_ = read(text, Mode.LEXICAL).passages[0]

    assert words == pytest.approx(held)


_OTHER = AnswerabilityCurve(words=0.0, cosine=0.0, evidence=0.0, length=0.0, start=9.0)


def test_across_languages_vectors_alone_may_be_enough(base):
    for number, text in enumerate(_NOTES):
        base.add(f"{number}.md", text, lang="en")
    question = "Wann findet die Sicherung statt?"
    refused = _answerability(base, question, Mode.HYBRID)
    curves = replace(PROFILE.answerability, foreign=_OTHER)
    base.embedder = HashingEmbedder(profile=replace(PROFILE, answerability=curves))

    assert _answerability(base, question, Mode.HYBRID) >= FAIR > refused
    assert _answerability(base, "Where did the singers of the band go?", Mode.HYBRID) < FAIR


def test_one_passage_has_to_hold_the_words_and_be_near():
    curve = AnswerabilityCurve(words=4.0, cosine=4.0, evidence=0.0, length=0.0, start=-6.0)
    split = _build_signals(passages=(PassageSignals(1.0, 0.0), PassageSignals(0.0, 1.0)))
    joint = _build_signals(passages=(PassageSignals(0.2, 0.1), PassageSignals(1.0, 1.0)))

    assert compute_probability(curve, split) < FAIR < compute_probability(curve, joint)


_TOPIC = QueryIntent(topic=1.0, need=0.0, asks=False)


_FOREIGN = {"passages": (PassageSignals(0.0, 1.0, foreign=True),)}


@pytest.mark.parametrize(
    "given", [_FOREIGN, {"intent": _TOPIC}, {"code": True}], ids=["foreign", "topic", "code"]
)
@pytest.mark.parametrize(
    ("found", "precision", "expected"), [(0.9, 0.9, 0.81), (0.9, 0.1, FAIR), (0.2, 0.5, 0.1)]
)
def test_a_hit_among_equals_stays_fair(found, precision, expected, given):
    assert combine(found, precision, _build_signals(**given)) == pytest.approx(expected)


def test_code_answers_with_fewer_words_of_the_query():
    code, notes = (compute_found(_build_signals(code=code), None) for code in (True, False))
    assert code > notes


def _build_signals(**given):
    values = {
        "passages": (PassageSignals(1.0, 1.0),),
        "margin": 0.0,
        "evidence": 0.5,
        "rival": 0.0,
        "length": 1.0,
        "intent": QueryIntent(topic=0.0, need=0.0, asks=True),
        "by_words": True,
        "by_vectors": True,
    }
    return AnswerSignals(**{**values, **given})


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
        found = Ranker(retriever).rank(query, StageTimer(lambda: 0.0), passages)
        return read_signals(found, passages)

    return read


@pytest.mark.parametrize(
    ("question", "held"),
    [
        ("Wann laufen die Sicherungen?", True),
        ("Wann laufen die Sichtungen?", False),
        ("¿Dónde está el jardín?", True),
    ],
)
def test_another_form_of_a_word_counts_as_held(base, read, question, held):
    base.add("a.md", "Die Sicherung der Dokumente: sie laufen nachts um zwei. El jardín está aquí.")

    ((words, *_),) = read(question, Mode.LEXICAL).passages

    assert (words == 1.0) is held


def test_a_passage_without_a_vector_counts_with_the_highest_cosine(base, read):
    base.add("a.md", "A list of the documents.")
    base.add("b.md", "The backup of the archive.", embed=False)

    first, second = read("backup list of the documents").passages

    assert first[1] == second[1] > 0


@pytest.mark.parametrize(
    ("question", "lacking"),
    [
        ("Which pump runs in Berlin?", 1),
        ("Which pump needs 230 volts?", 1),
        ("Welche Pumpe ist mit der Stadt Berlin?", 0),  # nouns have capitals
        ("pump Berlin", 0),
    ],
)
def test_a_passage_lacks_a_name_or_a_number_of_a_question(base, read, question, lacking):
    base.add("a.md", "The pump runs in Berlin.")
    base.add("b.md", "The pump needs 230 volts.")

    assert sum(one.lacks for one in read(question).passages) == lacking


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

    assert all(one.foreign for one in read(question).passages) is foreign


@pytest.mark.parametrize(
    ("text", "held"), [("ランチ", 1.0), ("ランプ", 0.0), ("東京タワー", 1 / 6)]
)
def test_a_word_of_katakana_counts_as_a_whole_and_every_bigram_of_a_topic_counts(
    base, read, text, held
):
    base.add("a.md", "東京のランチとタワシ")

    ((words, *_),) = read(text, Mode.LEXICAL).passages

    assert words == pytest.approx(held)


def test_two_bigrams_are_as_long_as_one_word(base, read):
    base.add("a.md", "the pump of 東京駅")

    assert read("東京駅", Mode.LEXICAL).length == read("pump", Mode.LEXICAL).length


def test_the_rival_is_the_next_passage_with_another_text(base, read):
    base.add("a.md", "pump seal", title="One")
    base.add("b.md", "pump seal", title="One")
    base.add("c.md", "a pump that has no part of rubber and is not new", title="Two")

    assert 0 < read("where is the pump seal").rival < 0.9


def test_a_score_falls_with_the_evidence_from_the_answerability_to_0():
    scale = Calibration(answerability=0.9, best=0.5)

    scores = [scale.score(step / 10) for step in range(-2, 6)]

    assert scores[:3] == [0, 0, 0]
    assert all(low < high for low, high in pairwise(scores[2:]))
    assert scores[-1] == 0.9
