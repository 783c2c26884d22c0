from pathlib import Path

import pytest

from kebab.doctor.checks import (
    Check,
    Finding,
    fail,
    format_count,
    run_all,
    succeed,
    suggest_move,
    warn,
)
from kebab.errors.catalog import IoError, Locked, StoreCorrupt


class Ticking:
    """Advances a quarter of a second whenever it is read."""

    def __init__(self):
        self.time = 0.0

    def now(self):
        return self.time

    def monotonic(self):
        self.time += 0.25
        return self.time


def check(name, run, requires=()):
    return Check(name, run, fix="mend it", requires=requires)


def raising(fault):
    def ask():
        raise fault

    return ask


def run(*steps):
    return run_all(steps, Ticking())


def test_checks_come_in_order_and_timed():
    diagnosis = run(check("a", lambda: succeed("fine")), check("b", lambda: warn("hm", "do")))

    assert [(check.name, check.status, check.summary, check.fix) for check in diagnosis.checks] == [
        ("a", "ok", "fine", None),
        ("b", "warn", "hm", "do"),
    ]
    assert [check.duration_ms for check in diagnosis.checks] == [250.0, 250.0]


@pytest.mark.parametrize(
    ("finding", "ok"),
    [
        (succeed("x"), True),
        (warn("x", "y"), True),
        (Finding("skip", "x"), True),
        (fail("x", "y"), False),
    ],
)
def test_only_a_failure_is_unhealthy(finding, ok):
    assert run(check("a", lambda: finding)).ok is ok


def test_a_signal_fails_its_check_and_no_other():
    diagnosis = run(
        check("a", raising(Locked(path="/x", holder_pid=7))), check("b", lambda: succeed("fine"))
    )

    first, second = diagnosis.checks
    assert (first.status, first.fix) == ("fail", "try again when it has finished")
    assert first.summary == "another process is writing to this knowledge base: pid 7"
    assert second.status == "ok"


@pytest.mark.parametrize(
    "signal",
    [StoreCorrupt(path="/x", cause="torn"), IoError(path="/x", op="read", cause="denied")],
)
def test_a_hint_that_leads_back_to_doctor_gives_way_to_the_fix_of_the_step(signal):
    (found,) = run(check("a", raising(signal))).checks

    assert (found.summary, found.fix) == (signal.format_message(), "mend it")


def test_a_refusal_of_the_system_fails_its_check():
    (found,) = run(check("a", raising(OSError(5, "Input/output error", "/x")))).checks

    assert (found.status, found.summary) == ("fail", "Input/output error: /x")
    assert found.fix == "mend it"


def test_what_may_not_be_read_is_to_be_allowed_and_not_to_be_built_again():
    fault = PermissionError(13, "Permission denied", "/my notes/x")
    (found,) = run(check("a", raising(fault))).checks

    assert found.fix == "chmod u+rw '/my notes/x'"


def test_a_bug_is_not_mistaken_for_bad_health():
    with pytest.raises(ZeroDivisionError):
        run(check("a", raising(ZeroDivisionError())))


@pytest.mark.parametrize("before", [warn("hm", "do"), fail("no", "do"), Finding("skip", "")])
def test_a_step_is_skipped_when_what_it_needs_is_not_well(before):
    unasked = raising(AssertionError("looked although what it needs is not well"))

    diagnosis = run(check("a", lambda: before), check("b", unasked, requires=("a",)))

    assert diagnosis.checks[1].status == "skip"
    assert diagnosis.checks[1].summary == "needs `a`"
    assert diagnosis.checks[1].duration_ms >= 0


def test_skips_carry_on_down_the_line():
    diagnosis = run(
        check("a", lambda: fail("x", "y")),
        check("b", lambda: succeed("x"), requires=("a",)),
        check("c", lambda: succeed("x"), requires=("b",)),
        check("d", lambda: succeed("x")),
    )

    assert [check.status for check in diagnosis.checks] == ["fail", "skip", "skip", "ok"]


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 files"), (1, "1 file"), (2, "2 files"), (12345, "12,345 files")]
)
def test_numbers_agree_with_their_nouns(count, text):
    assert format_count(count, "file") == text


def test_nothing_is_moved_onto_something_else(tmp_path):
    for name in ("data", "data.old", "data.old.1"):
        (tmp_path / name).touch()

    assert suggest_move(tmp_path / "data").endswith("data.old.2")


def test_a_long_folder_is_named_once():
    folder = Path("/srv") / ("long name " * 12)

    assert suggest_move(folder / "a b") == f"cd '{folder}' && mv 'a b' 'a b.old'"
