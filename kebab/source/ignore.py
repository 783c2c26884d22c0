"""Decides which files a scan leaves out: by ignore rules, as secrets, and as what tools generate.

Names compare without case on every system, because the same folder may be read on several.
"""

import os
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from kebab.core.files import GIT_FILE, OWN_FILE, ScanRules, get_suffix
from kebab.errors.system import translate_import_errors
from kebab.source.content import holds_secret, may_hold_secret
from kebab.text.normalize import load_words, split_names

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern


PROGRAM_FOLDERS = split_names(
    "$RECYCLE.BIN .bzr .cache .git .gradle .hg .idea .mypy_cache .next .nox .nuxt .obsidian"
    " .parcel-cache .pytest_cache .ruff_cache .stversions .svelte-kit .svn .terraform .tox .trash"
    " .turbo .venv .vscode __pycache__ bower_components node_modules site-packages venv"
)
"""Folders without notes."""

_MANIFESTS = load_words("manifests")
"""The manifests of build tools, and of Logseq, by the folder that the tool writes beside them."""

_MARKERS = {
    "build": "CMakeCache.txt meson-info",
    "obj": "project.assets.json",
    "vendor": "modules.txt",
}
"""What a build tool leaves inside of a folder that it writes."""

_GENERATED_FILES = split_names(
    "bun.lock cargo.lock composer.lock deno.lock flake.lock gemfile.lock go.sum gradle.lockfile"
    " mix.lock npm-shrinkwrap.json package-lock.json packages.lock.json pdm.lock pipfile.lock"
    " pnpm-lock.yaml podfile.lock poetry.lock pubspec.lock uv.lock yarn.lock"
)
_MINIFIED = tuple(
    f"{kind}.{suffix}{rest}"
    for suffix in ("js", "mjs", "cjs", "css")
    for kind, rest in ((".min", ""), ("-min", ""), ("", ".map"))
)


def is_generated(absolute: str, *, folder: bool) -> bool:
    """Return whether a tool writes a folder or a file, by its name and what is beside it."""
    above, _, name = absolute.rpartition("/")
    name = name.lower()
    if not folder:
        return name in _GENERATED_FILES or name.endswith(_MINIFIED)
    if name.endswith((".egg-info", ".dist-info")):
        return True
    if name not in _MANIFESTS and name not in _MARKERS:
        return False
    if any(os.path.exists(f"{absolute}/{one}") for one in _MARKERS.get(name, "").split()):  # noqa: PTH110 - plain strings
        return True
    manifests = frozenset(_MANIFESTS.get(name, "").split())
    try:
        return not manifests.isdisjoint(map(str.lower, os.listdir(above or "/")))  # noqa: PTH208
    except OSError:
        return False


_KEY_SUFFIXES = frozenset(
    split_names(
        ".env .envrc .jks .kdb .kdbx .keystore .keytab .ovpn .p12 .p8 .pem .pfx .ppk"
        " .tfstate .tfvars"
    )
)
_SETTINGS_SUFFIXES = frozenset(
    split_names(
        ".bak .backup .bin .cfg .cnf .conf .credentials .csv .db .enc .ini .json .key"
        " .kubeconfig .old .orig .plist .priv .properties .rc .toml .txt .xml .yaml .yml"
    )
)
"""Only names with one of these suffixes, without a suffix, or with a dot or `_` in front are
compared: those of prose and code are not."""

_DATA = r"(?:json|ya?ml|toml|ini|cfg|conf|xml|properties|csv|plist|enc|tfrc\.json|db)"
"""Formats in which tools write settings. Prose and code about credentials has other suffixes."""
_STAGE = r"(?:ci|dev|development|live|local|prod|production|qa|stage|staging|test)"

