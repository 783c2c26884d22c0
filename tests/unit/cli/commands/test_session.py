from kebab.wire.ask import SessionRmRequest


def test_with_yes_every_session_is_deleted(kebab, opened):
    ran = kebab("session", "rm", "--all", "--yes")

    assert opened[-1].asked == [("session_rm", SessionRmRequest(names=["backups", "garden"]))]
    assert ran.out.splitlines()[-1] == "2 sessions with 4 turns deleted"
