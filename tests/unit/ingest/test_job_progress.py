from kebab.core.progress import Progress, ProgressKind
from kebab.ingest.job import HEARTBEAT_INTERVAL_S, ProgressReporter


class HandClock:
    def __init__(self):
        self.time = 100.0

    def now(self):
        return self.time

    def monotonic(self):
        return self.time


def test_a_heartbeat_is_sent_only_after_a_time_without_events():
    clock = HandClock()
    events: list[Progress] = []
    reporter = ProgressReporter(events.append, clock)

    reporter.send_heartbeat("scan")
    clock.time += HEARTBEAT_INTERVAL_S
    reporter.send_heartbeat("scan")
    reporter.send_heartbeat("scan")
    clock.time += HEARTBEAT_INTERVAL_S / 2
    reporter.send(ProgressKind.EMBED_BATCH)
    clock.time += HEARTBEAT_INTERVAL_S / 2
    reporter.send_heartbeat("scan")

    assert [event.kind for event in events] == [ProgressKind.HEARTBEAT, ProgressKind.EMBED_BATCH]
    assert events[0].phase == "scan"
