"""Decides which files a scan leaves out."""

import re
import warnings
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kebab.core.files import ScanRules
from kebab.errors.system import translate_import_errors

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

OWN_FILE = ".kebabignore"
GIT_FILE = ".gitignore"
SETTINGS = "settings"

BUILT_IN_EXCLUDES = frozenset(
    {
        "$RECYCLE.BIN",
        ".bzr",
        ".cache",
        ".git",
        ".hg",
        ".idea",
        ".mypy_cache",
        ".nox",
        ".obsidian",
        ".pytest_cache",
        ".ruff_cache",
        ".stversions",
        ".svn",
        ".tox",
        ".trash",
        ".venv",
        ".vscode",
        "__pycache__",
        "bower_components",
        "node_modules",
        "site-packages",
        "venv",
    }
)
"""Folders that hold no one's notes."""


@dataclass(frozen=True, slots=True)
class Layer:
    """The patterns of one ignore file; `parent` is asked when they have no opinion."""

    spec: "GitIgnoreSpec"
    base: int
    """How much of a path lies above the folder that the patterns are about."""
    origin: str
    parent: "Layer | None"

    @property
    def reason(self) -> str:
        """Why a file that the patterns name is left out."""
        return "ignored" if self.origin in {OWN_FILE, GIT_FILE} else "excluded"


def build_base_layer(rules: ScanRules) -> Layer | None:
    """Return the layer of the settings' own patterns, which is asked last."""
    return _add_layer(None, 0, SETTINGS, rules.exclude)


def enter_folder(
    layer: Layer | None, folder: str, absolute: str, names: Collection[str]
) -> Layer | None:
    """Return the layers that hold inside a folder which contains `names`.

    `folder` is its path below the root, empty or ending in a slash.

    Raises:
        OSError: An ignore file cannot be read.
    """
    base = len(folder)
    if GIT_FILE in names:
        layer = _add_layer(layer, base, GIT_FILE, _read_lines(absolute, GIT_FILE))
    if OWN_FILE in names:
        layer = _add_layer(layer, base, OWN_FILE, _read_lines(absolute, OWN_FILE))
    return layer


def find_skip_reason(
    layer: Layer | None, rules: ScanRules, path: str, *, folder: bool
) -> str | None:
    """Return why an entry is left out, or None; the folders above it must have been asked."""
    if layer is not None:
        verdict = _match_layers(layer, f"{path}/" if folder else path)
        if verdict is not None:
            return verdict or None
    name = path.rpartition("/")[2]
    if folder and name in BUILT_IN_EXCLUDES:
        return "excluded"
    return "hidden" if name[:1] == "." and not rules.hidden else None


def find_skip_reason_from_root(
    root: str, rules: ScanRules, path: str, *, folder: bool
) -> str | None:
    """Return why an entry is left out, asking every folder between the root and it."""
    layer = build_base_layer(rules)
    parts = path.split("/")
    above = ""
    for depth, part in enumerate(parts):
        layer = _enter_alone(layer, root, above)
        is_folder = folder or depth < len(parts) - 1
        reason = find_skip_reason(layer, rules, above + part, folder=is_folder)
        if reason is not None:
            return reason
        above += f"{part}/"
    return None


def build_layers_above(root: str, rules: ScanRules, path: str) -> Layer | None:
    """Return the layers of every folder above `path`, which lies below the root."""
    layer = build_base_layer(rules)
    above = ""
    for part in path.split("/"):
        layer = _enter_alone(layer, root, above)
        above += f"{part}/"
    return layer


def _enter_alone(layer: Layer | None, root: str, folder: str) -> Layer | None:
    place = Path(root, folder)
    present = [name for name in (GIT_FILE, OWN_FILE) if (place / name).is_file()]
    return enter_folder(layer, folder, str(place), present)


def _match_layers(layer: Layer, probe: str) -> str | None:
    """Return a reason, an empty string for what is wanted whatever the defaults say, or None."""
    step: Layer | None = layer
    while step is not None:
        include = step.spec.check_file(probe[step.base :]).include
        if include:
            return step.reason
        if include is False:
            return None if step.origin == GIT_FILE else ""
        step = step.parent
    return None


def _read_lines(absolute: str, name: str) -> list[str]:
    raw = Path(absolute, name).read_bytes()
    return raw.decode("utf-8-sig", "surrogateescape").splitlines()


def _add_layer(parent: Layer | None, base: int, origin: str, lines: Iterable[str]) -> Layer | None:
    spec = _compile_patterns(lines)
    return Layer(spec, base, origin, parent) if spec is not None else parent


def _compile_patterns(lines: Iterable[str]) -> "GitIgnoreSpec | None":
    """Return the patterns; a line that git would not understand is left out, as git does."""
    written = [line for line in lines if line.strip() and not line.startswith("#")]
    if not written:
        return None
    with translate_import_errors("ignore files", "pathspec"):
        from pathspec import GitIgnoreSpec

    patterns = [pattern for line in written for pattern in _parse_pattern(line)]
    return GitIgnoreSpec(patterns) if patterns else None


def _parse_pattern(line: str) -> "Sequence[GitIgnoreSpecPattern]":
    """Return the pattern of a line, or nothing when it is none."""
    from pathspec import GitIgnoreSpec

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            return list(GitIgnoreSpec.from_lines([line]).patterns)
    except (ValueError, re.error):
        return []