_SECRET_NAMES = "|".join(
    (
        r"\.env(?:\..+)?",
        # `credentials`, `credentials.json`, `gcp-credentials.prod.yaml`
        rf"(?:.+[._-])?credentials(?:[._-][^.]+)?(?:\.{_DATA})+|(?:.+[._-])?credentials",
        rf"(?:(?:app|client|user)[_-])?secrets?(?:[._-]{_STAGE})?\.{_DATA}",
        rf"client_secret_.+\.json|(?:access|root)_?keys?\.csv|passwords?\.{_DATA}",
        r"token\.json|auth\.json|accesstokens\.json|msal_token_cache\.(?:json|bin)",
        r"service[_-]?account.*\.json|bitwarden_export.*\.(?:csv|json)",
        rf"kubeconfig(?:\.{_DATA})?|.+[.-]kubeconfig",
        r"[._]netrc|\.npmrc|\.pypirc|\.?pgpass(?:\.conf)?|\.my(?:login)?\.cnf|\.htpasswd",
        r"\.s3cfg|\.boto|\.dockercfg|\.git-?credentials|\.vault-token|\.databrickscfg|\.authinfo(?:\..+)?",
        r"\.terraformrc|terraform\.rc|.+\.tfstate\.backup|.+\.tfvars\.json|\.fetchmailrc|\.msmtprc",
        r"\.[a-z0-9_]*history|\.zhistory|\.lesshst|\.histfile|fish_history|consolehost_history\.txt",
        r"id_(?:rsa|dsa|ecdsa|ed25519|xmss)(?:[_-][^.]+)?(?:\.(?:bak|key|old|orig|priv))?",
    )
)
_SECRET_BELOW = {
    "config": (".kube",),
    "config.json": (".docker",),
    "hosts.yml": (".config/gh",),
    "settings-security.xml": (".m2",),
    "settings.xml": (".m2",),
}
"""Names of files that hold secrets only in certain folders."""

_TEMPLATE_NAMES = (
    r".+[._-](?:example|sample|template|tmpl|dist|defaults?)(?:\.[a-z]+)?"
    r"|(?:example|sample|template)[._-].+|id_.+\.pub"
)
"""Templates, which hold no values, and public keys."""


@cache
def _compile_names(patterns: str) -> re.Pattern[str]:
    return re.compile(patterns, re.DOTALL)


def is_secret_name(path: str) -> bool:
    """Return whether files of this name usually hold secrets; `path` has its folders."""
    above, _, name = path.lower().rpartition("/")
    suffix = get_suffix(name)
    is_secret = (
        suffix in _KEY_SUFFIXES
        or (name in _SECRET_BELOW and f"/{above}".endswith(_SECRET_BELOW[name]))
        or (
            (not suffix or suffix in _SETTINGS_SUFFIXES or name.startswith((".", "_")))
            and _compile_names(_SECRET_NAMES).fullmatch(name) is not None
        )
    )
    return is_secret and _compile_names(_TEMPLATE_NAMES).fullmatch(name) is None


def is_secret_name_below(path: str) -> bool:
    """Return whether files of this name hold secrets in certain folders only."""
    return path.lower().rpartition("/")[2] in _SECRET_BELOW


def has_secret_content(absolute: str, size: int) -> bool:
    """Return whether a file is a private key, or the key of a service account.

    Only small files with the suffix `.json` and those without a suffix are opened.

    Raises:
        OSError: The file cannot be read.
    """
    if not may_hold_secret(absolute, size):
        return False
    with open(absolute, "rb") as file:  # noqa: PTH123 - a path string from the scan
        return holds_secret(absolute, file.read(size))


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
            raw = Path(absolute, name).read_bytes()
            layer = _add_layer(
                layer, len(folder), name, raw.decode("utf-8-sig", "surrogateescape").splitlines()
            )
    return layer


def find_skip_reason(
    layer: Layer | None, rules: ScanRules, root: str, path: str, *, folder: bool
) -> str | None:
    """Return why an entry is skipped, or None; the folders above it are not checked.

    No ignore file takes the name of a secret back, because an exception such as `!*.json` is not
    meant for one.
    """
    if found := _find_match(layer, f"{path}/" if folder else path):
        decisive, is_left_out = found
        if is_left_out:
            return decisive.reason
        if decisive.origin != GIT_FILE:
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
    found = _find_match(_build_secret_layer(rules.secret_files), path)
    return found is not None and found[1]


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


def _find_match(layer: Layer | None, probe: str) -> tuple[Layer, bool] | None:
    """Return the layer that decides, and whether its pattern leaves out."""
    while layer is not None:
        result = layer.spec.check_file(probe[layer.base :])
        if result.include is not None:
            return layer, result.include
        layer = layer.parent
    return None


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
