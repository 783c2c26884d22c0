"""Knows the files and folders that a scan leaves out unasked: secrets, and what tools generate.

`kebab.source.ignore` applies the names, `kebab.source.walk` the look at the content. Names compare
without case on every system, because the same folder may be read on several.
"""

import os
import re
from functools import cache

from kebab.core.content import holds_secret, may_hold_secret
from kebab.core.files import get_suffix
from kebab.text.normalize import split_names

PROGRAM_FOLDERS = split_names(
    "$RECYCLE.BIN .bzr .cache .git .gradle .hg .idea .mypy_cache .next .nox .nuxt .obsidian"
    " .parcel-cache .pytest_cache .ruff_cache .stversions .svelte-kit .svn .terraform .tox .trash"
    " .turbo .venv .vscode __pycache__ bower_components node_modules site-packages venv"
)
"""Folders without notes."""

_NODE, _GRADLE = "package.json", "build.gradle build.gradle.kts settings.gradle settings.gradle.kts"
_PYTHON = "pyproject.toml setup.py setup.cfg"
_MANIFESTS = {
    "_build": "_config.yml conf.py dune-project mix.exs rebar.config",
    "_site": "_config.yml",
    "build": f"{_NODE} {_PYTHON} {_GRADLE} pubspec.yaml",
    "deps": "mix.exs",
    "dist": f"{_NODE} {_PYTHON}",
    "out": f"{_NODE} {_GRADLE}",
    "pods": "podfile",
    "public": "gatsby-config.js gatsby-config.ts hugo.json hugo.toml hugo.yaml",
    "site": "mkdocs.yml",
    "target": "build.sbt cargo.toml pom.xml project.clj",
    "vendor": "composer.json go.mod",
    "zig-out": "build.zig",
}
"""The manifests of build tools by the folder that the tool writes beside them."""

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
