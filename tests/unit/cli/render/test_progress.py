import os
import pty

import pytest

from kebab.cli.channels import OutputChannel
from kebab.cli.render.canvas import Canvas
from kebab.cli.render.progress import (
    ProgressBar,
    ProgressLines,
    format_event,
)
from kebab.core.progress import Progress, ProgressKind

READING = Progress(kind=ProgressKind.ASSET_STARTED, path="a\x1b.md", done=1, total=3, unit="files")
FETCHING = Progress(kind=ProgressKind.MODEL_FETCH, done=1_000_000, total=2_000_000, unit="bytes")


@pytest.fixture
def log(tmp_path):
    with (tmp_path / "err").open("wb") as file:
        yield OutputChannel(file.fileno(), "<stderr>"), tmp_path / "err"


@pytest.fixture
def terminal():
    near, far = pty.openpty()
    os.set_blocking(near, False)
    yield near, OutputChannel(far, "<stderr>")
    os.close(near)
    os.close(far)


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (READING, "reading 1/3 files a\ufffd.md"),
        (FETCHING, "fetching model 1.0 MB of 2.0 MB"),
        (
            Progress(kind=ProgressKind.EMBED_BATCH, done=2, total=9, unit="chunks"),
            "embedding 2/9 passages",
        ),
        (Progress(kind=ProgressKind.HEARTBEAT, phase="model"), "looking for an embedding model"),
        (
            Progress(kind=ProgressKind.HEARTBEAT, path="a.md", elapsed_ms=4200),
            "working on a.md, 4.2 s",
        ),
        (Progress(kind=ProgressKind.HEARTBEAT, phase="model", message="words only"), "words only"),
    ],
)
def test_an_event_is_one_plain_line(event, text):
    assert format_event(event) == text


def embedding(done):
    left = (10_000 - done) / 50
    kind = ProgressKind.EMBED_BATCH
    return Progress(
        kind, done=done, total=10_000, unit="chunks", per_second=50.0, seconds_left=left
    )


def test_a_log_gets_a_line_when_something_begins_and_then_one_every_30_seconds(log):
    channel, path = log
    now = [-1.0]
    with ProgressLines(channel, clock=lambda: now[0]) as lines:
        for now[0] in (0.0, 1.0, 29.0, 30.0, 31.0, 59.0, 60.0):
            lines(embedding(1000 + int(now[0] * 50)))
        lines(FETCHING)
        lines(Progress(kind=ProgressKind.COMPLETED))

    assert path.read_text().splitlines() == [
        "embedding 1,000/10,000 passages",
        "search works already; its results get better until this is done",
        "embedding 2,500/10,000 passages, 30.0 s, 50 passages/s, about 2 min left",
        "embedding 4,000/10,000 passages, 1 min 0 s, 50 passages/s, about 2 min left",
        "fetching model 1.0 MB of 2.0 MB",
    ]


def test_heartbeats_of_a_phase_do_not_interrupt_it_and_say_what_is_new(log):
    channel, path = log
    now = [-1.0]
    beat = Progress(kind=ProgressKind.HEARTBEAT, path="a.md", elapsed_ms=9000)
    with ProgressLines(channel, clock=lambda: now[0]) as lines:
        now[0] = 0.0
        lines(READING._replace(done=None, total=None))
        for now[0] in range(1, 61):
            lines(beat)

    assert path.read_text().splitlines() == [
        "reading a\ufffd.md",
        "working on a.md, 30.0 s",
        "working on a.md, 1 min 0 s",
    ]


def shown(near):
    """Return all that the terminal was sent so far."""
    parts = []
    while True:
        try:
            parts.append(os.read(near, 65_536))
        except BlockingIOError:
            return b"".join(parts).decode()


def test_a_bar_appears_after_a_second_and_is_removed(terminal):
    near, channel = terminal
    now = [0.0]
    with ProgressBar(channel, Canvas(width=80), lambda: now[0]) as bar:
        bar(Progress(kind=ProgressKind.SCAN_STARTED))
        first = shown(near)
        now[0] = 1.0
        bar(Progress(kind=ProgressKind.SCAN_STARTED))
        bar(READING._replace(per_second=12.34, seconds_left=9.2))
        bar(Progress(kind=ProgressKind.HEARTBEAT, message="words only"))
        bar.announce_stop()
        bar.finish(0, cancelled=False)
    last = shown(near)

    assert first == ""
    assert "reading" in last
    assert "12.3 files/s, about 9 s left" in last
    assert "words only" in last
    assert last.endswith("\x1b[1A\x1b[2K")
