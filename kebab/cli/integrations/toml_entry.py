"""Sets or removes one table of a TOML file; every other line stays.

`tomllib` finds where a statement ends: a piece of whole lines is complete as soon as it can be
parsed on its own. Libraries that keep the form of a document count the comment above a table as
part of the table before it, and lose it when they remove that one.
"""

import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any, NamedTuple

from kebab.cli.integrations.clients import Entry, EntryError, is_current, keeps_members

_LINES = re.compile(r"[^\n]*\n|[^\n]+")
Path = tuple[str, str]
"""The name of the table and the name of the entry in it."""


class _Statement(NamedTuple):
    """A header or a key with its value: its place in the text, and the keys from the root."""

    start: int
    end: int
    keys: tuple[str, ...]
    is_header: bool


def read_values(text: str) -> dict[str, Any]:
    """Return the values of a document.

    Raises:
        EntryError: The text is no TOML.
    """
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as fault:
        raise EntryError(str(fault)) from fault


def set_entry(text: str | None, path: Path, entry: Entry) -> str:
    """Return the text with an entry; None stands for a file that does not exist.

    Raises:
        EntryError: The text is no TOML, or the entry has no place in it.
    """
    found = None if text is None else _find(read_values(text), path)
    if text is not None and found is not None:
        return _update(text, path, entry, found)
    changed = _append(text, path, entry)
    if _find(_parse(changed) or {}, path) != entry:
        raise _refuse(path)
    return changed


def remove_entry(text: str, path: Path) -> str | None:
    """Return the text without an entry, None when the file itself was made for the entry.

    Raises:
        EntryError: The text is no TOML.
    """
    found = _find(read_values(text), path)
    if found is None:
        return text
    statements = [one for one in _iterate_statements(text) if one.keys[:2] == path]
    if not statements:
        raise _refuse(path)
    above = text[: statements[0].start]
    ends = ("\n", "\n\n", "\r\n", "\r\n\r\n")
    for before in (None, *(above.removesuffix(end) for end in ends)):
        if isinstance(found, dict) and _append(before, path, found) == text:
            return before
    for one in reversed(statements):
        above = text[: one.start]
        blanks = (end for end in ("\r\n", "\n") if one.is_header and above.endswith(end * 2))
        text = above.removesuffix(next(blanks, "")) + text[one.end :]
    return text if above else text.removeprefix(_find_newline(text))


def _append(text: str | None, path: Path, entry: Entry) -> str:
    """Return the text with a table at its end; the last line ends as that of the text did."""
    newline = _find_newline(text)
    lines = [f"[{'.'.join(path)}]", *(f"{key} = {_dump(one)}" for key, one in entry.items())]
    table = newline.join(lines)
    if text is None:
        return table + newline
    if text.endswith("\n"):
        return f"{text}{newline}{table}{newline}"
    return f"{text}{newline * 2 if text else ''}{table}"


def _update(text: str, path: Path, entry: Entry, found: Any) -> str:
    """Change the keys of an entry that differ, or all of it when it is another kind."""
    if is_current(found, entry):
        return text
    if not keeps_members(found):
        return set_entry(remove_entry(text, path), path, entry)
    for key in (key for key in reversed(entry) if found.get(key) != entry[key]):
        statements = {one.keys: one for one in _iterate_statements(text)}
        old, header = statements.get((*path, key)), statements.get(path)
        if old:
            start, end = old.start, old.end
            new = _replace_value(text[start:end], entry[key])
        elif header and header.is_header:
            start = end = header.end
            new = f"{key} = {_dump(entry[key])}{_find_newline(text)}"
        else:
            raise _refuse(path)
        text = text[:start] + new + text[end:]
    return text


def _replace_value(statement: str, value: Any) -> str:
    """Return a statement with another value; its comment stays."""
    start = _find_equals(statement) + 1
    ends = [place for place, letter in enumerate(statement) if letter == "#" and place > start]
    end = next((place for place in ends if _parse(statement[:place]) is not None), len(statement))
    kept = statement[len(statement[:end].rstrip()) :]
    return f"{statement[:start]} {_dump(value)}{kept}"


def _iterate_statements(text: str) -> Iterator[_Statement]:
    """Yield the statements of a document that can be parsed."""
    table: tuple[str, ...] = ()
    start = place = 0
    for line in _LINES.findall(text):
        place += len(line)
        piece = text[start:place]
        if not piece.strip() or piece.lstrip().startswith("#"):
            start = place
        elif (values := _parse(piece)) is not None:
            is_header = piece.lstrip().startswith("[")
            if is_header:
                table = keys = tuple(_list_keys(values))
            else:
                key = _parse(f"{piece[: _find_equals(piece)]} = 0")
                keys = (*table, *_list_keys(key or {}))
            yield _Statement(start, place, keys, is_header)
            start = place


def _find_equals(statement: str) -> int:
    """Return the place of the sign behind the key; a quoted key may contain that sign, too."""
    places = [place for place, letter in enumerate(statement) if letter == "="]
    return next(place for place in places if _parse(f"{statement[:place]} = 0") is not None)


def _list_keys(values: Any) -> Iterator[str]:
    """Yield the keys of nested tables that have one key each."""
    while values and isinstance(values, (dict, list)):
        if isinstance(values, list):
            yield "[]"
            values = values[0]
        else:
            key, values = next(iter(values.items()))
            yield key


def _parse(piece: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(piece)
    except tomllib.TOMLDecodeError:
        return None


def _find(values: dict[str, Any], path: Path) -> Any:
    table = values.get(path[0], {})
    if not isinstance(table, dict):
        raise _refuse(path)
    return table.get(path[1])


def _find_newline(text: str | None) -> str:
    return "\r\n" if "\r\n" in (text or "") else "\n"


def _refuse(path: Path) -> EntryError:
    return EntryError(f"`{path[0]}` has a form in which no entry can be changed")


def _dump(value: Any) -> str:
    """Return a text or a list of texts; JSON writes them as TOML does."""
    return json.dumps(value, ensure_ascii=False)
