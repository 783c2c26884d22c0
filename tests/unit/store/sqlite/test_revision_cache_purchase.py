import pytest

from kebab.store.sqlite.revision_cache import AmortizedTable


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def fail(self, after):
        self.now += after
        raise KeyError


def bought(price):
    made = []
    clock = Clock()

    def make():
        made.append("made")
        return len(made)

    return AmortizedTable(make, lambda: price, clock), clock, made


def rent(purchase, clock, seconds):
    with purchase._measure():
        clock.now += seconds


def test_it_is_made_once_renting_has_cost_as_much():
    purchase, clock, made = bought(price=2.0)
    rent(purchase, clock, 1.5)
    assert purchase.get() is None
    rent(purchase, clock, 0.5)
    assert (purchase.get(), purchase.get(), made) == (1, 1, ["made"])


def test_what_costs_nothing_is_not_made_for_who_never_asked():
    purchase, clock, made = bought(price=0.0)
    assert (purchase.get(), made) == (None, [])
    rent(purchase, clock, 0.1)
    assert purchase.get() == 1


def test_time_counts_that_ended_in_a_fault():
    purchase, clock, _ = bought(price=1.0)
    with pytest.raises(KeyError), purchase._measure():
        clock.fail(after=1.0)
    assert purchase.get() == 1
