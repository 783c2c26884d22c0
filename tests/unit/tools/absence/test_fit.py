import pytest

from kebab.rag.answer_check import WEIGHTS, DoubtKind
from tools.absence.fit import (
    FEATURES,
    RATES,
    Outcome,
    fit_weights,
    is_second_half,
    measure_curve,
)
from tools.absence.swaps import Question


def outcome(kind, *doubts, document="a.md", score=0.6):
    question = Question(kind, "who", document)
    return Outcome(
        question, refusal=None, uncertain=False, doubts=frozenset(doubts), top_score=score
    )


def outcomes():
    """Return answers of twenty documents: doubts are frequent where there is no answer."""
    for number in range(200):
        document = f"note-{number % 20}.md"
        right = [DoubtKind.OPPOSITE.value] if number % 50 == 0 else []
        wrong = [DoubtKind.NEGATION.value] if number % 2 else []
        yield outcome("answerable", *right, document=document)
        yield outcome("unanswerable", *wrong, document=document)


def test_a_doubt_of_questions_without_an_answer_gets_weight():
    start, *weights = fit_weights(list(outcomes()))
    by_kind = dict(zip(FEATURES, weights, strict=False))

    assert start > 0
    assert by_kind[DoubtKind.NEGATION] > 1
    assert by_kind[DoubtKind.OPPOSITE] < 0
    assert len(weights) == len(WEIGHTS) + 1


def test_the_curve_is_measured_on_documents_that_were_left_out():
    curve = measure_curve(list(outcomes()))

    assert [rate for rate, _ in curve] == list(RATES)
    shares = [share for _, share in curve]
    assert shares == sorted(shares)
    assert shares[2] == pytest.approx(0.5)


def test_an_absent_term_is_flagged_at_any_rate():
    absent = [
        outcome("unanswerable", DoubtKind.ABSENT_TERM.value, document=f"{n}") for n in range(9)
    ]
    fine = [outcome("answerable", document=f"{n}") for n in range(9)]

    assert {share for _, share in measure_curve([*absent, *fine])} == {1.0}


def test_both_halves_have_documents_and_never_change():
    halves = {is_second_half(f"note-{number}.md") for number in range(20)}

    assert halves == {False, True}
    assert is_second_half("note-1.md") is is_second_half("note-1.md")


def test_without_outcomes_there_are_no_weights():
    assert set(fit_weights([])) == {0.0}
