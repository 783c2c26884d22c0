from kebab.cli.command import EXIT_MEANINGS, list_exit_statuses
from kebab.errors.signal import Exit


def test_every_status_has_a_meaning():
    assert set(EXIT_MEANINGS) == set(Exit)


def test_statuses_of_a_command_are_in_order_and_once_each():
    found = [status for status, _ in list_exit_statuses(Exit.UNUSABLE, Exit.NO, Exit.DONE)]

    assert found == [0, 1, 2, 3, 130, 141]
