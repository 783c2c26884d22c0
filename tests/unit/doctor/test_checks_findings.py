from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kebab.core.ids import sort_keys
from kebab.doctor import checks
from kebab.doctor.checks import (
    Check,
    Finding,
    ReviewFile,
    StorageInputs,
    fail,
    run_all,
    succeed,
    suggest_move,
    warn,
)
from kebab.errors.catalog import IoError, Locked


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


def test_a_hint_that_leads_back_to_doctor_gives_way_to_the_fix_of_the_step():
    signal = IoError(path="/x", op="read", cause="denied")
    (found,) = run(check("a", raising(signal))).checks

    assert (found.summary, found.fix) == (signal.format_message(), "mend it")


def test_what_may_not_be_read_is_to_be_allowed_and_not_to_be_built_again():
    fault = PermissionError(13, "Permission denied", "/my notes/x")
    (found,) = run(check("a", raising(fault))).checks

    assert found.fix == "chmod u+rw '/my notes/x'"


def test_a_bug_is_not_mistaken_for_bad_health():
    with pytest.raises(ZeroDivisionError):
        run(check("a", raising(ZeroDivisionError())))


def test_skips_carry_on_down_the_line():
    diagnosis = run(
        check("a", lambda: fail("x", "y")),
        check("b", lambda: succeed("x"), requires=("a",)),
        check("c", lambda: succeed("x"), requires=("b",)),
        check("d", lambda: succeed("x")),
    )

    assert [check.status for check in diagnosis.checks] == ["fail", "skip", "skip", "ok"]


def test_nothing_is_moved_onto_something_else(tmp_path):
    for name in ("data", "data.old", "data.old.1"):
        (tmp_path / name).touch()

    assert suggest_move(tmp_path / "data").endswith("data.old.2")


def test_a_long_folder_is_named_once():
    folder = Path("/srv") / ("long name " * 12)

    assert suggest_move(folder / "a b") == f"cd '{folder}' && mv 'a b' 'a b.old'"


SOUND = StorageInputs(
    path=Path("/data/kebab.sqlite"),
    schema=3,
    find_schema=lambda: 3,
    find_damage=list,
    find_word_fault=lambda: None,
    list_vector_keys=lambda: sort_keys([1, 2]),
    list_expected_keys=lambda: sort_keys([1, 2]),
    reviews=Path("/data/reviews.sqlite"),
    read_reviews=lambda: None,
)


@pytest.mark.parametrize(
    ("found", "status", "fix"),
    [
        (3, "ok", None),
        (None, "warn", "kebab ingest FOLDER"),
        (2, "fail", "kebab ingest"),
        (4, "fail", "pip install --upgrade kebab"),
    ],
)
def test_the_schema_decides_what_can_be_read(found, status, fix):
    finding = checks.check_database(replace(SOUND, find_schema=lambda: found))

    assert (finding.status, finding.fix) == (status, fix)


def test_a_full_text_index_that_misses_a_known_word_fails():
    finding = checks.check_full_text(replace(SOUND, find_word_fault=lambda: "검색 is missing"))

    assert (finding.status, finding.fix) == ("fail", "kebab doctor --fix")
    assert "검색" in finding.summary


def test_parts_of_an_index_without_a_database_are_a_fault():
    lost = replace(SOUND, find_schema=lambda: None, list_remains=lambda: [Path("/data/a.keys")])
    finding = checks.check_database(lost)

    assert (finding.status, finding.fix) == ("fail", "kebab doctor --fix")
    assert finding.summary.endswith(": a.keys")


@pytest.mark.parametrize(
    ("which", "status", "fix"),
    [
        ("list_foreign", "fail", "sudo chown -R \"$(id -un)\" '/my data'"),
        ("list_denied", "fail", "chmod -R u+rwX '/my data'"),
        ("list_exposed", "warn", "chmod -R go-rwx '/my data'"),
    ],
)
def test_permissions_are_left_to_their_owner(which, status, fix):
    more: dict[str, Any] = {which: lambda: [Path("/my data/a")]}
    machine = checks.MachineInputs(
        read_settings=lambda: checks.SettingsFile(path=Path("/c")),
        folders={},
        data=Path("/my data"),
        log=Path("/log"),
        find_writer=lambda: None,
        **more,
    )

    finding = checks.check_permissions(machine)

    assert (finding.status, finding.fix) == (status, fix)


@pytest.mark.parametrize(
    ("stored", "stamped", "status", "summary"),
    [
        ([], [], "ok", "0 vectors, each with its passage"),
        ([1], [1], "ok", "1 vector, each with its passage"),
        ([1, 9], [1], "ok", "1 vector, each with its passage; the next ingest deletes 1 more"),
        ([1], [1, 2, 3], "fail", "2 vectors of 3 missing"),
        ([1, 1, 2], [1, 2], "fail", "1 vector stored more than once"),
        ([1, 1, 9], [1, 2], "fail", "1 vector of 2 missing"),
    ],
)
def test_vector_rows_and_marks_must_agree(stored, stamped, status, summary):
    finding = checks.check_vectors(
        replace(
            SOUND,
            list_vector_keys=lambda: sort_keys(stored),
            list_expected_keys=lambda: sort_keys(stamped),
        )
    )

    assert (finding.status, finding.summary) == (status, summary)
    assert (finding.fix is None) == (status == "ok")


@pytest.mark.parametrize(
    ("before", "rows", "after"),
    [([1], [1, 2], [1, 2]), ([1, 2], [1], [1])],
    ids=["added meanwhile", "removed meanwhile"],
)
def test_vectors_that_change_during_the_check_are_no_fault(before, rows, after):
    states = iter([before, after])

    finding = checks.check_vectors(
        replace(
            SOUND,
            list_expected_keys=lambda: sort_keys(next(states)),
            list_vector_keys=lambda: sort_keys(rows),
        )
    )

    assert finding.status == "ok"


def check_reviews(file):
    return checks.check_reviews(replace(SOUND, read_reviews=lambda: file))


def test_the_file_of_stored_reviews_is_named():
    file = ReviewFile(SOUND.reviews, 20_480)

    assert check_reviews(None).status == "ok"
    assert check_reviews(file).summary == "20,480 bytes: /data/reviews.sqlite"


def test_damaged_reviews_are_repaired_without_the_index():
    finding = check_reviews(ReviewFile(SOUND.reviews, 9, ["torn page"]))

    assert finding.summary == "the stored reviews are damaged: torn page"
    assert finding.fix == "kebab doctor --fix"
