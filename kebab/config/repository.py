"""Reads the settings of reviews that a repository has itself.

They are in `kebab.toml`, under `[review]`, or in `pyproject.toml`, under `[tool.kebab.review]`.
A repository is not trusted: no other setting is read from it.
"""

import os
import tomllib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from kebab.config.load import explain_fault
from kebab.config.settings import Natural, ReviewOverride, Severity
from kebab.errors.catalog import ConfigInvalid

OWN_FILE, PROJECT_FILE = "kebab.toml", "pyproject.toml"
_GIT = ".git"
_MOST_FOLDERS = 64


class RepositoryReview(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of reviews that a repository may have; None means those of the user."""

    disable: list[str] = msgspec.field(default_factory=list)
    severity: dict[str, Severity] = msgspec.field(default_factory=dict)
    overrides: list[ReviewOverride] = msgspec.field(default_factory=list)
    stale_days: Natural | None = None


class FolderReview(NamedTuple):
    """Settings of reviews, their file, and the folder that their patterns start from."""

    path: str
    folder: str
    review: RepositoryReview


class RepositorySettings:
    """Finds the settings for files; each file of settings is read once.

    `may_read` tells whether a path may be read at all.
    """

    def __init__(self, may_read: Callable[[str], bool] = lambda _: True) -> None:
        self._may_read = may_read
        self._load = lru_cache(maxsize=4096)(self._load_folder)
        self._find = lru_cache(maxsize=4096)(self._find_above)

    def find(self, file: str, root: str) -> FolderReview | None:
        """Return the settings that are nearest above a file, up to its repository.

        Without a repository they are looked for up to `root`, the folder that is reviewed.

        Raises:
            ConfigInvalid: A file of settings cannot be read, or has an unknown key or value.
        """
        return self._find(os.path.dirname(file), root)  # noqa: PTH120 - far faster

    def _find_above(self, folder: str, root: str) -> FolderReview | None:
        outer: list[str] = []
        for _ in range(_MOST_FOLDERS):
            outer.append(folder)
            parent = os.path.dirname(folder)  # noqa: PTH120 - far faster
            if os.path.lexists(f"{folder}/{_GIT}") or parent == folder:
                break
            folder = parent
        if not os.path.lexists(f"{folder}/{_GIT}"):
            outer = [one for one in outer if one == root or one.startswith(f"{root.rstrip('/')}/")]
        return next(filter(None, map(self._load, outer)), None)

    def _load_folder(self, folder: str) -> FolderReview | None:
        for name, section in ((OWN_FILE, ("review",)), (PROJECT_FILE, ("tool", "kebab", "review"))):
            path = os.path.join(folder, name)  # noqa: PTH118 - far faster
            if not os.path.isfile(path) or not self._may_read(path):  # noqa: PTH113 - far faster
                continue
            found = _read(path, section)
            if found is not None:
                return FolderReview(path, folder, found)
        return None


def _read(path: str, section: tuple[str, ...]) -> RepositoryReview | None:
    """Return the settings of a file; None when `pyproject.toml` has none."""
    from kebab.config.settings_file import find_line, read_settings_text

    try:
        text = read_settings_text(Path(path))
        values: Any = tomllib.loads(text)
    except OSError as fault:
        raise ConfigInvalid(path=path, cause=fault.strerror or str(fault)) from fault
    except (ValueError, RecursionError) as fault:
        raise ConfigInvalid(path=path, cause=f"not TOML: {fault}") from fault
    prefix = ".".join(section)
    if len(section) == 1:
        other = next((name for name in values if name != section[0]), None)
        if other is not None:
            line = find_line(text, other)
            cause = f"a repository has settings under `review` only, not `{other}`"
            cause = cause if line is None else f"line {line}: {cause}"
            raise ConfigInvalid(path=path, cause=cause)
    for name in section:
        values = values.get(name) if isinstance(values, dict) else None
        if values is None:
            return None
    try:
        return msgspec.convert(values, RepositoryReview)
    except msgspec.ValidationError as fault:
        key, cause = explain_fault(_place_below(str(fault), prefix))
        line = find_line(text, key)
        cause = cause if line is None else f"line {line}: {cause}"
        raise ConfigInvalid(path=path, cause=cause) from fault


def _place_below(fault: str, prefix: str) -> str:
    """Return a message of msgspec whose place begins with the section."""
    words, sign, place = fault.partition(" - at `$")
    return f"{words} - at `$.{prefix}{place if sign else '`'}"
