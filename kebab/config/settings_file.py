"""Reads a settings file, and builds the commented one of `init`."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from kebab.config.settings import Settings
from kebab.errors.catalog import ConfigInvalid
from kebab.errors.system import resolve_path
from kebab.wire.record import read_field_docstrings

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
