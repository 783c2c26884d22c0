import tomllib

from kebab.config.load import iter_setting_keys, load_settings
from kebab.config.settings import Settings
from kebab.config.settings_file import build_settings_table, build_toml, iter_documented_settings


def test_every_setting_is_documented_in_file_and_table():
    keys = [setting.key for setting in iter_documented_settings()]

    assert keys == list(iter_setting_keys())
    assert all(setting.text for setting in iter_documented_settings())
    assert [key for key in keys if f"`{key}`" not in build_settings_table()] == []


def test_the_unchanged_file_changes_no_setting(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text(build_toml())

    assert load_settings(path, environ={}) == Settings()


def test_every_uncommented_line_sets_a_default(tmp_path):
    path = tmp_path / "config.toml"
    lines = build_toml().splitlines()
    taken = [line[2:] if " = " in line and line.startswith("# ") else line for line in lines]
    path.write_text("\n".join(line for line in taken if not line.startswith(("A ", "Every"))))

    assert load_settings(path, environ={}) == Settings()


def test_a_workspace_is_set_when_given():
    assert tomllib.loads(build_toml('/home/"me"/notes'))["workspace"] == '/home/"me"/notes'
