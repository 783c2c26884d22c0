"""Resolves the paths of a knowledge base: the folders of the system unless a setting is given."""

import os
import sys
from pathlib import Path
from typing import NamedTuple

from kebab.config.settings import Settings
from kebab.errors.system import translate_import_errors

_APP = "kebab"
_XDG = {
    "user_cache_dir": ("XDG_CACHE_HOME", ".cache"),
    "user_config_dir": ("XDG_CONFIG_HOME", ".config"),
    "user_data_dir": ("XDG_DATA_HOME", ".local/share"),
    "user_state_dir": ("XDG_STATE_HOME", ".local/state"),
}
"""For each kind: the variable that names the folder on Linux, and its default below home."""


class Paths(NamedTuple):
    """The folders and files of one knowledge base; none of them is created here."""

    data: Path
    models: Path
    state: Path

    @property
    def stdin_dir(self) -> Path:
        """The folder of the texts from standard input, one file each."""
        return self.data / "stdin"

    @property
    def log(self) -> Path:
        """The error log."""
        return self.state / "kebab.log"


def find_default_config() -> Path:
    """Return the path of the settings file when no flag names one."""
    return _find_folder("user_config_dir") / "config.toml"


def resolve_paths(settings: Settings) -> Paths:
    """Return the absolute paths for these settings."""
    return Paths(
        data=_resolve_folder(settings.data_dir, "user_data_dir"),
        models=_resolve_folder(settings.models_dir, "user_cache_dir", "models"),
        state=_resolve_folder("", "user_state_dir"),
    )


def _resolve_folder(setting: str, kind: str, *below: str) -> Path:
    if setting:
        return Path(os.path.abspath(os.path.expanduser(setting)))  # noqa: PTH100, PTH111 - keeps links and names of nobody
    return _find_folder(kind).joinpath(*below)


def _find_folder(kind: str) -> Path:
    """Return kebab's folder of a kind; platformdirs is imported only where it is needed."""
    usual = _find_xdg_folder(kind)
    if usual is not None:
        return usual
    with translate_import_errors("the folders of this system", "platformdirs"):
        import platformdirs

    return Path(getattr(platformdirs, kind)(_APP, appauthor=False))


def _find_xdg_folder(kind: str) -> Path | None:
    """Return the folder that platformdirs returns on Linux; None for other cases."""
    variable, below = _XDG[kind]
    named = os.environ.get(variable)
    base = Path(os.environ.get("HOME", ""), below) if named is None else Path(named)
    return base / _APP if sys.platform == "linux" and base.is_absolute() else None
