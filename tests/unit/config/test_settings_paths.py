from pathlib import Path

import platformdirs
import pytest

from kebab.config.settings import Settings, find_default_config, resolve_paths


def test_settings_name_folders_relative_to_here_and_to_home(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))

    found = resolve_paths(Settings(data_dir="kb", models_dir="~/models"))

    assert found.data == tmp_path / "kb"
    assert found.models == Path(tmp_path / "home" / "models")


@pytest.mark.parametrize(
    "environment",
    [
        {"HOME": "/home/ada"},
        {"HOME": "/home/ada/", "XDG_STATE_HOME": "/state//deep/"},
        {"HOME": "relative"},
        {"HOME": ""},
        {},
        {"XDG_DATA_HOME": "/only data"},
        {"HOME": "/home/ada", "XDG_CONFIG_HOME": "", "XDG_CACHE_HOME": "", "XDG_DATA_HOME": ""},
        {"HOME": "/home/ada", "XDG_CONFIG_HOME": "rel", "XDG_DATA_HOME": "~/x"},
    ],
)
def test_the_folders_are_those_that_platformdirs_names(monkeypatch, environment):
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    found = resolve_paths(Settings())

    assert found.data == Path(platformdirs.user_data_dir("kebab", appauthor=False))
    assert found.models == Path(platformdirs.user_cache_dir("kebab", appauthor=False), "models")
    assert found.state == Path(platformdirs.user_state_dir("kebab", appauthor=False))
    assert find_default_config().parent == Path(
        platformdirs.user_config_dir("kebab", appauthor=False)
    )
