"""Both channels at the level of file descriptors, over libraries that write where they like."""

import json
import signal
from pathlib import Path

import pytest

from tests.contract.conftest import SCRIPTED, check_channel
from tests.fakes.waiting import PATIENCE_S, interrupt_until_it_ends, read_until


@pytest.mark.parametrize("arguments", [["search", "x"], ["search", "broken"]])
def test_no_library_gets_through_in_text(arguments, empty, program):
    ran = program(*arguments, module=SCRIPTED)

    assert "noise" not in ran.out + ran.err
    assert ran.out + ran.err


@pytest.mark.parametrize(
    ("arguments", "status", "outcome"),
    [
        (["ingest"], 0, "ingest_report.v1"),
        (["search", "broken"], 3, "store_corrupt"),
        (["search", "surprise"], 2, "generic"),
    ],
)
def test_no_library_gets_through_under_json(arguments, status, outcome, empty, program):
    ran = program(*arguments, "--json", module=SCRIPTED)

    results = check_channel(ran.out, status=status, command=arguments[0])
    asides = check_channel(ran.err, status=status, command=arguments[0])
    faults = [one["code"] for one in asides if one["schema_version"] == "error.v1"]
    assert [one["schema_version"] for one in results] + faults == [outcome]
    assert ran.status == status


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_one_interruption_stops_cleanly_and_reports(number, empty, started):
    process = started("ingest", "slow", "--json", stdout=-1, stderr=-1)
    seen = read_until(process.stderr, b"asset_started")
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 130
    (report,) = check_channel(out.decode(), status=130, command="ingest")
    assert report["cancelled"]
    events = check_channel((seen + err).decode(), status=130, command="ingest")
    assert [one["kind"] for one in events if one["exit_code"] == 130] == ["aborted"]


def test_an_interrupted_stream_ends_with_the_report(empty, started):
    process = started("ingest", "slow", "--stream", stdout=-1, stderr=-1)
    seen = read_until(process.stdout, b"asset_started")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)

    events = check_channel((seen + out).decode(), status=130, command="ingest")
    assert (process.returncode, err) == (130, b"")
    assert (events[-1]["kind"], events[-1]["report"]["cancelled"]) == ("aborted", True)


@pytest.mark.parametrize("work", ["stuck", "deaf"], ids=["waits", "takes no notice"])
def test_two_interruptions_leave_at_once_whatever_the_work_does(work, empty, started):
    process = started("ingest", work, "--json", stdout=-1, stderr=-1)
    seen = read_until(process.stderr, b"asset_started")
    interrupt_until_it_ends(process)
    out, err = process.communicate(timeout=PATIENCE_S)

    assert (process.returncode, out) == (130, b"")
    lines = check_channel((seen + err).decode(), status=130, command="ingest")
    assert [one.get("code") or one["kind"] for one in lines][-2:] == ["aborted", "cancelled"]


def test_an_interrupted_search_is_cancelled(empty, started):
    process = started("search", "stuck", "--stream", stdout=-1, stderr=-1)
    seen = read_until(process.stdout, b"stage")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_S)

    frames = check_channel((seen + out).decode(), status=130, command="search")
    assert (process.returncode, json.loads(err)["code"]) == (130, "cancelled")
    assert [one["type"] for one in frames] == ["stage", "error", "end"]


@pytest.mark.parametrize("form", ["--json", "--output-format=text"])
def test_a_reader_that_goes_away_is_no_error(form, empty, started):
    process = started("search", "word", form, stdout=-1, stderr=-1)
    process.stdout.close()
    process.stdout = None
    _, err = process.communicate(timeout=PATIENCE_S)

    assert (process.returncode, err) == (141, b"")


def test_a_full_disk_is_an_io_error(empty, started):
    with Path("/dev/full").open("wb") as full:
        process = started("doctor", "--json", stdout=full, stderr=-1)
        _, err = process.communicate(timeout=PATIENCE_S)

    assert (process.returncode, json.loads(err)["code"]) == (2, "io_error")


def test_an_ingest_ends_well_although_nothing_can_be_written_on_stderr(empty, started):
    with Path("/dev/full").open("wb") as full:
        process = started("ingest", "--json", stdout=-1, stderr=full)
        out, _ = process.communicate(timeout=PATIENCE_S)

    assert (process.returncode, json.loads(out)["schema_version"]) == (0, "ingest_report.v1")


def test_bulk_answers_each_line_before_it_reads_the_next(empty, started):
    process = started("search", "--bulk", stdin=-1, stdout=-1, stderr=-1)
    for word in (b"one", b"two"):
        process.stdin.write(b'"%s"\n' % word)
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["query"] == word.decode()
    _, err = process.communicate(timeout=PATIENCE_S)

    assert (process.returncode, err) == (0, b"")


def test_a_long_silence_is_broken(empty, started):
    process = started("ingest", "stuck", stderr=-1)

    assert process.stderr.readline().startswith(b"reading 0/4 files")
