import time
from typing import TYPE_CHECKING

from kebab.bench.run import ProgressReporter

if TYPE_CHECKING:
    from kebab.wire.evals import BenchProgress


def test_progress_reports_the_step_and_the_elapsed_time():
    times = iter([10.0, 12.5, 13.0])
    events: list[BenchProgress] = []
    progress = ProgressReporter(events.append, clock=lambda: next(times))

    progress.report("search", 1, 9)

    assert [(one.name, one.done, one.total, one.elapsed_ms) for one in events] == [
        ("search", 1, 9, 2500)
    ]
    assert progress.get_elapsed_ms() == 3000


def test_a_long_step_is_reported_again():
    events: list[BenchProgress] = []
    progress = ProgressReporter(events.append)

    with progress.repeat(0.001):
        progress.report("ingest", 0, 1)
        give_up = time.monotonic() + 10
        while len(events) < 3 and time.monotonic() < give_up:
            time.sleep(0.001)

    assert {one.name for one in events[1:]} <= {"ingest", "start"}
    assert len(events) >= 3
