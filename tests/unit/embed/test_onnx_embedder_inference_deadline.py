import threading
import time
from types import SimpleNamespace

from kebab.embed.onnx_embedder import Deadline, RunTime
from kebab.limits.deadline import WALL_FACTOR

SHORT, LONG = 100, 600_000


class Options(SimpleNamespace):
    """Run options that tell when they were terminated."""

    def __init__(self):
        super().__init__(told=threading.Event())

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if (name, value) == ("terminate", True):
            self.told.set()


def work(options, run_time, seconds=60.0):
    """Need processor time until terminated; return how much was needed."""
    began = time.thread_time()
    with run_time.measure():
        while not options.told.is_set() and time.thread_time() - began < seconds:
            sum(range(1000))
    return time.thread_time() - began


def overruns(deadline, options):
    run_time = RunTime()
    with deadline.limit(options, run_time):
        work(options, run_time)
    return options.told.is_set()


def watchers():
    return sum(thread.name == "embed-deadline" for thread in threading.enumerate())


def test_what_takes_too_long_is_terminated_each_time():
    deadline = Deadline(SHORT)

    assert all(overruns(deadline, Options()) for _ in range(3))


def test_waiting_for_other_programs_does_not_count():
    options = Options()

    with Deadline(SHORT).limit(options, RunTime()):
        assert not options.told.wait(4 * SHORT / 1000)


def test_what_hangs_is_terminated():
    options, began = Options(), time.monotonic()

    with Deadline(SHORT).limit(options, RunTime()):
        assert options.told.wait(60)

    assert time.monotonic() - began >= WALL_FACTOR * SHORT / 1000


def test_the_time_of_all_threads_of_a_run_counts():
    options, run_time = Options(), RunTime()
    threads = [threading.Thread(target=work, args=(options, run_time)) for _ in range(2)]

    with Deadline(SHORT, threads=2).limit(options, run_time):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert options.told.is_set()
    assert run_time.read() >= SHORT / 1000


def test_a_thread_is_asked_while_it_works():
    options, run_time = Options(), RunTime()
    thread = threading.Thread(target=work, args=(options, run_time))
    thread.start()
    try:
        while run_time.read() < 0.02:
            time.sleep(0.001)
    finally:
        options.told.set()
        thread.join()

    ended = run_time.read()
    sum(range(1_000_000))
    assert run_time.read() == ended >= 0.02


def test_what_ends_in_time_is_left_alone():
    deadline, early, late, run_time = Deadline(SHORT), Options(), Options(), RunTime()

    with deadline.limit(late, run_time):
        with deadline.limit(early, RunTime()):
            pass
        work(late, run_time)

    assert late.told.is_set()
    assert not early.told.is_set()


def test_runs_side_by_side_are_each_terminated():
    deadline, first, second, run_time = Deadline(SHORT), Options(), Options(), RunTime()

    with deadline.limit(first, run_time), deadline.limit(second, run_time):
        work(first, run_time)
        assert first.told.wait(10)
        assert second.told.wait(10)


def test_one_thread_watches_all_runs():
    before, deadline = watchers(), Deadline(LONG)

    for _ in range(5):
        with deadline.limit(Options(), RunTime()):
            pass

    assert watchers() == before + 1


def test_without_a_bound_nothing_watches():
    before = watchers()

    with Deadline(0).limit(Options(), RunTime()):
        assert watchers() == before
