import json
from collections import Counter
from pathlib import Path

import pytest

from kebab.core.answers import Evidence
from kebab.rag.checking.clauses import find_contradiction, may_deny, split_clauses
from kebab.rag.checking.support import IndexedEvidence, check_support, parse_claim
from tests.fakes.evidence import stored

PAIRS = [
    json.loads(line)
    for line in (Path(__file__).parents[3] / "cases" / "negation" / "pairs.jsonl")
    .read_text("utf-8")
    .splitlines()
]


def contradicts(pair):
    passage = Evidence(marker=1, chunk=stored(pair["passage"], title="T"), text=pair["passage"])
    result = check_support(parse_claim(pair["claim"]), [IndexedEvidence(passage)])
    return (result.reason or "").startswith("contradicted")


def find(claim, *passage):
    return find_contradiction(split_clauses([claim]), split_clauses(passage))


def test_claims_of_real_answers_are_judged_clause_by_clause():
    stated = [(pair, find(pair["claim"], pair["passage"]) is not None) for pair in PAIRS]
    accused = [pair["claim"] for pair, found in stated if found and not pair["contradicts"]]
    counts = Counter(found for pair, found in stated if pair["contradicts"])

    assert len(PAIRS) >= 150
    assert accused == []
    assert counts[True] >= 0.88 * counts.total()


@pytest.mark.parametrize("pair", [one for one in PAIRS if not one["contradicts"]])
def test_a_claim_without_a_contradiction_is_not_called_one(pair):
    assert not contradicts(pair)


@pytest.mark.parametrize(
    ("claim", "passage", "expected"),
    [
        ("It was painted.", ["It was never painted."], "painted"),
        ("It was not painted.", ["It was painted."], "painted"),
        ("It was not painted.", ["It was never painted."], None),
        ("It was painted.", ["It was not painted.", "Later it was painted."], None),
        ("It was blue.", ["It was not painted."], None),
        ("펌프는 지하실에 설치되지 않았다", ["펌프는 지하실에 설치되었다"], "지 않"),
        ("펌프는 설치되지 않았다", ["펌프는 설치되지 않았다"], None),
        ("東京駅は大きい建物ではない。", ["東京駅は大きい建物である。"], "ではあり"),
        ("東京駅は大きい建物です。", ["東京駅は大きい建物である。"], None),
        ("水泵没有上漆。", ["水泵已经上漆。"], "没有"),
    ],
)
def test_what_one_side_denies_and_the_other_affirms_is_a_contradiction(claim, passage, expected):
    found = find(claim, *passage)

    assert (found is None) is (expected is None)


@pytest.mark.parametrize("pair", PAIRS)
def test_a_sentence_that_denies_something_may_deny_it(pair):
    for sentence in (pair["claim"], pair["passage"]):
        clauses = split_clauses([sentence])
        assert may_deny(sentence) or not any(clause.is_denied for clause in clauses)


@pytest.mark.parametrize(
    "unit", ["not ", "no, ", "지 않고 ", "不", "않으면 ", "if not ", "ず、", "("]
)
def test_hostile_sentences_are_split_completely(unit):
    split_clauses([unit * (4_000 // len(unit))])
