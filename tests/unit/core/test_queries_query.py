from kebab.core.queries import Filters


def test_filters_are_active_once_any_condition_is_set():
    assert not Filters().is_active
    assert Filters(since=0.0).is_active
    assert Filters(tag=("a",)).is_active
