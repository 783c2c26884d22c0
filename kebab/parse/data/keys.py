"""Finds the keys of JSON, YAML and files of sections, with the lines of their values.

The scanners read tokens and lines, and build no values. They need no valid file, time in proportion
to its length, and no stack.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from kebab.parse.blocks import shorten_line
from kebab.parse.data.regions import Region

_LEAST_LINES = 6
"""A value on fewer lines stays in a passage with its neighbours."""
_DEEPEST_KEY = 4
MAX_MEMBERS = 1_000
_LONG_NUMBERS = 20
_MAX_LABEL_CHARS = 80
_MAX_KEY_CHARS = 300
"""How much of a line is searched for a key, so that no pattern takes long."""
_TOKEN = re.compile(r'("[^"\\\n]*(?:\\.[^"\\\n]*)*")([ \t]*:)?|([\[{])|([\]}])|(,)|(\n)|//[^\n]*')
_LETTER = re.compile(r"[^\W\d_]")
_YAML_KEY = re.compile(r"""("[^"]*"|'[^']*'|[^\s#&*!|>'"%@`{}\[\],?:-][^:#]*?)\s*:(?=\s|$)""")
_YAML_SCALAR = re.compile(r":\s+(?:[&!]\S+\s+)*[|>][-+0-9]*\s*(?:#.*)?$")
_KIND = re.compile(r"^kind:\s*(\S+)")
_NAME = re.compile(r"^ +name:\s*(\S+)")
_SECTION = re.compile(r"\s*\[\[?([^\[\],]+)\]\]?\s*(?:[#;].*)?")
_TRIPLE = re.compile(r"\"\"\"|'''")


@dataclass(slots=True)
class _Container:
    """An object or a list that is open, with the key that names it and how many commas it has."""

    closer: str
    key: str
    line: int
    commas: int = 0
    full: int = 0


@dataclass(slots=True)
class JsonKeys:
    """The keys of a JSON text, and the lines of what long lists and objects have too much."""

    regions: list[Region] = field(default_factory=list)
    dropped: list[tuple[int, int]] = field(default_factory=list)
    is_balanced: bool = True


def scan_json(text: str) -> JsonKeys:
    """Find the keys of a JSON text, which may have comments."""
    found = JsonKeys()
    opened: list[_Container] = []
    line, key = 0, ""
    for token in _TOKEN.finditer(text):
        string, colon, opener, closer, comma, end = token.groups()
        if end:
            line += 1
        elif string:
            key = string[1:-1] if colon else ""
        elif opener:
            opened.append(_Container("}" if opener == "{" else "]", key, line))
            key = ""
        elif comma and opened:
            _count_member(opened[-1], line)
        elif closer:
            found.is_balanced &= bool(opened) and opened[-1].closer == closer
            if opened:
                _close(found, opened.pop(), line, len(opened))
    found.is_balanced &= not opened
    found.regions.sort(key=lambda region: (region.first, -region.last))
    found.dropped = _merge_ranges(found.dropped)
    return found


def _count_member(container: _Container, line: int) -> None:
    container.commas += 1
    if container.commas == MAX_MEMBERS:
        container.full = line + 1


def _close(found: JsonKeys, container: _Container, line: int, depth: int) -> None:
    """Record the key of a container that ends, and what it has too much."""
    if container.key and depth <= _DEEPEST_KEY and line - container.line >= _LEAST_LINES - 1:
        label = shorten_label(container.key)
        found.regions.append(Region(label, container.line, container.line + 1, line + 1))
    if container.full and container.full < line:
        found.dropped.append((container.full, line))


def find_number_runs(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Return the long runs of lines without any letter, such as vectors and coordinates."""
    runs, start = [], 0
    for number in range(len(lines) + 1):
        if number == len(lines) or _LETTER.search(lines[number]):
            if number - start >= _LONG_NUMBERS:
                runs.append((start, number))
            start = number + 1
    return runs


def merge_dropped(*parts: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return the union of ranges of lines, sorted."""
    return tuple(_merge_ranges([one for part in parts for one in part]))


def _merge_ranges(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(last, merged[-1][1])
        else:
            merged.append((first, last))
    return merged


def scan_yaml(lines: Sequence[str]) -> list[Region]:
    """Return the keys of YAML, and the documents of a file with several that say their kind."""
    regions = list(_list_objects(lines))
    opened: list[tuple[int, str, int]] = []
    used, scalar = 0, -1
    for number, whole in enumerate([*lines, "---"]):
        line = whole[:_MAX_KEY_CHARS]
        bare = line.strip()
        indent = len(line) - len(line.lstrip())
        if not bare or bare[0] == "#" or (0 <= scalar < indent):
            used = number + 1 if 0 <= scalar < indent and bare else used
            continue
        while opened and _ends(opened[-1][0], indent, bare):
            first = opened[-1][2]
            if used - first >= _LEAST_LINES and len(opened) <= _DEEPEST_KEY:
                regions.append(_build_region(lines, opened[-1][1], first, used))
            opened.pop()
        key = _YAML_KEY.match(line, indent)
        if key:
            opened.append((indent, key[1].strip("\"'"), number))
        scalar = indent if _YAML_SCALAR.search(line) else -1
        used = number + 1
    return sorted(regions, key=lambda region: (region.first, -region.last))


def _ends(outer: int, indent: int, bare: str) -> bool:
    """Return whether a line ends the value of a key; items of a list may stand below their key."""
    is_item = bare.startswith("- ") or bare == "-"
    return indent < outer or (indent == outer and not is_item)


def _list_objects(lines: Sequence[str]) -> Iterator[Region]:
    """Yield the documents of a stream, by their `kind` and `name`."""
    marks = [number for number, line in enumerate(lines) if line.rstrip() == "---"]
    for first, last in zip([-1, *marks], [*marks, len(lines)], strict=True):
        body = range(first + 1, last)
        kind = next((found[1] for number in body if (found := _KIND.match(lines[number]))), "")
        name = next((found[1] for number in body if (found := _NAME.match(lines[number]))), "")
        start = next((number for number in body if lines[number].strip()), last)
        if marks and kind and start < last:
            yield Region(shorten_label(f"{kind} {name}".strip()), start, start + 1, last)


def scan_sections(lines: Sequence[str]) -> list[Region]:
    """Return the sections of TOML or of an INI file."""
    heads, in_string = [], False
    for number, line in enumerate(lines):
        is_short = len(line) <= _MAX_KEY_CHARS
        found = _SECTION.fullmatch(line) if is_short and not in_string else None
        if found:
            heads.append((number, found[1].strip()))
        in_string ^= len(_TRIPLE.findall(line)) % 2 == 1
    starts = [_find_lead(lines, number) for number, _ in heads]
    return [
        Region(shorten_label(label), first, number + 1, last)
        for (number, label), (first, last) in zip(
            heads, pairwise([*starts, len(lines)]), strict=True
        )
    ]


def _build_region(lines: Sequence[str], label: str, first: int, last: int) -> Region:
    return Region(shorten_label(label), _find_lead(lines, first), first + 1, last)


def _find_lead(lines: Sequence[str], number: int) -> int:
    """Return the first of the comment lines right above a line."""
    while number and lines[number - 1].lstrip()[:1] in {"#", ";"}:
        number -= 1
    return number


def shorten_label(label: str) -> str:
    """Return a key as the label of a heading."""
    return shorten_line(" ".join(label.split()), _MAX_LABEL_CHARS)
