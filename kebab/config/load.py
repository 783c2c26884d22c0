"""Loads the settings: defaults, then the file, then `KEBAB_…` variables, then flags.

It also builds the commented file of `init`, and replaces settings files of any program.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from kebab.config.settings import BASE_FILE, FILE_ADDRESS, FORMS, Settings, find_default_config
from kebab.errors.catalog import ConfigInvalid
from kebab.errors.hints import NO_FILE, build_variable_name
from kebab.errors.signal import Language, parse_language
from kebab.errors.system import build_read_error, resolve_path

_PATTERN = "matching regex"
"""How msgspec words that a text has the wrong form."""
_CUTOFF = 0.7
"""How alike an unknown key and the one that was meant have to be."""
_FILE_VARIABLE = "KEBAB_CONFIG"
_LANGUAGE_KEY = "lang"
_SWITCHES = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}


class SettingsReport(NamedTuple):
    """The settings that can be used, and everything that is wrong with what was given."""

    settings: Settings
    """The settings; a default stands in for each invalid value."""
    faults: tuple[ConfigInvalid, ...] = ()
    """The invalid files, keys, values and variables, in the order in which they are read."""


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
    report = read_settings(path, environ=environ, flags=flags)
    if report.faults:
        raise report.faults[0]
    return report.settings


def read_settings(
    path: Path | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, Any] | None = None,
) -> SettingsReport:
    """Return the settings and their faults; the arguments are those of `load_settings`."""
    environ = os.environ if environ is None else environ
    named = path or (Path(environ[_FILE_VARIABLE]) if environ.get(_FILE_VARIABLE) else None)
    layered, faults = _read_file(named)
    known = _list_variables()
    for name in sorted(known.keys() & environ.keys()):
        if text := environ[name]:
            key = known[name]
            _set_if_valid(layered, key, _parse_variable(text, key), f"${name}", faults)
    for key, value in (flags or {}).items():
        if value is not None:
            _set_if_valid(layered, key, value, "command line", faults)
    if place := layered.get("data_dir"):
        folder = os.path.abspath(os.path.expanduser(place))  # noqa: PTH100, PTH111 - keeps links
        if Path(folder, BASE_FILE).is_file():
            layered["data_dir"] = FILE_ADDRESS + folder
    settings = msgspec.convert(layered, Settings)
    return SettingsReport(settings, tuple(faults))


def replace_setting(settings: Settings, key: str, value: Any) -> Settings:
    """Return a copy of the settings with another value for a dotted key.

    Raises:
        ConfigInvalid: The value is invalid.
    """
    values: dict[str, Any] = msgspec.to_builtins(settings)
    faults: list[ConfigInvalid] = []
    _set_if_valid(values, key, value, key, faults)
    if faults:
        raise faults[0]
    return msgspec.convert(values, Settings)


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


def _read_file(named: Path | None) -> tuple[dict[str, Any], list[ConfigInvalid]]:
    """Return all settings as the file has them, and the faults of the file."""
    path = named or find_default_config()
    try:
        text = _read_text(path, must_exist=named is not None)
    except ConfigInvalid as fault:
        return msgspec.to_builtins(Settings()), [fault]
    try:
        values = _parse_toml(text) if text else {}
    except (ValueError, RecursionError) as invalid:
        unreadable = _build_fault(resolve_path(path), f"not TOML: {invalid}", invalid)
        return msgspec.to_builtins(Settings()), [unreadable]
    faults: list[ConfigInvalid] = []
    while True:
        try:
            return msgspec.to_builtins(msgspec.convert(values, Settings)), faults
        except msgspec.ValidationError as invalid:
            from copy import deepcopy

            key, cause = explain_fault(str(invalid))
            line = find_line(text, key)
            cause = cause if line is None else f"line {line}: {cause}"
            faults.append(_build_fault(resolve_path(path), cause, invalid))
            values = deepcopy(values)  # the parsed text is cached
            if not _remove(values, key):
                return msgspec.to_builtins(Settings()), faults


def _read_text(path: Path, *, must_exist: bool) -> str:
    try:
        return read_settings_text(path)
    except (FileNotFoundError, NotADirectoryError) as fault:
        if not must_exist:
            return ""
        raise ConfigInvalid(path=resolve_path(path), cause=NO_FILE) from fault
    except OSError as fault:
        raise ConfigInvalid(path=resolve_path(path), cause=fault.strerror or str(fault)) from fault


@lru_cache(maxsize=4)
def _parse_toml(text: str) -> dict[str, Any]:
    """Return the values of a TOML file; a long-running process parses a text once."""
    import tomllib

    return tomllib.loads(text)


def _build_fault(origin: str, cause: str, invalid: Exception) -> ConfigInvalid:
    fault = ConfigInvalid(path=origin, cause=cause)
    fault.__cause__ = invalid
    return fault


def _set_if_valid(
    values: dict[str, Any], key: str, value: Any, origin: str, faults: list[ConfigInvalid]
) -> None:
    """Set a key; a value that is invalid is reported, and the old one stays."""
    *sections, name = key.split(".")
    place = values
    for section in sections:
        place = place[section]
    before = place[name]
    place[name] = value
    try:
        msgspec.convert(values, Settings)
    except msgspec.ValidationError as invalid:
        place[name] = before
        faults.append(_build_fault(origin, explain_fault(str(invalid))[1], invalid))


def _remove(values: dict[str, Any], key: str) -> bool:
    """Remove a dotted key; return whether it was there."""
    section, _, name = key.rpartition(".")
    place: Any = values
    for part in filter(None, section.split(".")):
        place = place.get(part) if isinstance(place, dict) else None
    return isinstance(place, dict) and place.pop(name, None) is not None


def explain_fault(fault: str) -> tuple[str, str]:
    """Return the key of a message of msgspec, and the cause.

    After an unknown key the cause suggests the nearest known one.
    """
    words, _, place = fault.partition(" - at `$")
    where = place.rstrip("`").lstrip(".")
    if where in FORMS and _PATTERN in words:
        return where, f"`{where}`: expected {FORMS[where]}"
    if not words.startswith("Object contains unknown field `"):
        return where.partition("[")[0], f"`{where}`: {words}" if where else words
    name = words.split("`")[1]
    key = f"{where}.{name}" if where else name
    import difflib

    known, cutoff = [*iter_setting_keys()], _CUTOFF if "." in key else 0.5
    near = difflib.get_close_matches(key, known, n=1, cutoff=cutoff)
    suggestion = f", did you mean `{near[0]}`?" if near else ""
    return key, f"unknown key `{key}`{suggestion}"


@cache
def _list_variables() -> Mapping[str, str]:
    """Return the key of each setting by the name of its variable."""
    return {build_variable_name(key): key for key in iter_setting_keys()}


def _parse_variable(text: str, key: str) -> Any:
    """Return the value of a variable: the text of a text setting, else JSON if it is valid."""
    if key == _LANGUAGE_KEY:
        # Scripts pass on the locale of the system, so an unsupported language is no error.
        return parse_language(text)
    default: Any = Settings()
    for part in key.split("."):
        default = getattr(default, part)
    if isinstance(default, str):
        return text
    if isinstance(default, bool):
        return _SWITCHES.get(text.strip().lower(), text)
    try:
        return json.loads(text)
    except ValueError:
        return text


_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")
_LANGUAGE = re.compile(r"[a-z]{2,3}(?=$|[_.@-])", re.IGNORECASE)


def read_locale_language() -> str | None:
    """Return the ISO 639 code of the locale; None for the locale C, or without one."""
    name = next(filter(None, map(os.environ.get, _VARIABLES)), "")
    found = _LANGUAGE.match(name)
    return found[0].lower() if found else None


MOST_BYTES = 1 << 20
"""The longest settings file; a complete one has a few thousand bytes."""

_SECTION = re.compile(r"\s*+\[++\s*+([^\]]+?)\s*\]+")
_ASSIGNMENT = re.compile(r"\s*([\w.\"'-]+)\s*=")


def read_settings_text(path: Path) -> str:
    """Return the text of a settings file, or of a pipe such as one of `--config <(generate)`.

    Raises:
        OSError: The file does not exist or cannot be read.
        ConfigInvalid: It is too long, or it is not UTF-8.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe may have no writer
    os.set_blocking(descriptor, True)
    with os.fdopen(descriptor, "rb") as file:
        raw = file.read(MOST_BYTES + 1)
    if not raw and path.is_fifo():
        raise _refuse(path, "nothing came through the pipe")
    if len(raw) > MOST_BYTES:
        raise _refuse(path, f"it has more than {MOST_BYTES:,} bytes")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = raw[: fault.start].count(b"\n") + 1
        raise _refuse(path, f"not TOML: line {line} is not UTF-8") from fault


