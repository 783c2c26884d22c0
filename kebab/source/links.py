"""Symbolic links met by a scan: where they lead, and whether that place is found anyway."""

import os
import stat as modes
from pathlib import Path
from typing import NamedTuple

from kebab.source.ignore import IgnoreRules, Layer, refusal_from_root
from kebab.source.media import media_of


class Link(NamedTuple):
    """A symbolic link below the root."""

    path: str
    absolute: str
    layer: Layer | None


class Target(NamedTuple):
    """What a link leads to."""

    real: str
    stat: os.stat_result
    folder: bool


def resolve(link: Link, root: str, rules: IgnoreRules, followed: set[str]) -> Target | str:
    """Return what a link adds to the scan, or the reason for which it is left out."""
    try:
        real = os.path.realpath(link.absolute, strict=True)
        stat = Path(real).stat()
    except OSError:
        return "symlink_broken"
    folder = modes.S_ISDIR(stat.st_mode)
    if real != root and not real.startswith(_with_slash(root)):
        return "symlink_outside"
    if not folder and not modes.S_ISREG(stat.st_mode):
        return "special_file"
    if folder and (real in followed or _with_slash(link.absolute).startswith(_with_slash(real))):
        return "symlink_loop"
    if _found_anyway(real[len(_with_slash(root)) :], root, rules, folder=folder):
        return "duplicate"
    return Target(real, stat, folder)


def _found_anyway(path: str, root: str, rules: IgnoreRules, *, folder: bool) -> bool:
    if not folder and media_of(path.rpartition("/")[2]) is None:
        return False
    return refusal_from_root(root, rules, path, folder=folder) is None


def _with_slash(folder: str) -> str:
    return folder if folder.endswith("/") else f"{folder}/"
