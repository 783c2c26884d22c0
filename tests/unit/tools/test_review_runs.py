import json
import time

import pytest

from kebab.wire.record import add_envelope, encode_json
from tests.fakes.review_stream import make_event, make_item, make_page
from tools.review_runs import Recording, TierReport, build_environment, find_faults, record

TEXT = "\U0001f600" * 20
PAGE = make_event("items", page=make_page(make_item(1)))
COMPLETE = make_event("complete", completed_at="2025-01-31T12:00:00.000Z")
END = make_event("end", completed=True)


def encode(event, status=None):
    reply = add_envelope(
        event, command="review", timestamp="2025-01-31T12:00:00.000Z", exit_code=status
    )
    return encode_json(reply)


def make_recording(*lines, status=1, seconds=1.0):
    return Recording([(0.5, line) for line in lines], status, seconds)


GOOD = (encode(PAGE), encode(COMPLETE, 1), encode(END, 1))


def test_a_stream_that_keeps_the_contract_has_no_fault():
    assert list(find_faults(make_recording(*GOOD), TEXT)) == []


@pytest.mark.parametrize(
    ("lines", "text", "fault"),
    [
        (GOOD[:2], TEXT, "does not end with one `end`"),
        ((*GOOD, GOOD[2]), TEXT, "does not end with one `end`"),
        ((GOOD[0], GOOD[2]), TEXT, "not one of `complete` and `error`"),
        (GOOD[1:], TEXT, "no page"),
        ((b"nothing", *GOOD), TEXT, "no JSON"),
        ((GOOD[0].replace(b'"quick"', b'"fast"'), *GOOD[1:]), TEXT, "line 1: $.data.page.tier"),
        ((encode(PAGE, 1), *GOOD[1:]), TEXT, "`items` has exit_code 1, not None"),
        ((*GOOD[:2], encode(END, 0)), TEXT, "`end` has exit_code 0, not 1"),
        (GOOD, "short", "lies at 10-13 of 5"),
        ((GOOD[0], *GOOD), TEXT, "occur twice"),
    ],
)
def test_what_breaks_the_contract_is_told(lines, text, fault):
    assert any(fault in one for one in find_faults(make_recording(*lines), text))


def test_a_stream_that_never_ends_is_a_fault():
    assert "did not end before" in next(find_faults(make_recording(*GOOD, status=None), TEXT))


def test_counts_of_documents_are_added():
    report = TierReport()
    report.add("a.md", make_recording(*GOOD), TEXT)
    report.add("b.md", make_recording(*GOOD, seconds=20.0), TEXT)

    assert (report.documents, report.slowest_s, report.counts["items of rules"]) == (2, 20.0, 2)
    assert report.counts["pages"] == 2
    assert report.faults == ["b.md: no line for 19.5 s"]


def test_a_process_is_recorded_and_ends_at_its_deadline(tmp_path):
    environ = build_environment(tmp_path, "http://127.0.0.1:9/v1", "none", 2048)
    shown = record(["review", str(tmp_path / "nowhere.md"), "--stream"], environ, 60.0)
    assert [json.loads(line)["type"] for _, line in shown.lines] == ["error", "end"]
    assert (shown.status, list(find_faults(shown, ""))) == (1, [])

    began = time.monotonic()
    assert record(["review", "--replay", "-", "--json"], environ, 0.0).status is None
    assert time.monotonic() - began < 20
