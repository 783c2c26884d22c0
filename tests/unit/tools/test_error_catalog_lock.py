from copy import deepcopy

import pytest

from kebab.errors.catalog import build_catalog
from tools.error_catalog import build_lock, compare_locks, render_errors_page


@pytest.fixture
def released():
    return deepcopy(build_lock())


def test_every_row_is_locked_with_all_that_is_frozen(released):
    assert list(released) == sorted(build_catalog())
    assert set(released["locked"]) == {
        "canonical",
        "details",
        "domain",
        "exit",
        "grpc",
        "http",
        "kind",
        "origin",
        "public",
        "retired",
        "retry",
        "severity",
    }


def test_a_lock_of_today_is_kept(released):
    found = compare_locks(released, build_lock())

    assert (found.broken, found.added) == ((), ())


def test_a_new_row_breaks_nothing_and_is_reported(released):
    del released["locked"]

    found = compare_locks(released, build_lock())

    assert (found.broken, found.added) == ((), ("added: locked",))


def test_a_new_detail_breaks_nothing_and_is_reported(released):
    del released["locked"]["details"]["path"]

    found = compare_locks(released, build_lock())

    assert (found.broken, found.added) == ((), ("added: locked.path",))


def test_a_row_may_retire_but_not_come_back(released):
    later = deepcopy(released)
    later["locked"]["retired"] = True

    assert compare_locks(released, later).added == ("retired: locked",)
    assert compare_locks(released, later).broken == ()
    assert compare_locks(later, released).broken == ("locked: reused, it was retired",)


def test_a_removed_row_is_a_broken_promise(released):
    now = {code: row for code, row in released.items() if code != "locked"}

    assert compare_locks(released, now).broken == ("locked: removed, mark it retired instead",)


@pytest.mark.parametrize(
    "name",
    ["canonical", "exit", "grpc", "http", "kind", "origin", "public", "retry", "severity"],
)
def test_each_part_of_a_meaning_is_frozen(released, name):
    now = deepcopy(released)
    now["locked"][name] = "another"

    before = released["locked"][name]
    assert compare_locks(released, now).broken == (
        f"locked: {name} changed from {before} to another",
    )


def test_a_code_that_names_another_thing_is_reused(released):
    now = deepcopy(released)
    now["locked"] = now["io_error"]

    assert compare_locks(released, now).broken == (
        "locked: reused, it meant STORAGE.LOCKED and now STORAGE.IO",
    )


def test_details_are_frozen_by_name_and_type(released):
    now = deepcopy(released)
    now["locked"]["details"] = {"path": "int"}

    assert compare_locks(released, now).broken == (
        "locked: detail path changed from str to int",
        "locked: detail holder_pid removed",
    )


def test_the_page_holds_a_section_for_every_code():
    page = render_errors_page()

    assert [code for code in build_catalog() if f"\n## {code}\n" not in page] == []