def find_line(text: str, key: str) -> int | None:
    """Return the line number of a dotted key or a section; None when it cannot be found.

    The text is valid TOML; a key is one such as `search.limit`.
    """
    section = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _SECTION.match(line):
            section = header[1]
            if section == key:
                return number
        elif (assignment := _ASSIGNMENT.match(line)) is not None:
            name = re.sub("[\"']", "", assignment[1])
            whole = f"{section}.{name}" if section else name
            if whole == key or whole.startswith(f"{key}."):
                return number
    return None


def _refuse(path: Path, cause: str) -> ConfigInvalid:
    return ConfigInvalid(path=resolve_path(path), cause=cause)


_HEADER = """\
# Settings of kebab. Every line shows a default. Remove the `#` to change it.
# An environment variable `KEBAB_…` overrides this file, and a flag overrides both.
"""


class DocumentedSetting(Struct, frozen=True):
    """One setting: its key, default and documentation."""

    key: str
    default: Any
    text: str


def iter_documented_settings(
    form: type[Struct] = Settings, prefix: str = ""
) -> Iterator[DocumentedSetting]:
    """Yield every setting in order of declaration."""
    from kebab.wire.record import read_field_docstrings

    texts = read_field_docstrings(form)
    values = form()
    for field in msgspec.structs.fields(form):
        key = f"{prefix}{field.name}"
        value = getattr(values, field.name)
        if isinstance(value, Struct):
            yield from iter_documented_settings(type(value), f"{key}.")
        else:
            yield DocumentedSetting(key, value, texts[field.name])


