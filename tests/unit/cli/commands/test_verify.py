from kebab.wire.repair import VerifyRequest


def test_the_difference_is_the_status(kebab, opened):
    equal, other = kebab("verify"), kebab("verify", "notes", "--limit", "3")

    assert (equal.status, other.status) == (0, 1)
    assert opened[1].asked == [("verify", VerifyRequest(paths=["notes"], limit=3))]
    assert "a.md" in other.out
