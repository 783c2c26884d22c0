import pytest

from kebab.wire.ask import SessionRmRequest


def test_sessions_are_deleted_by_name_without_confirmation(kebab, opened):
    ran = kebab("session", "rm", "a", "b", "--json")

    assert opened[0].asked == [("session_rm", SessionRmRequest(names=["a", "b"]))]
    assert ran.reply["names"] == ["a", "b"]


def test_with_yes_every_session_is_deleted(kebab, opened):
    ran = kebab("session", "rm", "--all", "--yes")

    assert opened[-1].asked == [("session_rm", SessionRmRequest(names=["backups", "garden"]))]
    assert ran.out.splitlines()[-1] == "2 sessions with 4 turns deleted"


@pytest.mark.parametrize(
    ("flags", "again"),
    [
        ([], "kebab session rm --all --yes"),
        (["--json"], "kebab session rm --all --yes"),
        (["--data-dir", "a b"], "kebab session rm --all --data-dir 'a b' --yes"),
    ],
)
def test_without_a_terminal_deleting_every_session_needs_confirmation(kebab, opened, flags, again):
    ran = kebab("session", "rm", "--all", *flags, stdin=b"y\n")

    assert (ran.status, ran.out) == (2, "")
    assert "confirmation_required" in ran.err
    assert again in ran.err
    assert opened[0].asked == []


@pytest.mark.parametrize("arguments", [[], ["a", "--all", "--yes"]])
def test_it_takes_either_names_or_all(kebab, opened, arguments):
    assert kebab("session", "rm", *arguments, "--json").fault["code"] == "usage_invalid"
    assert opened == []
