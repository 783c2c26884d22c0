"""Hints: the commands and values that they name, and how a failed call can be repeated.

`Signal.format_hint` fills in the hint of a row of the catalogue, such as `export {variable}=URL`,
with the details of the error and the values of `DERIVED`. A `fault` is the error, a `Signal`.
"""

import os
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class Rerun(NamedTuple):
    """How the failed command line can be repeated so that it succeeds.

    The command line interface turns it into the hint. Where there is no command line, as over HTTP,
    the hint is that of the row.
    """

    add: tuple[str, ...] = ()
    """Words to add, such as `--extractive`."""
    drop: tuple[str, ...] = ()
    """Flags to leave out, with their values."""
    variables: tuple[tuple[str, str], ...] = ()
    """Environment variables to set, with their values."""


MAX_HINT_CHARS = 200
"""The longest hint: a command that was cut would do something else, so a longer one is left out."""


def limit_hint(hint: str | None) -> str | None:
    """Return a hint; None when it is longer than a line of `MAX_HINT_CHARS`."""
    fits = hint is not None and len(hint) <= MAX_HINT_CHARS and len(hint.splitlines()) == 1
    return hint if fits else None


NO_FILE, NO_FOLDER = "no such file", "no such folder"
NOT_UTF8 = "the name is not valid UTF-8"
"""Causes that kebab words itself, so that a hint can depend on them."""

UNKNOWN_ISSUER = re.compile("self.signed|issuer")
"""How OpenSSL words that nothing on this machine vouches for a certificate."""
KNOWN_IN_IT = "documents are known in it"
"""Part of the cause when the folder of a source is suddenly empty or missing."""

CLUSTER_FAILED = (
    "the Ray cluster at {address} failed: {cause}",
    "what is done is kept; go on from there: `kebab ingest --ray {address}`",
)
NODES_DIFFER = (
    "the nodes of the Ray cluster at {address} differ from this machine: {cause}",
    "install the same versions of Python, Ray and `kebab[ray]` on every node",
)
"""Messages and hints of a cluster that was reached."""

ARCHIVE = "cannot use the archive: {archive}: {cause}"
DAMAGED_BASE = (
    "cannot use what is published: {path}: {cause}",
    "its publisher can publish again, or to another address",
)
"""Messages and hints of damaged copies."""

NEEDS_MODEL = ("translate", "ocr", "caption")
"""The operations that cannot go on without a language model."""

_FALLBACKS: Mapping[str, tuple[str, Rerun]] = {
    "ask": ("kebab ask --extractive QUESTION", Rerun(add=("--extractive",), drop=("--model",))),
    "review": (
        "kebab review --no-llm DOCUMENT",
        Rerun(add=("--no-llm",), drop=("--model", "--tier")),
    ),
}
"""How an operation goes on without a language model: a command, and the same call."""
_OTHER_MODEL = {
    "ask": "kebab ask --model NAME QUESTION",
    "review": "kebab review --model NAME DOCUMENT",
    "translate": "kebab translate --model NAME --to LANG DOCUMENT",
    "ocr": "export KEBAB_MODELS_VISION=NAME",
    "caption": "export KEBAB_MODELS_VISION=NAME",
}
"""How an operation is repeated with another model."""
_SAFE_VALUES = {
    "models.llm.think": "false",
    "models.llm.keep_alive": "5m",
    "models.llm.provider": "openai",
}
"""The values of options that every server supports; other settings are addresses."""


def build_variable_name(key: str) -> str:
    """Return the environment variable that sets a dotted key."""
    return "KEBAB_" + key.replace(".", "_").upper()


def _find_variable(fault: Any) -> str:
    """Return the environment variable of a setting, which may itself be a variable."""
    setting = fault.setting or "models.llm.endpoint"
    return build_variable_name(setting) if "." in setting else str(setting)


def _double_limit(fault: Any) -> str:
    """Return twice the limit that was too short, in seconds."""
    return f"{2 * fault.deadline_ms / 1000:g}"


def is_local(endpoint: str) -> bool:
    """Return whether a URL names this machine."""
    host = _find_host(endpoint)
    return host.startswith("127.") or host in ("localhost", "::1")


def _find_host(endpoint: str) -> str:
    """Return the host of a URL without user info."""
    host = endpoint.partition("://")[2].partition("/")[0]
    return host.rpartition(":")[0].strip("[]") or host


def _find_place(path: str) -> str:
    """Return what lacks the permission to write: the file, else its nearest folder."""
    while not os.path.lexists(path) and (folder := os.path.dirname(path)) != path:  # noqa: PTH120 - text is wanted
        path = folder
    return path


DERIVED: Mapping[str, Callable[[Any], str]] = {
    "fallback": lambda one: _FALLBACKS.get(one.operation or "", _FALLBACKS["ask"])[0],
    "folder": lambda one: os.path.dirname(one.path),  # noqa: PTH120 - text is wanted
    "host": lambda one: _find_host(one.endpoint),
    "name": lambda one: one.path.removeprefix("$"),
    "near": lambda one: one.models[0] if one.models else "NAME",
    "other": lambda one: _OTHER_MODEL.get(one.operation, _OTHER_MODEL["ask"]),
    "place": lambda one: _find_place(one.path),
    "seconds": _double_limit,
    "value": lambda one: _SAFE_VALUES.get(one.setting or "", "URL"),
    "variable": _find_variable,
}
"""The values that a hint may name besides the details, computed from an error.

`near` is the model of the server whose name is the nearest.
"""


def plan_without_model(fault: Any) -> Rerun | None:
    """Return the same call without a language model; None when there is none."""
    if fault.operation in NEEDS_MODEL:
        return None
    return _FALLBACKS.get(fault.operation or "", _FALLBACKS["ask"])[1]


def plan_without_server(fault: Any) -> Rerun | None:
    """Return the same call without a language model, unless another hint repairs the cause."""
    return None if fault.reason in ("proxy", "certificate") else plan_without_model(fault)


def plan_after_refusal(fault: Any) -> Rerun | None:
    """Return the call with a safe option or without a model; None when a key is needed."""
    if fault.reason in ("key_missing", "key_refused", "sign_in"):
        return None
    if value := _SAFE_VALUES.get(fault.setting or ""):
        return Rerun(variables=((_find_variable(fault), value),))
    return plan_without_model(fault)


def plan_with_more_time(fault: Any) -> Rerun | None:
    """Return the same call with twice the time, where a setting is the limit."""
    change = (_find_variable(fault), _double_limit(fault))
    return Rerun(variables=(change,)) if fault.setting else None


_COMMANDS = ("install", "operation", "fallback", "other")
"""The values that are commands; all others are quoted for the shell within a hint."""


def quote_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values in the form that a shell reads as one word each."""
    import shlex

    def quote(value: str) -> str:
        # The folder `~` of a shortened path must stay outside of the quotes.
        home, start, rest = value.partition("~/")
        return f"{start}{shlex.quote(rest)}" if start and not home else shlex.quote(value)

    return {
        name: quote(value) if isinstance(value, str) and name not in _COMMANDS else value
        for name, value in values.items()
    }
