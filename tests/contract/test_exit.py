"""Every exit status is reached, and each means what the contract says."""

import pytest

from kebab.errors.signal import Exit


@pytest.mark.parametrize(
    ("status", "arguments"),
    [
        (Exit.DONE, ["search", "restore"]),
        (Exit.DONE, ["schema"]),
        (Exit.NO, ["search", "qqqqqqqq", "--mode", "lexical"]),
        (Exit.NO, ["inspect", "doc", "nowhere"]),
        (Exit.NO, ["explain", "nonsense"]),
        (Exit.ERROR, ["search", ""]),
        (Exit.ERROR, ["ingest", "/no/such/folder"]),
        (Exit.ERROR, ["reset"]),
        (Exit.ERROR, ["nonsense"]),
        (Exit.UNUSABLE, ["list", "--data-dir", "/no/such/folder"]),
    ],
)
def test_a_status_is_the_same_in_text_and_json(status, arguments, home, kebab):
    text, machine = kebab(*arguments), kebab(*arguments, "--json")

    assert (text.status, machine.status) == (status, status)
    said = machine.reply if machine.out else machine.fault
    assert said["exit_code"] == status
    if status in (Exit.ERROR, Exit.UNUSABLE):
        assert text.out == ""
        assert [line for line in text.err.splitlines() if line.startswith("error: ")]
        assert "Traceback" not in text.err


def test_an_error_is_read_as_error_hint_and_code(home, kebab):
    lines = kebab("search", "x", "--cursor", "forged").err.splitlines()

    assert [line.split()[0] for line in lines] == ["error:", "hint:", "code:"]


def test_a_process_ends_with_the_status(home, program):
    assert program("search", "restore").status == 0
    assert program("search", "restore", "--data-dir", "/no/such/folder").status == 3
