"""Where things lie: the platform's folders, unless a setting says otherwise."""

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
"""By kind, the variable that names a folder on Linux, and where it lies below home without it."""


class Paths(NamedTuple):
    """The folders and files of one knowledge base; nothing here is created by looking."""

    data: Path
    models: Path
    state: Path

    @property
    def stdin_dir(self) -> Path:
        """The texts that came from standard input, one file each."""
        return self.data / "stdin"

    @property
    def log(self) -> Path:
        """The log of faults."""
        return self.state / "kebab.log"


def find_default_config() -> Path:
    """Return where the settings file lies when no flag names one."""
    return _find_folder("user_config_dir") / "config.toml"


def resolve_paths(settings: Settings) -> Paths:
    """Return the folders that these settings mean, absolute."""
    return Paths(
        data=_resolve_folder(settings.data_dir, "user_data_dir"),
        models=_resolve_folder(settings.models_dir, "user_cache_dir", "models"),
        state=_resolve_folder("", "user_state_dir"),
    )


def _resolve_folder(setting: str, kind: str, *below: str) -> Path:
    if setting:
        return Path(os.path.abspath(Path(setting).expanduser()))  # noqa: PTH100 - keeps links
    return _find_folder(kind).joinpath(*below)


def _find_folder(kind: str) -> Path:
    """Return our folder of a kind; the usual case is not worth the time to load the library."""
    usual = _find_xdg_folder(kind)
    if usual is not None:
        return usual
    with translate_import_errors("the folders of this system", "platformdirs"):
        import platformdirs

    return Path(getattr(platformdirs, kind)(_APP, appauthor=False))


def _find_xdg_folder(kind: str) -> Path | None:
    """Return what platformdirs says where variables are in order, None elsewhere."""
    variable, below = _XDG[kind]
    named = os.environ.get(variable)
    base = Path(os.environ.get("HOME", ""), below) if named is None else Path(named)
    return base / _APP if sys.platform == "linux" and base.is_absolute() else None
