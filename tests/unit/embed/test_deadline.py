import threading
from types import SimpleNamespace

from kebab.embed.deadline import Deadline

SHORT, LONG = 100, 600_000


class Options(SimpleNamespace):
    """Run options that tell when they were terminated."""

    def __init__(self):
        super().__init__(told=threading.Event())

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if (name, value) == ("terminate", True):
            self.told.set()


def overruns(deadline, options):
    with deadline.limit(options):
        return options.told.wait(10)


def watchers():
    return sum(thread.name == "embed-deadline" for thread in threading.enumerate())


def test_what_takes_too_long_is_terminated_each_time():
    deadline = Deadline(SHORT)

    assert all(overruns(deadline, Options()) for _ in range(3))


def test_what_ends_in_time_is_left_alone():
    deadline, early, late = Deadline(SHORT), Options(), Options()

    with deadline.limit(late):
        with deadline.limit(early):
            pass
        assert late.told.wait(10)

    assert not early.told.is_set()


def test_runs_side_by_side_are_each_terminated():
    deadline, first, second = Deadline(SHORT), Options(), Options()

    with deadline.limit(first), deadline.limit(second):
        assert first.told.wait(10)
        assert second.told.wait(10)


def test_one_thread_watches_all_runs():
    before, deadline = watchers(), Deadline(LONG)

    for _ in range(5):
        with deadline.limit(Options()):
            pass

    assert watchers() == before + 1


def test_without_a_bound_nothing_watches():
    before = watchers()

    with Deadline(0).limit(Options()):
        assert watchers() == before
