"""Sets or removes the entry of kebab in a settings file of a client: JSON, TOML or YAML.

An entry is a member of a list of servers, such as `mcpServers.kebab`. JSON and YAML are written
again; a file with comments is refused, because they would be lost. In TOML the lines of the entry's
own table are changed, and the result is compared.
"""

import json
import re
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from kebab.cli.integrations.clients import Entry, is_current, keeps_members

Place = tuple[str, str]
"""The name of the list of servers, and the name of the entry in it."""

_INDENT = re.compile(r"\n([ \t]+)\S")
_COMMENT = "it has comments or trailing commas, which would be lost; add the entry by hand"
_YAML_COMMENT = re.compile(r"(?:^|\s)#", re.MULTILINE)


class EntryError(ValueError):
    """A file cannot be edited safely; the text is the reason."""


class Found(NamedTuple):
    """The entry of a file, None when there is none, and all other values."""

    entry: Any
    others: dict[str, Any]


def find_entry(path: Path, text: str | None, place: Place) -> Found:
    """Return the entry of a file, and the values beside it.

    Raises:
        EntryError: The text cannot be read, or the list of servers is no object.
    """
    values = _read(path, text or "")
    servers = values.get(place[0], {})
    if not isinstance(servers, dict):
        raise EntryError(f"`{place[0]}` is no list of servers")
    others = {key: value for key, value in servers.items() if key != place[1]}
    rest = {key: value for key, value in values.items() if key != place[0]}
    return Found(servers.get(place[1]), {**rest, place[0]: others} if others else rest)


def change_entry(path: Path, text: str | None, place: Place, wanted: Entry | None) -> str | None:
    """Return the text with an entry, or without one when `wanted` is None.

    None stands for a file that does not exist. Members that kebab does not set stay in the entry.

    Raises:
        EntryError: The text cannot be read, or not be changed without other values.
    """
    found = find_entry(path, text, place)
    if wanted is not None and is_current(found.entry, wanted):
        return text
    if wanted is None and not found.others:
        return None
    entry = wanted
    if wanted is not None and keeps_members(found.entry):
        entry = {**found.entry, **wanted}
    change = _change_toml if path.suffix == ".toml" else _write_again
    changed = change(path, text or "", place, entry)
    if find_entry(path, changed, place) != (entry, found.others):
        raise EntryError("the entry cannot be changed without other values")
    return changed


def _read(path: Path, text: str) -> dict[str, Any]:
    """Return the values of a file; an empty one has none."""
    if not text.strip():
        return {}
    try:
        if path.suffix == ".toml":
            return tomllib.loads(text)
        if path.suffix == ".yaml":
            if _YAML_COMMENT.search(text):
                raise EntryError("it has comments, which would be lost; add the entry by hand")
            values = yaml.safe_load(text)
        else:
            values = json.loads(text, object_pairs_hook=_refuse_duplicates)
    except json.JSONDecodeError as fault:
        where = f"line {fault.lineno}, column {fault.colno}"
        raise EntryError(f"{where}: it is no JSON, or {_COMMENT}") from fault
    except (RecursionError, ValueError, yaml.YAMLError) as fault:
        raise EntryError(str(fault)) from fault
    if not isinstance(values, dict):
        raise EntryError("it is no object")
    return values


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        keys = [key for key, _ in pairs]
        raise EntryError(f"`{next(key for key in keys if keys.count(key) > 1)}` occurs twice")
    return values


def _write_again(path: Path, text: str, place: Place, entry: Entry | None) -> str:
    """Write all values again; JSON keeps its indentation."""
    values = _read(path, text)
    servers = values.setdefault(place[0], {})
    if entry is not None:
        servers[place[1]] = entry
    else:
        del servers[place[1]]
    if not servers:
        del values[place[0]]
    if path.suffix == ".yaml":
        return yaml.safe_dump(values, sort_keys=False, allow_unicode=True)
    indent = _INDENT.search(text)
    return json.dumps(values, ensure_ascii=False, indent=indent[1] if indent else "  ") + "\n"


def _change_toml(path: Path, text: str, place: Place, entry: Entry | None) -> str:
    """Take the lines of the entry's table out, and add its table at the end; comments stay.

    Tables below it stay too, unless the entry is removed.
    """
    name = ".".join(place)
    lines = text.splitlines(keepends=True)
    heads = [index for index, line in enumerate(lines) if line.lstrip().startswith("[")]
    for start, end in reversed([*pairwise((*heads, len(lines)))]):
        head = lines[start].split("#")[0].strip()[1:-1]
        if head == name or (entry is None and head.startswith(f"{name}.")):
            lines[start:end] = [line for line in lines[start:end] if line.lstrip().startswith("#")]
    kept = "".join(lines).rstrip("\n")
    parts = [f"{kept}\n"] if kept else []
    if entry is not None:
        values = {key: one for key, one in entry.items() if not isinstance(one, dict)}
        try:
            # JSON writes texts, numbers and their lists as TOML does.
            rows = [f"{key} = {json.dumps(values[key], ensure_ascii=False)}\n" for key in values]
        except TypeError as fault:
            raise EntryError(f"`{name}` has a value that cannot be written again") from fault
        parts.append(f"[{name}]\n{''.join(rows)}")
    return "\n".join(parts)
