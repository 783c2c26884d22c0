from kebab.errors.catalog import build_catalog


def test_every_code_is_explained(kebab):
    for code in build_catalog():
        ran = kebab("explain", code, "--json")
        assert [row["code"] for row in ran.reply["errors"]] == [code]


def test_a_mistyped_code_gets_the_nearest_one(kebab):
    ran = kebab("explain", "not_indexd")

    assert ran.status == 1
    assert "  not_indexed" in ran.out.splitlines()
