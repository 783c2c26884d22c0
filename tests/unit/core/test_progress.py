import time
from typing import get_args

from kebab.core.progress import Heartbeat, ProgressKind
from kebab.wire.ingest import EventKind


def test_every_kind_of_event_has_a_wire_kind():
    assert {kind.value for kind in ProgressKind} == set(get_args(EventKind))


def wait_for(beats, count):
    give_up = time.monotonic() + 10
    while len(beats) < count and time.monotonic() < give_up:
        time.sleep(0.001)


def test_a_heartbeat_repeats_while_the_context_is_open():
    beats: list[int] = []

    with Heartbeat(lambda: beats.append(1), 0.001):
        wait_for(beats, 3)
    after = len(beats)
    time.sleep(0.01)

    assert after >= 3
    assert len(beats) == after


def test_it_can_be_stopped_from_within_a_beat():
    beats: list[int] = []

    def beat():
        beats.append(1)
        heartbeat.stop()

    with (heartbeat := Heartbeat(beat, 0.001)):
        wait_for(beats, 1)
        time.sleep(0.01)

    assert heartbeat.stopped
    assert len(beats) == 1
