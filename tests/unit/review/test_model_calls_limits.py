import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.core.review import UnitResult
from kebab.review.model_calls import (
    LIMITS,
    Limit,
    ask_with_limits,
    choose_limits,
    compute_density,
    estimate_tokens_needed,
)
from kebab.wire.review import AgentItem

ITEM = AgentItem(uid="0" * 40, k="spelling", s="error", r="x", t="note", i=(0, 0), o=(0, 1))


@pytest.mark.parametrize(
    ("tier", "sentences", "density", "tokens"),
    [
        ("quick", 4, None, 900),
        ("quick", 40, 0.5, 900),
        ("quick", 48, 0.5, 1040),
        ("quick", 48, 9.0, 1040),
        ("quick", 48, -1.0, 900),
        ("quick", 1000, None, 1600),
        ("deep", 4, 0.5, 1400),
        ("deep", 50, 0.5, 1580),
        ("deep", 1000, None, 2200),
    ],
)
def test_the_need_of_tokens_is_predicted_from_the_density(tier, sentences, density, tokens):
    assert estimate_tokens_needed(tier, sentences, density) == tokens


@pytest.mark.parametrize("tier", ["quick", "deep"])
@given(st.integers(1, 500), st.none() | st.floats(allow_nan=False))
def test_the_smaller_of_table_and_estimate_holds_and_limits_only_fall(tier, sentences, density):
    limits = choose_limits(tier, sentences, density)
    need = estimate_tokens_needed(tier, sentences, density)

    assert [one.items for one in limits] == [one.items for one in LIMITS[tier]]
    for limit, row in zip(limits, LIMITS[tier], strict=True):
        assert limit.tokens == min(row.tokens, need)
    assert sorted(limits, reverse=True) == list(limits)


def test_the_density_counts_the_findings_of_finished_units():
    results = [(3, UnitResult(items=(ITEM,), carried=(ITEM,))), (5, UnitResult())]

    assert compute_density(results) == 0.25
    assert compute_density([]) is None


LADDER = (Limit(3, 30), Limit(2, 20), Limit(1, 10))


def climb(parts, answers, otherwise="cut"):
    """Return what was asked, and the outcome; `answers` says which requests are complete."""
    asked = []

    def ask(part, limit):
        asked.append(("".join(part), limit.items))
        return "complete" if answers("".join(part), limit) else otherwise

    return asked, ask_with_limits(parts, LADDER, ask)


def test_a_complete_answer_needs_one_request():
    assert climb("abc", lambda part, limit: True) == ([("abc", 3)], ("first", True))


def test_a_cut_off_is_followed_by_lower_limits():
    assert climb("abc", lambda part, limit: limit.items < 2) == (
        [("abc", 3), ("abc", 2), ("abc", 1)],
        ("downshift", True),
    )


def test_after_the_lowest_limit_the_parts_are_halved():
    asked, outcome = climb("abcd", lambda part, limit: len(part) == 1)

    assert asked[3:] == [(part, 1) for part in ("ab", "a", "b", "cd", "c", "d")]
    assert outcome == ("split", True)


def test_a_broken_answer_costs_no_lower_limit():
    asked, outcome = climb("abcd", lambda part, limit: len(part) == 1, "broken")

    assert asked == [(part, 3) for part in ("abcd", "ab", "a", "b", "cd", "c", "d")]
    assert outcome == ("split", True)


def test_a_broken_answer_about_one_part_is_not_exhausted():
    assert climb("a", lambda part, limit: False, "broken") == ([("a", 3)], ("first", False))
    assert climb("a", lambda part, limit: False)[1] == ("paged", False)


def test_an_unusable_answer_is_not_asked_for_again():
    assert climb("abc", lambda part, limit: False, "unusable") == ([("abc", 3)], ("first", False))


@given(st.integers(1, 9), st.sets(st.integers(0, 8)), st.integers(1, 9))
def test_every_part_is_asked_alone_or_answered_and_the_end_is_reached(count, broken, fits):
    parts = list(range(count))
    asked = []
    answered: set[int] = set()

    def ask(part, limit):
        asked.append((tuple(part), limit))
        complete = len(part) <= fits and not broken.intersection(part)
        answered.update(part if complete else ())
        return "complete" if complete else "cut"

    policy, is_complete = ask_with_limits(parts, LADDER, ask)

    given_up = set(parts) - answered
    assert given_up == broken.intersection(parts)
    assert (policy == "paged") == bool(given_up) == (not is_complete)
    assert len(asked) <= 3 + 2 * count
    limits = [limit for _, limit in asked]
    assert limits == sorted(limits, reverse=True)
