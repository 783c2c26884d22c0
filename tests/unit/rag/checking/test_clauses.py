import pytest

from kebab.rag.checking.clauses import Clause, Mode, find_contradiction


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
