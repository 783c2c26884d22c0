from itertools import pairwise

import pytest

from kebab.core.queries import Confidence
from kebab.search.answerability import Calibration, classify_confidence, compute_relative_evidence


def test_the_first_hit_scores_the_answerability():
    assert Calibration(answerability=0.7, best=0.4).score(0.4) == 0.7


def test_a_score_falls_with_the_evidence_from_the_answerability_to_0():
    scale = Calibration(answerability=0.9, best=0.5)

    scores = [scale.score(step / 10) for step in range(-2, 6)]

    assert scores[:3] == [0, 0, 0]
    assert all(low < high for low, high in pairwise(scores[2:]))
    assert scores[-1] == 0.9


@pytest.mark.parametrize("best", [0.0, -0.1])
def test_a_best_hit_without_evidence_is_no_error(best):
    scale = Calibration(answerability=0.2, best=best)

    assert (scale.score(best), scale.score(best - 1)) == (0.2, 0.0)


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        (0.0, Confidence.WEAK),
        (0.29, Confidence.WEAK),
        (0.3, Confidence.FAIR),
        (0.79, Confidence.FAIR),
        (0.8, Confidence.STRONG),
        (1.0, Confidence.STRONG),
    ],
)
def test_scores_have_three_levels_of_confidence(score, expected):
    assert classify_confidence(score) is expected


def test_relative_evidence_is_a_share_of_the_best_evidence():
    scale = Calibration(answerability=0.7, best=0.5)

    assert compute_relative_evidence(scale.score(0.4), scale.answerability) == pytest.approx(0.8)
    assert compute_relative_evidence(scale.score(0.5), scale.answerability) == 1
    assert compute_relative_evidence(0.0, 0.0) == 0
