from dataclasses import replace
from pathlib import Path

import pytest

from kebab.core.ids import Key, sort_keys
from kebab.doctor import checks
from kebab.doctor.checks import ReviewFile, StorageInputs

SOUND = StorageInputs(
    path=Path("/data/kebab.sqlite"),
    schema=3,
    find_schema=lambda: 3,
    find_damage=list,
    find_known_term=lambda: ("kebab", True),
    list_vector_keys=lambda: sort_keys([1, 2]),
    list_expected_keys=lambda: sort_keys([1, 2]),
    list_deleted_keys=list,
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


def test_a_sound_base_is_well_all_through():
    every = (
        checks.check_database,
        checks.check_integrity,
        checks.check_full_text,
        checks.check_vectors,
    )

    assert {check(SOUND).status for check in every} == {"ok"}


def test_a_complaint_of_the_database_fails_and_is_quoted():
    complaints = ["row 7 missing from index", "torn page", "rows without an owner: 2", "more"]

    finding = checks.check_integrity(replace(SOUND, find_damage=lambda: complaints))

    assert (finding.status, finding.fix) == ("fail", "mv /data /data.old")
    assert finding.summary == f"the database is damaged: {'; '.join(complaints[:3])}"


def test_a_full_text_index_that_misses_a_known_word_fails():
    finding = checks.check_full_text(replace(SOUND, find_known_term=lambda: ("검색", False)))

    assert (finding.status, finding.fix) == ("fail", "mv /data /data.old")
    assert "검색" in finding.summary


def test_without_a_passage_there_is_no_word_to_look_for():
    assert checks.check_full_text(replace(SOUND, find_known_term=lambda: None)).status == "skip"


@pytest.mark.parametrize(
    ("stored", "stamped", "garbage", "status", "summary"),
    [
        ([], [], [], "ok", "0 vectors, each with its passage"),
        ([1], [1], [], "ok", "1 vector, each with its passage"),
        ([1, 9], [1], [9], "ok", "1 vector, each with its passage"),
        ([1, 9], [1], [], "warn", "1 vector without a passage"),
        ([1], [1, 2, 3], [], "fail", "2 vectors of 3 missing"),
        ([], [1], [], "fail", "1 vector of 1 missing"),
        ([1, 1, 2], [1, 2], [], "fail", "1 vector stored more than once"),
        ([1, 1, 9], [1, 2], [], "fail", "1 vector of 2 missing"),
    ],
)
def test_vector_rows_and_stamps_must_agree(stored, stamped, garbage, status, summary):
    finding = checks.check_vectors(
        replace(
            SOUND,
            list_vector_keys=lambda: sort_keys(stored),
            list_expected_keys=lambda: sort_keys(stamped),
            list_deleted_keys=lambda: [Key(key) for key in garbage],
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


def test_stored_reviews_are_counted():
    file = ReviewFile(SOUND.reviews, 20_480, 1)

    assert check_reviews(None).status == "ok"
    assert check_reviews(file).summary == "1 run stored, 20,480 bytes: /data/reviews.sqlite"


def test_damaged_reviews_are_moved_away_without_the_index():
    finding = check_reviews(ReviewFile(SOUND.reviews, 9, 0, ["torn page"]))

    assert finding.summary == "the stored reviews are damaged: torn page"
    assert finding.fix == "mv /data/reviews.sqlite /data/reviews.sqlite.old"
