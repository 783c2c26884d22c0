from kebab.errors.catalog import build_catalog


def test_every_code_is_explained(kebab):
    for code in build_catalog():
        ran = kebab("explain", code, "--json")
        assert [row["code"] for row in ran.reply["errors"]] == [code]
