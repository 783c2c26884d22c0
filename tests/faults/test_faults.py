"""The world fails at every port, one call at a time, and every command stays honest and whole."""

import pytest

from tests.faults.conftest import FULLY, WANTED

ENOUGH = 750
GENERIC_AT_MOST = 0.001

pytestmark = [
    pytest.mark.timeout(7_200 if FULLY else 900),
    pytest.mark.xdist_group("faults"),
]


def list_broken_promises(ledger, kind):
    """Return what went wrong in this way."""
    return [one for one in ledger.broken if one.partition(": ")[2].startswith(kind)]


def test_nobody_ever_sees_a_traceback(ledger):
    assert not list_broken_promises(ledger, "traceback")


def test_both_channels_keep_to_the_schemas(ledger):
    assert not list_broken_promises(ledger, "schema")


def test_an_error_is_one_object_and_the_status_of_its_code(ledger):
    assert not list_broken_promises(ledger, "status")
    assert not list_broken_promises(ledger, "stdout")


def test_nothing_hangs(ledger):
    assert not list_broken_promises(ledger, "hang")


def test_no_result_is_wrong_without_saying_so(ledger):
    assert not list_broken_promises(ledger, "silent")


def test_the_next_run_mends_what_a_fault_left(ledger):
    assert not list_broken_promises(ledger, "recovery")
    assert not list_broken_promises(ledger, "library")


def test_every_fault_has_a_name_of_its_own(ledger):
    found = list_broken_promises(ledger, "generic")

    assert len(found) <= ledger.injected * GENERIC_AT_MOST, found


@pytest.mark.skipif(bool(WANTED), reason="KEBAB_FAULTS leaves only some of them")
def test_there_are_enough_of_them(ledger):
    assert ledger.injected >= ENOUGH
