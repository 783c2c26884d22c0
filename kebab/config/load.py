"""Loads the settings: defaults, then the file, then `KEBAB_…` variables, then flags."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from kebab.config.paths import find_default_config
from kebab.config.settings import Settings
from kebab.errors.catalog import NO_FILE, ConfigInvalid, build_variable_name
from kebab.errors.system import resolve_path
from kebab.errors.translations.languages import Language, parse_language

_PREFIX = "KEBAB_"
_LANGUAGE_KEY = "lang"
_SWITCHES = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}
_OTHER_VARIABLES = frozenset(
    {
        "KEBAB_CONFIG",
        "KEBAB_FAULTS",
        "KEBAB_LIVE_MODEL",
        "KEBAB_LIVE_OLLAMA",
        "KEBAB_TEST_MODELS_DIR",
    }
)
"""Variables with the same prefix that are not settings."""


def load_settings(
    path: Path | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, Any] | None = None,
) -> Settings:
    """Return the settings; `flags` are values by dotted key, and None values are ignored.

    Raises:
        ConfigInvalid: A named file does not exist or is not TOML, or a key or value is invalid.
    """
    environ = os.environ if environ is None else environ
    named = path or (Path(environ["KEBAB_CONFIG"]) if environ.get("KEBAB_CONFIG") else None)
    settings = _convert(_read_file(named), resolve_path(named or find_default_config()))
    layered: dict[str, Any] = msgspec.to_builtins(settings)
    for key, text, name in _iter_variables(environ):
        _set(layered, key, _parse_variable(text, key))
        _convert(layered, f"${name}")
    for key, value in (flags or {}).items():
        if value is not None:
            _set(layered, key, value)
    return _convert(layered, "command line")


def read_language(environ: Mapping[str, str] | None = None) -> Language:
    """Return the language that the environment variable sets."""
    return parse_language(
        (os.environ if environ is None else environ).get(build_variable_name(_LANGUAGE_KEY), "")
    )


def iter_setting_keys(form: type[Struct] = Settings, prefix: str = "") -> Iterator[str]:
    """Yield every setting as a dotted key, in order of declaration."""
    for field in msgspec.structs.fields(form):
        key = f"{prefix}{field.encode_name}"
        if isinstance(field.type, type) and issubclass(field.type, Struct):
            yield from iter_setting_keys(field.type, f"{key}.")
        else:
            yield key


def _read_file(named: Path | None) -> dict[str, Any]:
    path = named or find_default_config()
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (FileNotFoundError, NotADirectoryError) as fault:
        if named is None:
            return {}
        raise ConfigInvalid(path=resolve_path(path), cause=NO_FILE) from fault
    except OSError as fault:
        raise ConfigInvalid(path=resolve_path(path), cause=fault.strerror or str(fault)) from fault
    except UnicodeDecodeError as fault:
        raise ConfigInvalid(path=resolve_path(path), cause=f"not TOML: {fault}") from fault
    import tomllib

    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as fault:
        raise ConfigInvalid(path=resolve_path(path), cause=f"not TOML: {fault}") from fault


def _convert(values: dict[str, Any], origin: str) -> Settings:
    try:
        return msgspec.convert(values, Settings)
    except msgspec.ValidationError as fault:
        raise ConfigInvalid(path=origin, cause=_explain_fault(str(fault))) from fault


def _explain_fault(fault: str) -> str:
    """Return the message of msgspec; after an unknown key suggest the nearest known one."""
    words, _, place = fault.partition(" - at `$")
    where = place.rstrip("`").lstrip(".")
    if not words.startswith("Object contains unknown field `"):
        return f"`{where}`: {words}" if where else words
    name = words.split("`")[1]
    key = f"{where}.{name}" if where else name
    return f"unknown key `{key}`{_suggest_name(key, iter_setting_keys())}"


def _iter_variables(environ: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    known = {build_variable_name(key): key for key in iter_setting_keys()}
    for name in sorted(name for name, text in environ.items() if text):
        if name in known:
            yield known[name], environ[name], name
        elif name.startswith(_PREFIX) and name not in _OTHER_VARIABLES:
            raise ConfigInvalid(
                path=f"${name}", cause=f"unknown variable{_suggest_name(name, known)}"
            )


def _suggest_name(name: str, known: Iterable[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f", did you mean `{near[0]}`?" if near else ""


def _parse_variable(text: str, key: str) -> Any:
    """Return the value of a variable: the text of a text setting, else JSON if it is valid."""
    if key == _LANGUAGE_KEY:
        # Scripts pass on the locale of the system, so an unsupported language is no error.
        return parse_language(text)
    default = _find_default(key)
    if isinstance(default, str):
        return text
    if isinstance(default, bool):
        return _SWITCHES.get(text.strip().lower(), text)
    import json

    try:
        return json.loads(text)
    except ValueError:
        return text


def _find_default(key: str) -> Any:
    value: Any = Settings()
    for part in key.split("."):
        value = getattr(value, part)
    return value


def _set(values: dict[str, Any], key: str, value: Any) -> None:
    *sections, name = key.split(".")
    for section in sections:
        values = values[section]
    values[name] = value
