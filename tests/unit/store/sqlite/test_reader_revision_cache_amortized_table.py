import pytest

from kebab.store.sqlite.reader import AmortizedTable


class Store:
    """A table that costs `cost` seconds to build, and a clock that queries without it advance."""

    def __init__(self, cost):
        self.now = 0.0
        self.built = 0
        self.table = AmortizedTable(self.build, lambda: cost, lambda: self.now)

    def build(self):
        self.built += 1
        return "table"

    def query(self, seconds):
        """Return what answered a query that takes so long without the table."""

        def read():
            self.now += seconds
            return "rows"

        return self.table.query(lambda table: table, read)


def test_it_is_built_once_queries_without_it_have_cost_as_much():
    store = Store(cost=2.0)
    assert [store.query(1.5), store.query(0.5)] == ["rows", "rows"]
    assert [store.query(1.0), store.query(1.0), store.built] == ["table", "table", 1]


def test_a_table_without_cost_is_not_built_before_the_second_query():
    store = Store(cost=0.0)
    assert (store.query(0.1), store.built) == ("rows", 0)
    assert store.query(0.1) == "table"


def test_the_time_of_a_query_that_failed_counts():
    store = Store(cost=1.0)

    def fail():
        store.now += 1.0
        raise KeyError

    with pytest.raises(KeyError):
        store.table.query(str, fail)
    assert store.query(1.0) == "table"
