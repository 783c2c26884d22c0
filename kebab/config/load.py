"""Reading settings: defaults, then the file, then `KEBAB_…` variables, then flags."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from kebab.config.model import Settings
from kebab.config.paths import default_config
from kebab.errors.catalog import ConfigInvalid
from kebab.errors.system import absolute
from kebab.errors.translations.languages import Language, spoken

_PREFIX = "KEBAB_"
_LANGUAGE = "lang"
_SWITCHES = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}
_FOREIGN = frozenset(
    {
        "KEBAB_CONFIG",
        "KEBAB_FAULTS",
        "KEBAB_LIVE_MODEL",
        "KEBAB_LIVE_OLLAMA",
        "KEBAB_TEST_MODELS_DIR",
    }
)
"""Variables with our prefix that are not settings."""


def load(
    path: Path | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, Any] | None = None,
) -> Settings:
    """Return the settings; `flags` are dotted keys whose None values are not set.

    Raises:
        ConfigInvalid: A named file does not exist, is not TOML, or holds what is not known.
    """
    environ = os.environ if environ is None else environ
    named = path or (Path(environ["KEBAB_CONFIG"]) if environ.get("KEBAB_CONFIG") else None)
    settings = _convert(_read(named), absolute(named or default_config()))
    layered: dict[str, Any] = msgspec.to_builtins(settings)
    for key, text, name in _from_environment(environ):
        _set(layered, key, _literal(text, key))
        _convert(layered, f"${name}")
    for key, value in (flags or {}).items():
        if value is not None:
            _set(layered, key, value)
    return _convert(layered, "command line")


def language(environ: Mapping[str, str] | None = None) -> Language:
    """Return the language that the environment alone asks for."""
    return spoken((os.environ if environ is None else environ).get(variable(_LANGUAGE), ""))


def setting_keys(form: type[Struct] = Settings, prefix: str = "") -> Iterator[str]:
    """Yield every setting as a dotted key, in order of declaration."""
    for field in msgspec.structs.fields(form):
        key = f"{prefix}{field.encode_name}"
        if isinstance(field.type, type) and issubclass(field.type, Struct):
            yield from setting_keys(field.type, f"{key}.")
        else:
            yield key


def variable(key: str) -> str:
    """Return the environment variable that sets a dotted key."""
    return _PREFIX + key.replace(".", "_").upper()


def _read(named: Path | None) -> dict[str, Any]:
    path = named or default_config()
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (FileNotFoundError, NotADirectoryError) as fault:
        if named is None:
            return {}
        raise ConfigInvalid(path=absolute(path), cause="no such file") from fault
    except OSError as fault:
        raise ConfigInvalid(path=absolute(path), cause=fault.strerror or str(fault)) from fault
    except UnicodeDecodeError as fault:
        raise ConfigInvalid(path=absolute(path), cause=f"not TOML: {fault}") from fault
    import tomllib

    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as fault:
        raise ConfigInvalid(path=absolute(path), cause=f"not TOML: {fault}") from fault


def _convert(values: dict[str, Any], origin: str) -> Settings:
    try:
        return msgspec.convert(values, Settings)
    except msgspec.ValidationError as fault:
        raise ConfigInvalid(path=origin, cause=_explained(str(fault))) from fault


def _explained(fault: str) -> str:
    """Return msgspec's words with the nearest known name after an unknown key."""
    words, _, place = fault.partition(" - at `$")
    where = place.rstrip("`").lstrip(".")
    if not words.startswith("Object contains unknown field `"):
        return f"`{where}`: {words}" if where else words
    name = words.split("`")[1]
    key = f"{where}.{name}" if where else name
    return f"unknown key `{key}`{_nearest(key, setting_keys())}"


def _from_environment(environ: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    known = {variable(key): key for key in setting_keys()}
    for name in sorted(name for name, text in environ.items() if text):
        if name in known:
            yield known[name], environ[name], name
        elif name.startswith(_PREFIX) and name not in _FOREIGN:
            raise ConfigInvalid(path=f"${name}", cause=f"unknown variable{_nearest(name, known)}")


def _nearest(name: str, known: Iterable[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f", did you mean `{near[0]}`?" if near else ""


def _literal(text: str, key: str) -> Any:
    """Return a variable's value: JSON where it reads as JSON and the setting is no text."""
    if key == _LANGUAGE:
        # Scripts hand on what the system says; a language that we lack must not stop them.
        return spoken(text)
    default = _default(key)
    if isinstance(default, str):
        return text
    if isinstance(default, bool):
        return _SWITCHES.get(text.strip().lower(), text)
    import json

    try:
        return json.loads(text)
    except ValueError:
        return text


def _default(key: str) -> Any:
    value: Any = Settings()
    for part in key.split("."):
        value = getattr(value, part)
    return value


def _set(values: dict[str, Any], key: str, value: Any) -> None:
    *sections, name = key.split(".")
    for section in sections:
        values = values[section]
    values[name] = value
