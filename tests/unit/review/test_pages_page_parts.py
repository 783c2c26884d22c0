from msgspec import UNSET

from kebab.core.review import Position, StoredPage, StoredUnit, UnitUsage
from kebab.review.pages import (
    build_stats,
    cut_items,
    find_finish,
    list_citations,
    list_warnings,
    sum_usage,
)
from kebab.wire.review import SegmentScore
from tests.fakes.review_store import make_full_result, make_item, make_result, make_units

WHOLE = StoredPage(Position(0, 0), Position(9, 0), forced=False, retries=0)


def make_stored(*results):
    return [StoredUnit(number, 0, make_units()[1], result) for number, result in enumerate(results)]


def test_items_are_cut_at_both_ends():
    units = make_stored(make_result(1, 2), make_result(3), make_result(4, 5))
    page = WHOLE._replace(start=Position(0, 1), end=Position(2, 1))

    assert cut_items(units, page) == [make_item(at) for at in (2, 3, 4)]
    assert cut_items(units[:1], WHOLE) == [make_item(1), make_item(2)]
    within = WHOLE._replace(start=Position(0, 0), end=Position(0, 1))
    assert cut_items(units[:1], within) == [make_item(1)]


def test_usage_is_summed():
    usages = [UnitUsage(requests=2, downshifts=1, dropped=3), UnitUsage(requests=1, repairs=1)]
    found = sum_usage(usages, WHOLE._replace(forced=True, retries=4))

    assert (found.requests, found.downshift_count, found.json_repair_count) == (3, 1, 1)
    assert (found.items_dropped, found.forced_pagination_count) == (3, 1)
    assert found.cursor_retry_count == 4


def test_one_response_that_was_cut_off_counts():
    stop, length = UnitUsage(finish="stop"), UnitUsage(finish="length")

    assert find_finish([]) is None
    assert find_finish([UnitUsage()]) is None
    assert find_finish([stop, UnitUsage()]) == "stop"
    assert find_finish([stop, length, stop]) == "length"


def test_units_with_a_complete_answer_are_counted():
    usages = [
        UnitUsage(),
        UnitUsage(requests=1),
        UnitUsage(requests=2, unanswered=True),
        UnitUsage(requests=1, unusable=True),
    ]

    assert sum_usage(usages, WHOLE).units_answered == 1


def test_warnings_are_sorted_and_follow_from_the_usage():
    usages = [UnitUsage(dropped=1, warnings=("items_over_limit", "unit_incomplete"))]
    usage = sum_usage(usages, WHOLE)

    assert list_warnings(usages, usage, is_stored=False) == [
        "items_dropped",
        "items_over_limit",
        "run_not_stored",
        "unit_incomplete",
    ]
    assert list_warnings([], sum_usage([], WHOLE), is_stored=True) == []


def test_statistics_have_ratings_only_where_there_are_some():
    assert build_stats([], []).segments is UNSET
    found = build_stats([make_item(1)], make_stored(make_full_result()))

    assert found.item_count == 1
    assert found.avg_item_bytes > 100
    assert found.segments == [SegmentScore(cid="s1", score=0.25)]


def test_only_what_the_items_cite_is_listed():
    units = make_stored(make_full_result(), make_full_result())

    assert [one.cid for one in list_citations(units, [make_item(1, cid="c1")])] == ["c1"]
    assert list_citations(units, [make_item(1)]) == []
