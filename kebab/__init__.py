"""kebab: a local-first knowledge base for the terminal."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from os import PathLike

    from kebab.app.facade import Kebab

__version__ = "0.1.0"


def open(  # noqa: A001 - read as `kebab.open()`
    data_dir: "str | PathLike[str] | None" = None,
    *,
    config: "str | PathLike[str] | None" = None,
    read_only: bool = False,
) -> "Kebab":
    """Return a knowledge base; use it as a context manager, or close it.

    Args:
        data_dir: Its folder; without it the one of the command line.
        config: The settings file; without it the one of the command line.
        read_only: Whether every write is refused.

    Raises:
        ConfigInvalid: The settings are unusable.
    """
    from os import fspath
    from pathlib import Path

    from kebab.app.facade import Kebab
    from kebab.config.load import load_settings
    from kebab.config.settings import find_default_config

    named = Path(config) if config is not None else None
    flags = {"data_dir": None if data_dir is None else fspath(data_dir)}
    settings = load_settings(named, flags=flags)
    return Kebab(settings, config_path=named or find_default_config(), read_only=read_only)
