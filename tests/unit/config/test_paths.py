from pathlib import Path

from kebab.config.model import Settings
from kebab.config.paths import default_config, places


def test_the_platform_decides_when_no_setting_does(monkeypatch, tmp_path):
    for name in ("DATA", "CACHE", "STATE", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))

    found = places(Settings())

    assert found.data == tmp_path / "data" / "kebab"
    assert found.models == tmp_path / "cache" / "kebab" / "models"
    assert found.log == tmp_path / "state" / "kebab" / "kebab.log"
    assert default_config() == tmp_path / "config" / "kebab" / "config.toml"
    assert list(tmp_path.iterdir()) == []


def test_settings_name_folders_relative_to_here_and_to_home(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))

    found = places(Settings(data_dir="kb", models_dir="~/models"))

    assert found.data == tmp_path / "kb"
    assert found.models == Path(tmp_path / "home" / "models")
