from itertools import pairwise

import pytest

from kebab.core.hit import Confidence
from kebab.core.query import Mode
from kebab.search.calibrate import confidence, score


@pytest.mark.parametrize("method", list(Mode))
def test_a_score_rises_with_its_evidence_and_stays_between_0_and_1(method):
    scores = [score(step / 10, method) for step in range(-20, 40)]

    assert all(low < high for low, high in pairwise(scores[:30]))
    assert all(0 <= one <= 1 for one in scores)
    assert score(-1e9, method) >= 0


def test_weak_evidence_is_weak_and_full_evidence_is_strong():
    assert confidence(score(0.15, Mode.HYBRID)) is Confidence.WEAK
    assert confidence(score(0.45, Mode.HYBRID)) is Confidence.FAIR
    assert confidence(score(0.9, Mode.HYBRID)) is Confidence.STRONG
