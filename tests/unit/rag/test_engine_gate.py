import pytest

from kebab.rag.engine import THRESHOLD, judge
from tests.fakes.evidence import hit, page, stored

NOTE = stored("The backup of all documents runs every night at two with restic.")


def test_no_hits_are_no_evidence():
    verdict = judge(page(answerability=0.9))

    assert (verdict.passed, verdict.evidence, verdict.threshold) == (False, 0.0, THRESHOLD)


@pytest.mark.parametrize(
    ("answerability", "passed"), [(THRESHOLD, True), (THRESHOLD - 0.01, False), (1.0, True)]
)
def test_the_answerability_of_the_search_decides(answerability, passed):
    verdict = judge(page(hit(NOTE), answerability=answerability))

    assert (verdict.passed, verdict.evidence) == (passed, answerability)
