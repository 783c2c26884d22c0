"""Builds the commented settings file of `kebab init`, and the settings table of the README."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import Struct

from kebab.config.settings import Settings
from kebab.errors.catalog import build_variable_name
from kebab.wire.record import read_field_docstrings

_HEADER = """\
# Settings of kebab. Every line shows a default. Remove the `#` to change it.
# An environment variable `KEBAB_…` overrides this file, and a flag overrides both.
"""


@dataclass(frozen=True, slots=True)
class DocumentedSetting:
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


def build_settings_table() -> str:
    """Return the settings as a Markdown table."""
    rows = ["| key | default | environment | what |", "|---|---|---|---|"]
    for setting in iter_documented_settings():
        default = json.dumps(setting.default)
        name = build_variable_name(setting.key)
        rows.append(f"| `{setting.key}` | `{default}` | `{name}` | {setting.text} |")
    return "\n".join(rows)
