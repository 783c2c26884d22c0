"""Where things lie: the platform's folders, unless a setting says otherwise."""

import os
from dataclasses import dataclass
from pathlib import Path

from kebab.config.model import Settings
from kebab.errors.dependency import needed

_APP = "kebab"


@dataclass(frozen=True, slots=True)
class Places:
    """The folders and files of one knowledge base; nothing here is created by looking."""

    data: Path
    models: Path
    state: Path

    @property
    def texts(self) -> Path:
        """The texts that came from standard input, one file each."""
        return self.data / "stdin"

    @property
    def log(self) -> Path:
        """The log of faults."""
        return self.state / "kebab.log"


def default_config() -> Path:
    """Return where the settings file lies when no flag names one."""
    with needed("the folders of this system", "platformdirs"):
        import platformdirs

    return Path(platformdirs.user_config_dir(_APP, appauthor=False)) / "config.toml"


def places(settings: Settings) -> Places:
    """Return the folders that these settings mean, absolute."""
    return Places(
        data=_chosen(settings.data_dir, "user_data_dir"),
        models=_chosen(settings.models_dir, "user_cache_dir", "models"),
        state=_chosen("", "user_state_dir"),
    )


def _chosen(setting: str, kind: str, *below: str) -> Path:
    if setting:
        return Path(os.path.abspath(Path(setting).expanduser()))  # noqa: PTH100 - keeps links
    with needed("the folders of this system", "platformdirs"):
        import platformdirs

    return Path(getattr(platformdirs, kind)(_APP, appauthor=False), *below)