def build_toml(workspace: str = "") -> str:
    """Return the commented settings file, with the workspace set if it is given."""
    lines, section = [_HEADER], ""
    for setting in iter_documented_settings():
        head, _, name = setting.key.rpartition(".")
        if head != section:
            section = head
            lines.append(f"\n[{section}]")
        lines.append(f"# {setting.text}")
        chosen = workspace and setting.key == "workspace"
        value = json.dumps(workspace if chosen else setting.default, ensure_ascii=False)
        lines.append(f"{'' if chosen else '# '}{name} = {value}")
    return "\n".join(lines) + "\n"


def keep_copy(path: Path, text: str) -> Path | None:
    """Copy a file that is about to be replaced; return the copy.

    Returns:
        The copy, which never replaces an earlier one; None when the file does not exist, or has
        this text already.

    Raises:
        IoError: The path is neither a file nor an empty folder.
    """
    from kebab.platform import create_copy  # few commands write settings

    target = Path(os.path.realpath(path))
    if not target.exists() or target.is_dir():
        return None
    if not target.is_file():
        raise build_read_error(path, "it is not a regular file")
    old = target.read_bytes()
    if old == text.encode():
        return None
    names = ("".join([target.name, ".bak", f".{number}" * bool(number)]) for number in count())
    return create_copy(map(target.with_name, names), old, target.stat())


def replace_settings_file(path: Path, data: bytes) -> None:
    """Replace a settings file atomically, because a partial one would break its program.

    A link stays, and what it points to is replaced. The file keeps its permissions; what it holds
    may be secret, so the draft has no more than those at any time.
    """
    import shutil

    from kebab.platform import replace_file

    target = Path(os.path.realpath(path))
    with replace_file(target, 0o600 if target.is_file() else 0o666) as draft:
        draft.write(data)
        if target.is_file():
            shutil.copymode(target, draft.name)
        if target.is_dir():
            # The system refuses this unless the folder is empty.
            target.rmdir()
