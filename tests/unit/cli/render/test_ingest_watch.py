import re

import pytest

from kebab.app.classify import build_error_reply
from kebab.cli.render.canvas import Canvas
from kebab.cli.render.ingest import render_watch_event
from kebab.errors.catalog import IoError, Locked
from kebab.wire.stream import WatchEvent
from tests.fakes import replies


def drawn(event):
    return [re.sub(r"^\d\d:\d\d:\d\d  ", "", line) for line in render_watch_event(event, Canvas())]


def run(**counts):
    return replies.ingest_report(new=0, duration_ms=240, **counts)


@pytest.mark.parametrize(
    ("report", "line"),
    [
        (run(items=[]), "up to date, 10 documents, 0.2 s"),
        (
            run(updated=1, items=[replies.item(kind="updated", doc_path="a.md")]),
            "a.md updated, 3 passages, 0.2 s",
        ),
        (
            run(removed=1, items=[replies.item(kind="removed", doc_path="a.md", chunk_count=0)]),
            "a.md removed, 0.2 s",
        ),
        (
            run(updated=2_000, removed=3, items=[replies.item()] * 2_003),
            "2,000 updated, 3 removed, 6,009 passages, 0.2 s",
        ),
    ],
)
def test_a_run_is_one_line(report, line):
    assert drawn(WatchEvent(kind="indexed", report=report)) == [line]


def test_the_first_faults_follow_the_line_of_a_run():
    fault = build_error_reply(IoError(path="/n/a.md", op="read", cause="x"), operation="ingest")
    report = run(errors=3, items=[replies.item(kind="error", error=fault)] * 3)

    first, *rest = drawn(WatchEvent(kind="indexed", report=report))
    assert first.startswith("3 not readable")
    assert [line.startswith("  error: ") for line in rest] == [True, True]


def test_the_other_events_are_a_line_each():
    locked = build_error_reply(Locked(path="/d/lock", holder_pid=7), operation="watch")
    gone = build_error_reply(IoError(path="/n", op="read", cause="gone"), operation="watch")

    assert drawn(WatchEvent(kind="started", folders=["/n"])) == ["watching /n; Ctrl-C ends"]
    assert drawn(WatchEvent(kind="started", folders=["/n", "/m"])) == [
        "watching 2 folders; Ctrl-C ends"
    ]
    assert drawn(WatchEvent(kind="waiting", error=locked))[0].endswith("; waiting")
    assert drawn(WatchEvent(kind="failed", error=gone))[0].endswith("; will be tried again")
    assert drawn(WatchEvent(kind="polling", message="no more", hint="sysctl x")) == [
        "warning: no more",
        "hint: sysctl x",
    ]
