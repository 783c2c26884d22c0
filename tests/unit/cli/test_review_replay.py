import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.cli.review import open_recording, read_recording
from kebab.errors.catalog import InvalidInput, IoError
from kebab.wire.record import encode_json
from tests.fakes.review_stream import make_event, make_item, make_page

RECORDED = Path("tests/cases/review/stream.ndjson").resolve()
STAGE = encode_json(make_event("stage", stage="rules", status="done", item_count=1))
ITEMS = encode_json(make_event("items", page=make_page(make_item())))
END = encode_json(make_event("end", completed=True))


def read(*lines):
    return [event.type for event in read_recording(lines)]


def test_events_are_read_in_order():
    assert read(STAGE, b"", ITEMS, b" \n", END) == ["stage", "items", "end"]


def test_unknown_types_and_other_objects_are_skipped():
    unknown = json.dumps({"schema_version": "review_event.v1", "type": "new", "data": 7}).encode()
    warning = json.dumps({"schema_version": "warning.v1", "type": "stage"}).encode()
    later = STAGE.replace(b'"data":{', b'"data":{"new":1,').replace(b'"type"', b'"more":2,"type"')
    assert read(unknown, STAGE, warning, b"{}", later, END) == ["stage", "stage", "end"]


def test_the_last_line_may_be_cut_off():
    assert read(STAGE, ITEMS[:40]) == ["stage"]


@pytest.mark.parametrize(
    ("lines", "field"),
    [
        ([STAGE, ITEMS[:40], END], "$[1]"),
        ([STAGE, b"[1]", END], "$[1]"),
        ([STAGE, STAGE.replace(b'"done"', b'"gone"'), END], "$[1].data.status"),
        ([ITEMS[:40]], "$[0]"),
        ([b"\xff\xfe", END], "$[0]"),
        ([], "$"),
        ([b"{}"], "$"),
    ],
)
def test_a_broken_recording_is_refused_with_the_path(lines, field):
    with pytest.raises(InvalidInput) as caught:
        read(*lines)
    assert caught.value.field == field


@given(st.integers(0, len(STAGE) + len(ITEMS)))
def test_a_recording_that_ends_anywhere_has_the_events_before(size):
    whole = b"\n".join((STAGE, ITEMS, END))[: len(STAGE) + 1 + size]
    assert read(*whole.split(b"\n"))[:1] == ["stage"]


def test_a_recording_that_cannot_be_read_is_an_error(tmp_path):
    with pytest.raises(IoError), open_recording(str(tmp_path / "missing")):
        raise AssertionError
    with pytest.raises(IoError), open_recording(str(tmp_path)) as lines:
        list(lines)


def replay(kebab, *arguments, text=None, stdin=b""):
    """Return the outcome of a replay, of the recorded case by default."""
    return kebab(
        "review",
        "--replay",
        "-" if text is not None else str(RECORDED),
        *arguments,
        stdin=text or b"",
    )


def test_a_recording_is_shown_without_the_files(kebab):
    ran = replay(kebab)

    assert ran.out.splitlines()[0].startswith("/notes/backup.md")
    assert Counter(line.rpartition(" ")[2] for line in ran.out.splitlines())["[repeated-word]"] == 2
    assert "rules" in ran.err
    assert "no end" not in ran.err
    assert ran.status == 1


def test_a_recording_without_an_end_says_so(kebab):
    ran = replay(kebab, text=STAGE + b"\n" + ITEMS + b"\n")
    assert "note: the recording has no end" in ran.err
    assert ran.status == 1


def test_a_recorded_error_is_shown(kebab):
    error = encode_json(make_event("error", message="cannot connect", retryable=True))
    end = encode_json(make_event("end", completed=False, reason="model_unreachable"))
    ran = replay(kebab, text=b"\n".join((STAGE, ITEMS, error, end)))

    assert "error: cannot connect" in ran.err
    assert "note: the run did not do all of its work: model_unreachable" in ran.err


def test_control_characters_of_a_recording_do_not_reach_the_terminal(kebab):
    event = make_event("stage", stage="\x1b[31mred", status="error", label="\x1b]0;x\x07")
    error = make_event("error", message="\x1b[2J")
    end = make_event("end", completed=False, reason="\x1b[2J")
    ran = replay(kebab, text=b"\n".join(map(encode_json, (event, error, end))))
    assert "\x1b" not in ran.out + ran.err


def test_a_replay_has_no_json(kebab):
    assert replay(kebab, "--json").fault["code"] == "usage_invalid"
    assert kebab("review", "--replay", "nowhere").status == 2
    broken = replay(kebab, "--format", "vimgrep", text=b"nothing")
    assert (broken.status, "invalid_input" in broken.err) == (2, True)
