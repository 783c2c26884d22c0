import pytest

from kebab.errors.catalog import InvalidInput
from kebab.evals.run import CompareOptions, compare_reports
from kebab.wire.record import encode_json
from tests.fakes.outcomes import mode, nothing, outcome, report


@pytest.fixture
def compare(tmp_path):
    def run(before, after, **options):
        for name, one in (("a.json", before), ("b.json", after)):
            (tmp_path / name).write_bytes(encode_json(one))
        return compare_reports(tmp_path / "a.json", tmp_path / "b.json", CompareOptions(**options))

    return run


def ranks(*found, **changes):
    return mode(*(outcome(str(at), rank) for at, rank in enumerate(found)), nothing("x"), **changes)


def test_questions_are_won_lost_and_tied(compare):
    reply = compare(report(ranks(1, 2, None, 4)), report(ranks(1, 1, 2, None)))

    (pair,) = reply.pairs
    assert (pair.wins, pair.losses, pair.ties) == (2, 1, 1)
    assert pair.difference == pytest.approx((0 + 0.5 + 0.5 - 0.25) / 4)
    assert pair.b - pair.a == pytest.approx(pair.difference)
    assert pair.low <= pair.difference <= pair.high


def test_changes_are_listed_with_the_largest_first(compare):
    (pair,) = compare(report(ranks(3, None, 1)), report(ranks(2, 1, None))).pairs

    assert [(one.id, one.rank_a, one.rank_b) for one in pair.better] == [
        ("1", None, 1),
        ("0", 3, 2),
    ]
    assert [(one.id, one.difference) for one in pair.worse] == [("2", -1)]


def test_a_report_has_no_difference_from_itself(compare):
    same = report(ranks(1, 2, None))

    (pair,) = compare(same, same).pairs
    assert (pair.wins, pair.losses, pair.difference, pair.p_value) == (0, 0, 0, 1)


def test_a_change_of_every_question_is_significant(compare):
    (pair,) = compare(report(ranks(*[2] * 30)), report(ranks(*[1] * 30))).pairs

    assert pair.p_value < 0.001


def test_shared_modes_are_compared_by_every_selected_metric(compare):
    before = report(ranks(1), ranks(2, mode="lexical"))
    after = report(ranks(1, mode="vector"), ranks(1, mode="lexical"))

    pairs = compare(before, after, metrics=("hit@1", "ndcg@10")).pairs

    assert [(one.mode_a, one.metric, one.wins) for one in pairs] == [
        ("lexical", "hit@1", 1),
        ("lexical", "ndcg@10", 1),
    ]


def test_modes_of_one_report_are_compared(compare):
    both = report(ranks(2), ranks(1, mode="lexical"))

    (pair,) = compare(both, both, modes=("hybrid",), against="lexical").pairs
    assert (pair.mode_a, pair.mode_b, pair.wins) == ("hybrid", "lexical", 1)


@pytest.mark.parametrize(
    ("after", "options", "words"),
    [
        (report(ranks(1), digest="e" * 64), {}, "another golden set"),
        (report(ranks(1)), {"modes": ("vector",)}, "`vector` was not measured"),
        (report(ranks(1)), {"against": "vector"}, "`vector` was not measured"),
        (report(ranks(1, mode="vector")), {}, "no mode in common"),
        (report(ranks(1, 2)), {}, "each question"),
        (report(mode(nothing("0"))), {}, "each question"),
    ],
)
def test_incomparable_reports_are_refused(compare, after, options, words):
    with pytest.raises(InvalidInput) as caught:
        compare(report(ranks(1)), after, **options)

    assert words in caught.value.cause
    assert caught.value.field.endswith(".json")
