import pytest


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_a_replacement_needs_confirmation_and_changes_nothing_before(kebab, opened, flags):
    ran = kebab("import", "base.zip", *flags, stdin=b"y\n")

    assert (ran.status, ran.out) == (2, "")
    assert "confirmation_required" in ran.err
    assert [request.dry_run for _, request in opened[0].asked] == [True]
