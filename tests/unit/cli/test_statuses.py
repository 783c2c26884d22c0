from kebab.cli.statuses import MEANINGS, statuses
from kebab.errors.signal import Exit


def test_every_status_has_a_meaning():
    assert set(MEANINGS) == set(Exit)


def test_statuses_of_a_command_are_in_order_and_once_each():
    found = [status for status, _ in statuses(Exit.UNUSABLE, Exit.NO, Exit.DONE)]

    assert found == [0, 1, 2, 3, 130, 141]
