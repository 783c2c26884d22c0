def test_all_and_a_limit_exclude_each_other(kebab):
    assert kebab("outline", "--all", "-n", "3", "--json").fault["code"] == "usage_invalid"
