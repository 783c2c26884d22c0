"""Decides which files a scan leaves out."""

import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from kebab.core.files import GIT_FILE, OWN_FILE, SECRET_SETTING, ScanRules
from kebab.errors.system import translate_import_errors
from kebab.source.defaults import PROGRAM_FOLDERS, is_generated, is_secret_name
from kebab.wire.library import SkipRule

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

SETTINGS = "settings"

SECRET, GENERATED = "secret", "generated"
"""The skip reasons of files that usually hold secrets, and of what tools write."""


class Layer(Struct, frozen=True):
    """The patterns of one ignore file; `parent` decides when none of them matches."""

    spec: "GitIgnoreSpec"
    base: int
    """The length of the path of the folder that the patterns apply to."""
    origin: str
    parent: "Layer | None"

    @property
    def reason(self) -> str:
        """The skip reason of files that the patterns name."""
        return "ignored" if self.origin in {OWN_FILE, GIT_FILE} else "excluded"


def build_base_layer(rules: ScanRules) -> Layer | None:
    """Return the layer of the patterns in the settings, which decides last."""
    return _add_layer(None, 0, SETTINGS, rules.exclude)


def enter_folder(
    layer: Layer | None, folder: str, absolute: str, names: Collection[str]
) -> Layer | None:
    """Return the layers that apply inside a folder with the entries `names`.

    `folder` is its path below the root, empty or ending in a slash.

    Raises:
        OSError: An ignore file cannot be read.
    """
    for name in (GIT_FILE, OWN_FILE):
        if name in names:
            layer = _add_layer(layer, len(folder), name, _read_lines(absolute, name))
    return layer


def find_skip_reason(
    layer: Layer | None, rules: ScanRules, root: str, path: str, *, folder: bool
) -> str | None:
    """Return why an entry is skipped, or None; the folders above it are not checked.

    No ignore file takes the name of a secret back, because an exception such as `!*.json` is not
    meant for one.
    """
    if layer is not None:
        found = _find_match(layer, f"{path}/" if folder else path)
        if found is not None and found.include:
            return found.layer.reason
        if found is not None and found.layer.origin != GIT_FILE:
            # An exception of the user overrides the other defaults.
            return SECRET if not folder and _is_secret(rules, root, path) else None
    name = path.rpartition("/")[2]
    if folder and name in PROGRAM_FOLDERS:
        return "excluded"
    if not folder and _is_secret(rules, root, path):
        return SECRET
    if name[:1] == "." and not rules.hidden:
        return "hidden"
    return GENERATED if is_generated(f"{root}/{path}", folder=folder) else None


def _is_secret(rules: ScanRules, root: str, path: str) -> bool:
    return is_secret_name(f"{root}/{path}") and not allows_secret(rules, path)


def allows_secret(rules: ScanRules, path: str) -> bool:
    """Return whether the settings ask for a file that usually holds secrets."""
    layer = _build_secret_layer(rules.secret_files)
    match = _find_match(layer, path) if layer else None
    return match is not None and match.include


@lru_cache(maxsize=4)
def _build_secret_layer(patterns: tuple[str, ...]) -> Layer | None:
    return _add_layer(None, 0, SETTINGS, patterns)


def find_skip_reason_from_root(
    root: str, rules: ScanRules, path: str, *, folder: bool
) -> str | None:
    """Return why an entry or a folder above it is skipped, or None."""
    for entry, layer in _descend(root, rules, path):
        reason = find_skip_reason(layer, rules, root, entry, folder=folder or entry != path)
        if reason is not None:
            return reason
    return None


def build_layers_above(root: str, rules: ScanRules, path: str) -> Layer | None:
    """Return the layers of all folders above a path, which lies below the root."""
    *_, (_, layer) = _descend(root, rules, path)
    return layer


def _descend(root: str, rules: ScanRules, path: str) -> Iterator[tuple[str, Layer | None]]:
    """Yield each entry on the way from the root to a path, with the layers above it."""
    layer, above = build_base_layer(rules), ""
    for part in path.split("/"):
        location = Path(root, above)
        present = [name for name in (GIT_FILE, OWN_FILE) if (location / name).is_file()]
        layer = enter_folder(layer, above, str(location), present)
        yield above + part, layer
        above += f"{part}/"


class _Match(NamedTuple):
    """The layer that decides, the position of its pattern, and whether the pattern leaves out."""

    layer: Layer
    number: int
    include: bool


def _find_match(layer: Layer, probe: str) -> _Match | None:
    current: Layer | None = layer
    while current is not None:
        result = current.spec.check_file(probe[current.base :])
        if result.include is not None and result.index is not None:
            return _Match(current, result.index, result.include)
        current = current.parent
    return None


def explain_skip(
    root: str, rules: ScanRules, path: str, *, folder: bool
) -> tuple[str, SkipRule] | None:
    """Return the skip reason of an entry or a folder above it, and its rule, or None.

    Raises:
        OSError: An ignore file cannot be read.
    """
    for entry, layer in _descend(root, rules, path):
        is_folder = folder or entry != path
        reason = find_skip_reason(layer, rules, root, entry, folder=is_folder)
        if reason == SECRET:
            return reason, SkipRule(path=entry, setting=SECRET_SETTING)
        if reason is not None:
            match = _find_match(layer, f"{entry}/" if is_folder else entry) if layer else None
            if match is not None and match.include:
                return _describe_match(root, rules, entry, match)
            setting = "ingest.hidden" if reason == "hidden" else None
            return reason, SkipRule(path=entry, setting=setting)
    return None


def _describe_match(root: str, rules: ScanRules, entry: str, match: _Match) -> tuple[str, SkipRule]:
    layer = match.layer
    if layer.origin == SETTINGS:
        _, pattern = _number_patterns(rules.exclude)[match.number]
        return layer.reason, SkipRule(path=entry, pattern=pattern, setting="ingest.exclude")
    folder = Path(root, entry[: layer.base])
    line, pattern = _number_patterns(_read_lines(str(folder), layer.origin))[match.number]
    file = str(folder / layer.origin)
    return layer.reason, SkipRule(path=entry, file=file, line=line, pattern=pattern)


def _number_patterns(lines: Iterable[str]) -> list[tuple[int, str]]:
    return [
        (number, line)
        for number, line in enumerate(lines, start=1)
        if line.strip() and not line.startswith("#")
        for _ in _parse_pattern(line)
    ]


def _read_lines(absolute: str, name: str) -> list[str]:
    raw = Path(absolute, name).read_bytes()
    return raw.decode("utf-8-sig", "surrogateescape").splitlines()


def _add_layer(parent: Layer | None, base: int, origin: str, lines: Iterable[str]) -> Layer | None:
    """Return the layer of an ignore file; like git, it skips lines that are no pattern."""
    pattern_lines = [line for line in lines if line.strip() and not line.startswith("#")]
    if not pattern_lines:
        return parent
    with translate_import_errors("ignore files", "pathspec"):
        from pathspec import GitIgnoreSpec

    patterns = [pattern for line in pattern_lines for pattern in _parse_pattern(line)]
    return Layer(GitIgnoreSpec(patterns), base, origin, parent) if patterns else parent


def _parse_pattern(line: str) -> "Sequence[GitIgnoreSpecPattern]":
    """Return the pattern of a line; none when it is invalid."""
    from pathspec import GitIgnoreSpec

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            return list(GitIgnoreSpec.from_lines([line]).patterns)
    except (ValueError, re.error):
        return []
