"""Reads a settings file without ever waiting long, and builds the commented one of `init`."""

import json
import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
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

DEADLINE_S = 2.0
"""The longest wait for a pipe, such as one from `--config <(generate)`."""

_PART = 1 << 16
_PAUSE_S = 0.01
_SECTION = re.compile(r"\s*+\[++\s*+([^\]]+?)\s*\]+")
_ASSIGNMENT = re.compile(r"\s*([\w.\"'-]+)\s*=")


def read_settings_text(path: Path) -> str:
    """Return the text of a settings file.

    Raises:
        OSError: The file does not exist or cannot be read.
        ConfigInvalid: It is too long, it is not UTF-8, or nothing arrives through a pipe.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        raw = _read_all(descriptor, path)
    finally:
        os.close(descriptor)
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


def _read_all(descriptor: int, path: Path) -> bytes:
    is_pipe = stat.S_ISFIFO(os.fstat(descriptor).st_mode)
    limit = time.monotonic() + DEADLINE_S
    data = bytearray()
    while len(data) <= MOST_BYTES:
        part: bytes | None = None
        with suppress(BlockingIOError):  # none have arrived yet
            part = os.read(descriptor, _PART)
        # A pipe without a writer ends at once, but its writer may be about to open it.
        if part == b"" and (data or not is_pipe):
            return bytes(data)
        if part:
            data += part
        elif time.monotonic() > limit:
            raise _refuse(path, f"the pipe was not closed within {DEADLINE_S:g} s")
        else:
            time.sleep(_PAUSE_S)
    raise _refuse(path, f"it has more than {MOST_BYTES:,} bytes")


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
