"""Asking over a scripted knowledge base: channels, statuses, interruptions."""

import json
import signal

import pytest

from tests.contract.conftest import SCRIPTED, check_channel
from tests.fakes.console import run
from tests.fakes.facade import FakeKebab
from tests.fakes.waiting import PATIENCE_S, interrupt_until_it_ends, read_until

WHOLE = "Stop, then **restore** [1]."


@pytest.mark.parametrize(
    ("question", "status"),
    [("x", 0), ("weak", 1), ("cut", 2)],
)
@pytest.mark.parametrize("form", ["--json", "--stream"])
def test_both_channels_keep_to_the_schemas(question, status, form, empty):
    ran = run("ask", question, form, opener=FakeKebab)

    results = check_channel(ran.out, status=ran.status, command="ask")
    asides = check_channel(ran.err, status=ran.status, command="ask")
    assert ran.status == status
    assert [one["schema_version"] for one in asides] == ["error.v1"] * (status > 1)
    if form == "--stream":
        ends = [one for one in results if one["type"] in ("final", "error")]
        assert ends == results[-1:]
        assert [one["exit_code"] for one in results] == [None] * (len(results) - 1) + [status]
    else:
        assert len(results) == (status <= 1)


def test_no_library_gets_through_in_text(empty, program):
    ran = program("ask", "x", module=SCRIPTED)

    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith(WHOLE)
    assert "noise" not in ran.out


def test_a_long_silence_is_broken_under_json(empty, started):
    process = started("ask", "halting", "--json", stderr=-1)

    (beat,) = check_channel(process.stderr.readline().decode(), status=0, command="ask")
    assert (beat["type"], beat["elapsed_ms"] >= 3000) == ("heartbeat", True)


def test_interrupted_later_in_text_what_came_is_shown(empty, started):
    process = started("ask", "halting", stdout=-1, stderr=-1)
    seen = read_until(process.stderr, b"is writing")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)

    assert (process.returncode, out) == (130, b"Stop,\n")
    assert (seen + err).splitlines()[-1] == b"note: interrupted"


def test_two_interruptions_leave_at_once_whatever_the_work_does(empty, started):
    process = started("ask", "deaf", "--stream", stdout=-1, stderr=-1)
    seen = read_until(process.stdout, b"retrieval_done")
    interrupt_until_it_ends(process)
    out, err = process.communicate(timeout=PATIENCE_S)

    assert (process.returncode, json.loads(err)["code"]) == (130, "cancelled")
    lines = check_channel((seen + out).decode(), status=130, command="ask")
    assert [one["type"] for one in lines] == ["retrieval_done", "error"]
