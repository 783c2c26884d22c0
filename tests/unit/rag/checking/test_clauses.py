import json
from collections import Counter
from pathlib import Path

import pytest

from kebab.core.answers import Evidence
from kebab.rag.checking.clauses import (
    Clause,
    Mode,
    find_contradiction,
    may_deny,
    split_clauses,
    split_eastern,
    split_western,
)
from kebab.rag.checking.support import IndexedEvidence, check_support, parse_claim
from tests.fakes.evidence import stored


def clause(terms, denied="", **fields):
    words = frozenset(terms.split())
    given = {"terms": words, "context": words, "is_denied": bool(denied), "word": denied}
    return Clause(**{**given, "denied": frozenset(denied.split()), **fields})


RUNS = clause("pump run cellar")
STOPS = clause("pump run cellar", "run")


@pytest.mark.parametrize(
    ("claim", "other", "expected"),
    [
        (RUNS, STOPS, "run"),
        (STOPS, RUNS, "run"),
        (RUNS, RUNS, None),
        (STOPS, STOPS, None),
        (RUNS, clause("fan blow", "blow"), None),
        (RUNS, clause("pump", "run"), None),
        (RUNS, clause("pump run cellar", "run", condition=frozenset(["night"])), None),
        (RUNS, clause("pump run cellar", "run", mode=Mode.CAN), "run"),
        (RUNS, clause("pump run cellar", "run", mode=Mode.NEED), None),
        (clause("pump run", mode=Mode.CAN), clause("pump run", "run"), None),
        (clause("a run", predicate=frozenset("r")), clause("a run", "run"), None),
        (clause("pump run", "run", scope=frozenset(["run", "attic"])), RUNS, None),
        (clause("run"), clause("run", "run", context=frozenset(["fan", "run"])), "run"),
        (clause("run", context=frozenset(["fan", "run"])), clause("run pump", "run"), None),
    ],
)
def test_clauses_contradict_each_other_when_one_denies_what_the_other_affirms(
    claim, other, expected
):
    assert find_contradiction([claim], [other]) == expected


def test_a_passage_that_also_agrees_is_no_contradiction():
    assert find_contradiction([RUNS], [STOPS, RUNS]) is None
    assert find_contradiction([STOPS], [RUNS, STOPS]) is None


def test_a_pronoun_stands_for_a_word_of_the_passage():
    other = clause("run", "run", is_pronominal=True)

    assert find_contradiction([RUNS], [other], {"pump", "cellar"}) == "run"
    assert find_contradiction([RUNS], [other], {"fan"}) is None


def describe(sentence):
    return [(one.is_denied, one.mode) for one in split_eastern(sentence)]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("파일은 삭제됩니다.", [(False, Mode.PLAIN)]),
        ("파일은 삭제되지 않습니다.", [(True, Mode.PLAIN)]),
        ("파일을 삭제할 수 있습니다.", [(False, Mode.CAN)]),
        ("파일을 삭제할 수 없습니다.", [(True, Mode.CAN)]),
        ("파일을 삭제하면 안 됩니다.", [(True, Mode.CAN)]),
        ("파일을 삭제해야 합니다.", [(False, Mode.NEED)]),
        ("파일을 삭제하지 않아도 됩니다.", [(True, Mode.NEED)]),
        ("파일을 삭제할 필요가 없습니다.", [(True, Mode.NEED)]),
        ("파일은 삭제되지 않지만 폴더는 삭제됩니다.", [(True, Mode.PLAIN), (False, Mode.PLAIN)]),
        ("관리자만 파일을 삭제합니다.", []),
        ("文件会被删除。", [(False, Mode.PLAIN)]),
        ("文件不会被删除。", [(True, Mode.PLAIN)]),
        ("文件无法删除。", [(True, Mode.CAN)]),
        ("文件可以删除。", [(False, Mode.CAN)]),
        ("无需删除文件。", [(True, Mode.NEED)]),
        ("必须删除文件。", [(False, Mode.NEED)]),
        ("不得不删除文件。", [(False, Mode.NEED)]),
        ("不仅删除文件。", [(False, Mode.PLAIN)]),
        ("只有管理员删除文件。", []),
        ("ファイルは削除されます。", [(False, Mode.PLAIN)]),
        ("ファイルは削除されません。", [(True, Mode.PLAIN)]),
        ("ファイルは削除できません。", [(True, Mode.CAN)]),
        ("ファイルを削除する必要はありません。", [(True, Mode.NEED)]),
    ],
)
def test_the_form_of_a_clause_says_what_it_denies(sentence, expected):
    assert describe(sentence) == expected


