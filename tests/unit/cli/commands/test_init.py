import pytest


def test_it_writes_where_the_flag_says(kebab, home):
    ran = kebab("init", "--config", str(home / "new.toml"), "--json")

    assert (ran.status, ran.reply["config_path"]) == (0, str(home / "new.toml"))


def test_a_named_file_in_a_folder_that_does_not_exist_is_refused(kebab, home, opened):
    ran = kebab("init", "--config", str(home / "none" / "new.toml"), "--json")

    assert (ran.status, ran.fault["code"], opened) == (2, "config_invalid", [])


@pytest.mark.parametrize(("flags", "status"), [([], 2), (["--force"], 0)])
def test_only_force_ignores_an_invalid_file(kebab, home, flags, status):
    (home / "broken.toml").write_text("limit = = 3")

    assert kebab("init", "--config", str(home / "broken.toml"), *flags).status == status
