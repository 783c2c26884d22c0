from kebab.core.queries import Filters


def test_filters_are_active_once_any_condition_is_set():
    assert not Filters().active
    assert Filters(since=0.0).active
    assert Filters(tag=("a",)).active
