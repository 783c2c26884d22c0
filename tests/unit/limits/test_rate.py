import pytest

from kebab.core.progress import Progress, ProgressKind
from kebab.limits.rate import ProcessorTimes, RateMeter, measure_processor_times
from kebab.limits.worker import measure_processor_time
from kebab.platform import is_linux


class Machine:
    """A machine of two processors whose times go on at set rates for each second."""

    def __init__(self, own=2.0, busy=2.0):
        self.now = 1000.0
        self.own, self.busy = own, busy

    def measure(self):
        now = self.now
        return ProcessorTimes(now * self.own, now * self.busy, now * (2 - self.busy))

    def make(self):
        return RateMeter(lambda: self.now, self.measure)


def count(done, total=10_000, unit="files"):
    kind = ProgressKind.ASSET_FINISHED
    return Progress(kind, done=done, total=total, unit=unit)


def run(machine, meter, steps):
    """Return the events of steps of ten seconds with their counts."""
    events = []
    for done in steps:
        events.append(meter.add_estimate(count(done)))
        machine.now += 10
    return events


def test_the_rate_is_that_of_the_last_minute():
    machine = Machine()
    slow, fast = range(0, 100, 10), range(100, 2_000, 200)

    last = run(machine, machine.make(), [*slow, *fast])[-1]

    assert (last.done, last.per_second) == (1_900, 20.0)
    assert last.seconds_left == pytest.approx((10_000 - 1_900) / 20)


def test_the_first_events_of_a_phase_have_no_estimate():
    machine = Machine()
    meter = machine.make()

    first, second = run(machine, meter, [0, 100])
    embedding = meter.add_estimate(count(0, unit="chunks"))

    assert (first.per_second, second.per_second, embedding.per_second) == (None, 10.0, None)


def test_an_unknown_total_has_a_rate_and_no_time():
    machine = Machine()
    meter = machine.make()
    meter.add_estimate(count(0, total=None))
    machine.now += 10

    event = meter.add_estimate(count(5, total=None))

    assert (event.per_second, event.seconds_left) == (0.5, None)


def test_an_event_without_a_count_stays_as_it_is():
    event = Progress(ProgressKind.HEARTBEAT, phase="scan")

    assert Machine().make().add_estimate(event) == event


@pytest.mark.parametrize(
    ("own", "busy", "alone"),
    [
        (0.5, 2.0, 0.25),  # other programs take three quarters of two full processors
        (1.8, 2.0, None),  # nearly alone
        (0.5, 1.0, None),  # a processor has time left over, so nothing waits
        (0.0, 0.0, None),
    ],
)
def test_the_wait_for_other_programs_is_estimated_where_the_processors_are_full(own, busy, alone):
    machine = Machine(own, busy)

    last = run(machine, machine.make(), [0, 1_000])[-1]

    assert last.seconds_left == 90.0
    assert last.seconds_left_alone == (None if alone is None else 90.0 * alone)


def test_without_processor_times_nothing_is_said_of_other_programs():
    machine = Machine()

    last = run(machine, RateMeter(lambda: machine.now, lambda: None), [0, 1_000])[-1]

    assert (last.seconds_left, last.seconds_left_alone) == (90.0, None)


@pytest.mark.skipif(not is_linux(), reason="only Linux tells the times of its processors")
def test_the_times_of_this_machine_contain_those_of_this_process():
    times = measure_processor_times()

    assert times is not None
    assert 0 < times.own <= measure_processor_time()
    assert times.busy > 0
