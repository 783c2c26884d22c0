from dataclasses import replace

import pytest

from kebab.rag.gate import THRESHOLD, judge
from tests.fakes.evidence import hit, page, stored

NOTE = stored("The backup of all documents runs every night at two with restic.")


def judged(score, asked, cosine=None, **fields):
    found = hit(NOTE, score=score)
    evidence = replace(found.evidence, vector_score=cosine, **fields)
    return judge(page(replace(found, evidence=evidence), asked=asked))


def test_no_hits_are_no_evidence():
    verdict = judge(page())
    assert (verdict.passed, verdict.evidence, verdict.threshold) == (False, 0.0, THRESHOLD)


@pytest.mark.parametrize(
    ("score", "asked", "cosine", "passed"),
    [
        (0.55, {"backup": 2.0, "run": 2.0}, None, True),
        (0.2, {"backup": 1.0, "volcano": 4.0, "jupit": 4.0}, None, False),
        (0.6, {"backup": 2.0, "run": 2.0}, 0.6, True),
        (0.15, {"backup": 1.0, "volcano": 4.0, "jupit": 4.0}, 0.2, False),
        (0.35, {"save": 2.0, "nightli": 2.0}, 0.7, True),
    ],
)
def test_words_and_meaning_decide_together(score, asked, cosine, passed):
    assert judged(score, asked, cosine).passed is passed


def test_without_lexical_evidence_meaning_has_to_be_closer():
    asked = {"save": 2.0, "nightli": 2.0}
    far = judged(0.4, asked, 0.45, lexical_score=None)
    near = judged(0.4, asked, 0.7, lexical_score=None)
    assert (far.passed, near.passed) == (False, True)


@pytest.mark.parametrize("cosine", [None, 0.5])
def test_evidence_rises_with_everything_that_it_is_made_of(cosine):
    asked = {"backup": 1.0, "volcano": 2.0}
    weak = judged(0.3, asked, cosine)
    assert 0.0 < weak.evidence < 1.0
    assert judged(0.4, asked, cosine).evidence > weak.evidence
    assert judged(0.3, {"backup": 1.0, "volcano": 1.0}, cosine).evidence > weak.evidence
    if cosine is not None:
        assert judged(0.3, asked, cosine + 0.1).evidence > weak.evidence


@pytest.mark.parametrize("score", [0.0, 1.0])
def test_extreme_scores_are_no_error(score):
    assert 0.0 <= judged(score, {"backup": 1.0}).evidence <= 1.0


def test_what_headings_say_counts_for_the_passage():
    chunk = stored("Every night at two.", heading_path=("Backups",), title="Volcano")
    asked = {"backup": 2.0, "volcano": 2.0}
    bare = judge(page(hit(stored("Every night at two."), score=0.4), asked=asked))
    assert judge(page(hit(chunk, score=0.4), asked=asked)).evidence > bare.evidence
