import time

import pytest

from kebab.core.cancel import Cancel
from kebab.core.progress import Progress, ProgressKind
from kebab.embed.contest import Contest, Limits, Watch
from kebab.embed.models import MINILM
from kebab.embed.offer import Offer
from kebab.errors.catalog import Cancelled

LIMITS = Limits(answer=1.0, start=1.0, stall=0.6)

GIVES = "print('alive', flush=True); open('file', 'w').write('x' * 100)"
REFUSES = "raise SystemExit('ERROR: no such thing')"
SILENT = "print('hello', flush=True); import time; time.sleep(60)"
STALLS = "print('alive', flush=True); import time; time.sleep(60)"
BREAKS = "print('alive', flush=True); raise SystemExit('ERROR: cut off')"
SLOW = "import time; time.sleep(0.5); print('alive', flush=True); open('slow', 'w').write('x')"


def offer(label, program):
    return Offer(
        model=MINILM,
        kind="package",
        label=label,
        source=label,
        arguments=("-c", program),
        environment={},
        life="^alive",
        telling=("^ERROR",),
        size=100,
    )


def contest(tmp_path, *programs, events=None, cancel=None):
    offers = [offer(str(number), program) for number, program in enumerate(programs)]
    report = (lambda event: None) if events is None else events.append
    return Contest(offers, tmp_path, LIMITS, Watch(report, cancel or Cancel()))


def test_the_first_that_gives_wins(tmp_path):
    found = contest(tmp_path, GIVES, GIVES).winner()

    assert found is not None
    assert found[0].label == "0"
    assert (found[1] / "file").read_text() == "x" * 100


def test_the_order_decides_when_a_later_one_is_quicker(tmp_path):
    found = contest(tmp_path, SLOW, GIVES).winner()

    assert found is not None
    assert found[0].label == "0"


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (REFUSES, "ERROR: no such thing"),
        (BREAKS, "ERROR: cut off"),
        (SILENT, "no answer within 1."),
        (STALLS, "nothing arrived for 1 s"),
    ],
)
def test_the_next_takes_over_from_one_that_fails(tmp_path, program, reason):
    run = contest(tmp_path, program, GIVES)
    found = run.winner()

    assert found is not None
    assert found[0].label == "1"
    assert (found[1] / "file").exists()
    assert [refusal.label for refusal in run.refusals] == ["0"]
    assert run.refusals[0].reason.startswith(reason)


def test_when_all_fail_every_reason_is_told(tmp_path):
    run = contest(tmp_path, REFUSES, BREAKS)

    assert run.winner() is None
    assert [refusal.reason for refusal in run.refusals] == [
        "ERROR: no such thing",
        "ERROR: cut off",
    ]


def test_silent_sources_wait_at_the_same_time(tmp_path):
    started = time.monotonic()

    assert contest(tmp_path, SILENT, SILENT, SILENT).winner() is None
    assert time.monotonic() - started < 2 * LIMITS.start


def test_a_download_reports_its_bytes(tmp_path):
    events: list[Progress] = []
    slow = (
        "import time; print('alive', flush=True); open('file', 'w').write('x' * 60);"
        "time.sleep(0.55); open('file2', 'w').write('x' * 40); time.sleep(0.55)"
    )
    contest(tmp_path, slow, events=events).winner()

    assert {event.kind for event in events} == {ProgressKind.MODEL_FETCH}
    told = [(event.done, event.total, event.unit) for event in events if event.phase == "download"]
    assert (60, 100, "bytes") in told
    assert (100, 100, "bytes") in told


def test_a_cancelled_contest_stops_its_children(tmp_path):
    cancel = Cancel()
    cancel.request()
    run = contest(tmp_path, SILENT, SILENT, cancel=cancel)

    with pytest.raises(Cancelled):
        run.winner()

    assert run._running == {}
