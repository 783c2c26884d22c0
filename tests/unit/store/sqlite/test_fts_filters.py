import pytest

from kebab.core.queries import Filters
from kebab.store.sqlite.fts import build_chunk_key_query, build_condition, lower_text


def test_no_filter_is_no_condition():
    assert build_condition(Filters()) == ("1", [])


def test_values_are_bound_and_never_part_of_the_sql():
    hostile = "'); DROP TABLE documents; --"
    filters = Filters(
        tag=(hostile,),
        lang=(hostile,),
        media=(hostile,),
        path_glob=hostile,
        source=(hostile,),
        doc_id=hostile,
    )
    sql, values = build_chunk_key_query(filters)
    assert "DROP" not in sql.upper()
    assert sql.count("?") == len(values)


def test_times_are_compared_in_nanoseconds():
    assert build_condition(Filters(since=1.5, until=2)) == (
        "(coalesce(d.date_ns, d.mtime_ns) >= ?) AND (coalesce(d.date_ns, d.mtime_ns) < ?)",
        [1_500_000_000, 2_000_000_000],
    )


@pytest.mark.parametrize(("text", "lowered"), [("ÄÖ", "äö"), ("cafe\u0301", "café"), (None, "")])
def test_text_is_compared_composed_and_without_case(text, lowered):
    assert lower_text(text) == lowered
