import pytest

from kebab.wire.ask import SessionRmRequest


def test_with_yes_every_session_is_deleted(kebab, opened):
    ran = kebab("session", "rm", "--all", "--yes")

    assert opened[-1].asked == [("session_rm", SessionRmRequest(names=["backups", "garden"]))]
    assert ran.out.splitlines()[-1] == "2 sessions with 4 turns deleted"


@pytest.mark.parametrize("arguments", [[], ["a", "--all", "--yes"]])
def test_it_takes_either_names_or_all(kebab, opened, arguments):
    assert kebab("session", "rm", *arguments, "--json").fault["code"] == "usage_invalid"
    assert opened == []
