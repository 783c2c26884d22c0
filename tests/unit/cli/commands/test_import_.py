import pytest

from kebab.wire.archive import ImportRequest


def test_the_flags_are_the_fields_of_the_request(kebab, opened):
    ran = kebab("import", "base.zip", "--map", "/a=/b", "--map", "/c=/d", "--dry-run", "--json")

    request = ImportRequest(path="base.zip", map=["/a=/b", "/c=/d"], dry_run=True)
    assert opened[0].asked == [("import", request)]
    assert ran.reply["sources"][0]["mapped"] == "home"


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_a_replacement_needs_confirmation_and_changes_nothing_before(kebab, opened, flags):
    ran = kebab("import", "base.zip", "--replace", *flags, stdin=b"y\n")

    assert (ran.status, ran.out) == (2, "")
    assert "confirmation_required" in ran.err
    assert [request.dry_run for _, request in opened[0].asked] == [True]


def test_with_yes_it_does_not_ask(kebab, opened):
    kebab("import", "base.zip", "--replace", "--yes", "--json")

    assert opened[0].asked == [("import", ImportRequest(path="base.zip", replace=True))]
