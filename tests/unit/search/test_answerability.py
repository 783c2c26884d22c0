from dataclasses import replace

import pytest

from kebab.core.chunks import AnswerabilityCurve, CosineScale
from kebab.core.queries import Filters, Mode, Query
from kebab.search.answerability import (
    FAIR,
    PRECISION,
    AnswerSignals,
    combine,
    compute_logit,
    compute_precision,
    compute_probability,
)
from kebab.search.query_parser import QueryIntent
from tests.fakes.embedder import PROFILE, HashingEmbedder

_NOTES = (
    "The backup of all documents runs every night at two with restic.",
    "Rye bread rests for twelve hours before it is baked with steam.",
    "The cottage has no heating, take the warm sleeping bags.",
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
@pytest.mark.parametrize("text", ["volcano eruptions on jupiter moons", "xqzt vrrbl frumptious"])
def test_other_topics_and_nonsense_are_not_answerable(notes, text, mode):
    assert _answerability(notes, text, mode) < FAIR


def test_one_word_in_common_is_not_enough(notes):
    assert _answerability(notes, "backup singers of a rock band on tour in brazil") < FAIR


def test_headings_count_as_part_of_their_passage(base):
    base.add("a.md", "Every night at two.", title="Machines", heading=("Backups",))
    base.add("b.md", "Never.", title="Holidays")

    with_heading = _answerability(base, "backups every night")
    without = _answerability(base, "holidays every night")

    assert with_heading > without


def test_a_listing_by_filters_is_certain(notes):
    assert _answerability(notes, "*", filters=Filters(path_glob="0.md")) == 1


def test_every_page_has_the_answerability_of_the_whole_search(notes):
    first, second = (
        notes.engine().search(Query(text="the documents", limit=1, offset=offset))
        for offset in (0, 1)
    )

    assert first.answerability == second.answerability
    assert first.hits[0].score == first.answerability
    assert second.hits[0].score < first.hits[0].score


def test_the_scale_of_the_model_decides_what_its_cosines_are_worth(notes):
    sharp = replace(PROFILE, cosine_scale=CosineScale(0.9, 1.0))
    text = "When does the backup of documents run?"

    plain = _answerability(notes, text, Mode.VECTOR)
    notes.embedder = HashingEmbedder(profile=sharp)

    assert _answerability(notes, text, Mode.VECTOR) < plain


@pytest.mark.parametrize(("mode", "curve"), [(Mode.HYBRID, "hybrid"), (Mode.VECTOR, "vector")])
def test_the_curve_is_that_of_the_model(notes, mode, curve):
    even = AnswerabilityCurve(words=0.0, cosine=0.0, evidence=0.0, length=0.0, start=0.0)
    curves = replace(PROFILE.answerability, **{curve: even})
    notes.embedder = HashingEmbedder(profile=replace(PROFILE, answerability=curves))

    assert _answerability(notes, "backup of documents", mode) == pytest.approx(0.5, abs=0.01)


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
    split = _build_signals(passages=((1.0, 0.0), (0.0, 1.0)))
    joint = _build_signals(passages=((0.2, 0.1), (1.0, 1.0)))

    assert compute_probability(curve, split) < FAIR < compute_probability(curve, joint)


def test_a_rival_and_a_topic_make_the_first_hit_less_certain():
    alone, close = (_build_signals(rival=rival) for rival in (0.3, 0.98))
    topic = _build_signals(rival=0.9, intent=QueryIntent(topic=1.0, need=0.0, asks=False))
    question = _build_signals(rival=0.9)

    assert compute_precision(PRECISION, alone) > 0.9 > compute_precision(PRECISION, close)
    assert compute_precision(PRECISION, question) > compute_precision(PRECISION, topic)


_TOPIC = QueryIntent(topic=1.0, need=0.0, asks=False)


@pytest.mark.parametrize("given", [{"foreign": True}, {"intent": _TOPIC}], ids=["foreign", "topic"])
@pytest.mark.parametrize(
    ("found", "precision", "expected"), [(0.9, 0.9, 0.81), (0.9, 0.1, FAIR), (0.2, 0.5, 0.1)]
)
def test_a_hit_among_equals_stays_fair(found, precision, expected, given):
    assert combine(found, precision, _build_signals(**given)) == pytest.approx(expected)


@pytest.mark.parametrize(
    "given", [{}, {"intent": _TOPIC, "absent": True}], ids=["question", "absent"]
)
def test_a_question_in_the_language_of_the_notes_is_not_lifted(given):
    assert combine(0.9, 0.1, _build_signals(**given)) == pytest.approx(0.09)


def test_a_query_whose_every_word_is_absent_has_a_curve_of_its_own(base):
    for number, text in enumerate(_NOTES):
        base.add(f"{number}.md", text)
    curves = replace(PROFILE.answerability, vector=_OTHER, absent=replace(_OTHER, start=-9.0))
    base.embedder = HashingEmbedder(profile=replace(PROFILE, answerability=curves))

    assert _answerability(base, "FROBOZZ", Mode.HYBRID) < 0.01
    assert _answerability(base, "sourdough backup", Mode.VECTOR) >= FAIR


def test_the_logit_is_the_inverse_of_the_logistic_curve():
    assert compute_logit(0.5) == 0
    assert compute_logit(0.8) == pytest.approx(1.386, abs=0.001)


def _build_signals(**given):
    values = {
        "passages": ((1.0, 1.0),),
        "margin": 0.0,
        "evidence": 0.5,
        "rival": 0.0,
        "length": 1.0,
        "intent": QueryIntent(topic=0.0, need=0.0, asks=True),
        "by_words": True,
        "by_vectors": True,
        "foreign": False,
    }
    return AnswerSignals(**{**values, **given})