@pytest.mark.parametrize(
    ("sentence", "condition"),
    [
        ("포트가 열리면 서버가 시작됩니다.", {"포트", "열리"}),
        ("설치하지 않고 실행합니다.", {"설치"}),
        ("토큰 없이 요청을 보냅니다.", {"토큰"}),
        ("没有网络也搜索。", {"网", "络"}),
        ("如果关闭，文件保留。", {"如", "果", "关", "闭"}),
    ],
)
def test_conditions_and_circumstances_are_kept_apart(sentence, condition):
    assert [set(one.condition) for one in split_eastern(sentence)] == [condition]


def test_the_predicate_is_the_last_term():
    (clause,) = split_eastern("오래된 파일은 매일 밤 삭제됩니다.")

    assert clause.predicate == {"삭제"}


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


def test_a_claim_without_a_contradiction_is_not_called_one():
    assert [one for one in PAIRS if not one["contradicts"] and contradicts(one)] == []


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


def test_a_sentence_that_denies_something_may_deny_it():
    for sentence in (pair[side] for pair in PAIRS for side in ("claim", "passage")):
        clauses = split_clauses([sentence])
        assert may_deny(sentence) or not any(clause.is_denied for clause in clauses), sentence


@pytest.mark.parametrize(
    "unit", ["not ", "no, ", "지 않고 ", "不", "않으면 ", "if not ", "ず、", "("]
)
def test_hostile_sentences_are_split_completely(unit):
    split_clauses([unit * (4_000 // len(unit))])


def list_denied(sentence):
    return [one.word for one in split_western(sentence) if one.is_denied]


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("It was not painted.", ["painted"]),
        ("It didn't run.", ["run"]),
        ("No nation attacked.", ["nation"]),
        ("It runs, but it does not stop.", ["stop"]),
        ("It is no longer supported.", ["supported"]),
        ("It fails to start.", ["start"]),
        ("Guests are refused.", ["refused"]),
        ("Das Haus ist nicht blau.", ["blau"]),
        ("It is not only blue.", []),
        ("It is not retried more than twice.", []),
        ("It cannot be disabled.", []),
        ("Only guests do not pay.", []),
        ("Run it without installing it.", []),
        ("Yes or no, it runs.", []),
        ("It runs.", []),
    ],
)
def test_negations_deny_the_next_content_word(sentence, words):
    assert list_denied(sentence) == words


def test_conditions_are_kept_apart():
    (clause,) = split_western("It does not start if the port is busy.")

    assert clause.condition == {"port", "busi"}
    assert clause.is_pronominal


@pytest.mark.parametrize(
    ("sentence", "mode"),
    [
        ("It can be removed.", Mode.CAN),
        ("It cannot be removed.", Mode.CAN),
        ("Guests must not smoke.", Mode.CAN),
        ("A key is required.", Mode.NEED),
        ("You have to wait.", Mode.NEED),
        ("They have cats.", Mode.PLAIN),
        ("It runs.", Mode.PLAIN),
    ],
)
def test_a_clause_says_that_it_is_can_be_or_has_to_be_so(sentence, mode):
    assert [one.mode for one in split_western(sentence)] == [mode]


def test_a_short_beginning_belongs_to_what_follows():
    (clause,) = split_western("By default, files are not kept.")

    assert clause.terms == {"default", "file", "kept"}
