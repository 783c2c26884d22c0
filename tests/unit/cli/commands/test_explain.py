import pytest

from kebab.errors.catalog import build_catalog


def test_every_code_is_explained(kebab):
    for code in build_catalog():
        ran = kebab("explain", code, "--json")
        assert [row["code"] for row in ran.reply["errors"]] == [code]


def test_a_mistyped_code_gets_the_nearest_one(kebab):
    ran = kebab("explain", "not_indexd")

    assert ran.status == 1
    assert "  not_indexed" in ran.out.splitlines()


def test_all_codes_are_explained_at_once_and_as_the_schema_lists_them(kebab):
    told, listed = kebab("explain", "--all", "--json").reply, kebab("schema", "--errors", "--json")

    assert told["errors"] == listed.reply["errors"]
    assert [row["code"] for row in told["errors"]] == sorted(build_catalog())
    assert all(row["explanation"] for row in told["errors"])


@pytest.mark.parametrize("arguments", [(), ("timeout", "--all")])
def test_a_code_or_all_is_required(kebab, arguments):
    ran = kebab("explain", *arguments)

    assert ran.status == 2
    assert "name one CODE, or take `--all`" in ran.err
