import pytest

from kebab.wire.archive import ImportRequest


def test_a_dry_run_only_checks(kebab, opened):
    kebab("import", "base.zip", "--dry-run", "--json")

    assert opened[0].asked == [("import", ImportRequest(path="base.zip", dry_run=True))]


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_a_replacement_needs_confirmation_and_changes_nothing_before(kebab, opened, flags):
    ran = kebab("import", "base.zip", *flags, stdin=b"y\n")

    assert (ran.status, ran.out) == (2, "")
    assert "confirmation_required" in ran.err
    assert [request.dry_run for _, request in opened[0].asked] == [True]


@pytest.mark.parametrize("line", [["base.zip", "--yes"], ["fresh.zip"]])
def test_with_yes_and_without_an_index_it_does_not_ask(kebab, opened, line):
    kebab("import", *line, "--json")

    assert opened[-1].asked[-1] == ("import", ImportRequest(path=line[0]))
