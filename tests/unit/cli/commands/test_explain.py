from kebab.errors.listing import catalog


def test_every_code_is_explained(kebab):
    for code in catalog():
        ran = kebab("explain", code, "--json")
        assert [row["code"] for row in ran.reply["errors"]] == [code]


def test_it_needs_no_settings(kebab, home):
    assert kebab("explain", "timeout", "--config", str(home / "none.toml")).status == 0


def test_a_mistyped_code_gets_the_nearest_one(kebab):
    ran = kebab("explain", "not_indexd")

    assert ran.status == 1
    assert "  not_indexed" in ran.out.splitlines()
