import pytest


def test_it_writes_where_the_flag_says(kebab, home):
    ran = kebab("init", "--config", str(home / "new.toml"), "--json")

    assert (ran.status, ran.reply["config_path"]) == (0, str(home / "new.toml"))


@pytest.mark.parametrize(("flags", "status"), [([], 2), (["--force"], 0)])
def test_only_force_ignores_an_invalid_file(kebab, home, flags, status):
    (home / "broken.toml").write_text("limit = = 3")

    assert kebab("init", "--config", str(home / "broken.toml"), *flags).status == status
