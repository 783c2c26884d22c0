"""Compares paths with glob patterns, and values of properties with conditions.

A condition is a key with a sign and a value: `status=done`, `rating>=4`, `due<2025`. A key
alone holds for any value. Numbers are compared as numbers, dates as dates, also with a year or a
month, and all else as text without its case and without the brackets of a link.
"""

import fnmatch
import glob
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from operator import eq, ge, gt, le, lt
from pathlib import PurePosixPath
from typing import TypeAlias
from unicodedata import normalize

from kebab.core.files import join_root, resolve_links
from kebab.core.spelling import MAX_NEAREST, find_alike_spellings
from kebab.errors.system import escape_undecodable
from kebab.text.dates import list_days, parse_date, parse_period
from kebab.text.normalize import fold_name

Segments: TypeAlias = tuple[re.Pattern[str] | None, ...]
"""One pattern for each path segment; None matches any number of segments."""

ALL_BELOW = "/***"
"""The end of a pattern for a folder or file itself and everything below it."""

_BRACES = re.compile(r"(?<!\[)\{([^{},]*,[^{}]*)\}")
"""An innermost list of alternatives; `[{]` stands for the brace itself."""
_WILDCARDS = re.compile(rf"[*?]|{_BRACES.pattern}")
_MOST_ALTERNATIVES = 64
"""The most patterns that one pattern with braces stands for; the braces of more are literal."""
_ON_DISK = re.compile(r"~|/|\.{1,2}(/|$)")
"""The start of a path that is absolute, or relative to the home or working folder."""


def matches_glob(pattern: str, path: str) -> bool:
    """Return whether the whole path matches the pattern; case matters, Unicode forms do not.

    A pattern that ends in `/` or `/**` means everything below that folder; one that ends in `/***`
    means the folder or file itself too. The files within a file, such as `mail.eml!/plan.pdf`, are
    below it. `{a,b}` stands for `a` or `b`, and a pattern that begins with `!` matches the paths
    that the rest of it does not match.
    """
    if pattern.startswith("!"):
        return not matches_glob(pattern[1:], path)
    names = normalize("NFC", path).split("/")
    return any(_match_names(segments, names) for segments in _compile(pattern))


def escape_glob(path: str) -> str:
    """Return the pattern that matches this path only."""
    return glob.escape(path).replace("{", "[{]")


def _match_names(segments: Segments, names: list[str]) -> bool:
    # Match name by name; on a mismatch the last `**` takes one more name.
    part_index = name_index = 0
    star_part, star_name = -1, 0
    while name_index < len(names):
        part = segments[part_index] if part_index < len(segments) else None
        name = names[name_index]
        is_container = name.endswith("!") and name_index < len(names) - 1
        if part is not None and (part.match(name) or (is_container and part.match(name[:-1]))):
            part_index, name_index = part_index + 1, name_index + 1
        elif part is None and part_index < len(segments):
            star_part, star_name = part_index, name_index
            part_index += 1
        elif star_part >= 0:
            star_name += 1
            part_index, name_index = star_part + 1, star_name
        else:
            return False
    return all(part is None for part in segments[part_index:])


@lru_cache(maxsize=64)
def _compile(pattern: str) -> list[Segments]:
    found: list[Segments] = []
    for one in _expand_braces(normalize("NFC", pattern)):
        plain = one.removeprefix("./")
        parts = (plain + "**" if plain.endswith("/") else plain).split("/")
        if parts[-1] == "**":
            parts.append("*")  # a folder is not below itself
        found.append(
            tuple(
                None if part in ("**", "***") else re.compile(fnmatch.translate(part))
                for part in parts
            )
        )
    return found


def _expand_braces(pattern: str) -> list[str]:
    """Return the patterns without braces that a pattern stands for."""
    found, waiting = [], [pattern]
    while waiting:
        one = waiting.pop()
        if group := _BRACES.search(one):
            start, end = group.span()
            waiting += [one[:start] + choice + one[end:] for choice in group[1].split(",")]
        else:
            found.append(one)
        if len(found) + len(waiting) > _MOST_ALTERNATIVES:
            return [pattern]
    return found


def list_readings(pattern: str, working_folder: str) -> list[str]:
    """Return the globs that a path filter may mean; the caller takes the first that matches a path.

    A path without wildcards is a file or folder at the root of a source, then at any depth, then
    below the working folder. A pattern without a slash is a file name at any depth. Paths that
    begin with `/`, `~`, `./` or `../` are paths on disk.
    """
    plain = normalize("NFC", pattern)
    return list(dict.fromkeys(_iterate_readings(plain, working_folder)))


def _iterate_readings(pattern: str, working_folder: str) -> Iterator[str]:
    if _ON_DISK.match(pattern):
        yield from _list_disk_readings(pattern, working_folder)
        pattern = pattern.removeprefix("./")
        if _ON_DISK.match(pattern):
            return
    if _BRACES.search(pattern) and not re.search(r"[*?]", pattern):
        bare = pattern.rstrip("/")
        for one in (escape_glob(bare), bare):
            yield from (f"{start}{one}{ALL_BELOW}" for start in ("", "**/"))
    elif "/" in pattern.rstrip("/") and _WILDCARDS.search(pattern):
        yield pattern
        yield from _list_disk_readings(pattern, working_folder)
    elif _WILDCARDS.search(pattern):
        yield f"**/{pattern}"
    elif pattern.strip("/"):
        yield from (f"{start}{one}" for start in ("", "**/") for one in _spell(pattern))
        yield from _list_disk_readings(pattern, working_folder)


def _list_disk_readings(pattern: str, working_folder: str) -> Iterator[str]:
    """Yield the absolute globs of a path on disk, with and without its links resolved."""
    # The file system takes no NUL, and SQLite no bytes that are not UTF-8.
    if "\0" in pattern or escape_undecodable(working_folder) != working_folder:
        return
    plain = os.path.expanduser(pattern)  # noqa: PTH111 - a pattern
    whole = os.path.join(working_folder, plain)  # noqa: PTH118 - a pattern
    wildcard = _WILDCARDS.search(whole)
    cut = whole.rfind("/", 0, wildcard.start()) if wildcard else len(whole.rstrip("/"))
    literal, rest = whole[:cut] or "/", whole[cut:]
    parent, name = os.path.split(literal)
    for folder in dict.fromkeys(
        (os.path.normpath(literal), join_root(resolve_links(parent), name), resolve_links(literal))
    ):
        if wildcard:
            yield escape_glob(folder.rstrip("/")) + rest
        yield from _spell(folder.rstrip("/") + rest)


def _spell(path: str) -> Iterable[str]:
    """Return the globs of a path: of its literal name, and of its name as a pattern."""
    bare = path.rstrip("/")
    end = "/**" if path.endswith("/") else ALL_BELOW
    found = [] if _WILDCARDS.search(bare) else [escape_glob(bare) + end]
    return [*found, path] if glob.has_magic(bare) else found


def find_nearest_globs(pattern: str, paths: Sequence[str]) -> list[str]:
    """Return patterns that match some of the paths and are most like a pattern that matches none.

    The same pattern below any folder comes first, else folders and files that are spelled like the
    literal start of the pattern, else the most frequent file extensions.
    """
    relative = pattern.strip("/")
    if relative and any(matches_glob(f"**/{relative}", path) for path in paths):
        return [f"**/{relative}"]
    head = re.split(r"[*?\[]", relative, maxsplit=1)[0].rstrip("/")
    folders = (str(folder) for path in paths for folder in PurePosixPath(path).parents)
    by_name: dict[str, dict[str, None]] = {}
    for place in (*paths, *folders):
        name = PurePosixPath(place.casefold())
        for spelling in (name.name, name.stem):
            by_name.setdefault(spelling, {})[place] = None
    names = find_alike_spellings(head.rpartition("/")[2].casefold(), filter(None, by_name))
    files = set(paths)
    found = dict.fromkeys(place for name in names for place in by_name[name])
    near = [escape_glob(one) + ("" if one in files else "/**") for one in found]
    if not near and "*." in relative.rpartition("/")[2]:
        suffixes = Counter(PurePosixPath(path).suffix for path in paths)
        near = [f"*{suffix}" for suffix, _ in suffixes.most_common(MAX_NEAREST) if suffix]
    return near[:MAX_NEAREST]


_CONDITION = re.compile(r"([^<>=]+)(?:(<=|>=|=|<|>)(.*))?", re.DOTALL)
_OPERATORS = {"=": eq, "<": lt, "<=": le, ">": gt, ">=": ge}
_YEAR = re.compile(r"[1-9]\d{3}", re.ASCII)
_NUMBER = re.compile(r"[-+]?(?:\d{1,300}(?:\.\d+)?|\.\d+)", re.ASCII)
_LINK = re.compile(r"\[\[([^\[\]|]*)(?:\|[^\[\]]*)?\]\]")


def group_conditions(texts: Iterable[str]) -> list[tuple[str, list[str]]]:
    """Return the key of each condition with the signs and values of which one must hold.

    Equal values of one key are alternatives. Without a sign any value holds.
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for text in texts:
        match = _CONDITION.fullmatch(text.strip())
        key, sign, value = match.groups() if match else (text, None, "")
        name = _fold(key)
        alternatives = groups.setdefault((name, "=" if sign == "=" else text), [])
        alternatives += [f"{sign}{value}"] if sign else []
    return [(name, alternatives) for (name, _), alternatives in groups.items()]


def matches_property(condition: str, value: str) -> bool:
    """Return whether a value passes a sign and a value, such as `>=4`; of a list each item may."""
    sign = condition[: 1 + condition.startswith((">=", "<="))]
    text = condition[len(sign) :].strip()
    wanted, found = _read_value(text), _read_value(value)
    period = text if _YEAR.fullmatch(text) else parse_period(text) or ""
    if 0 < len(period) <= len("YYYY-MM-DD") and isinstance(found, str) and parse_date(found):
        first, last = (day.isoformat() for day in list_days(period))
        wanted, found = first, first if first <= found[: len(first)] <= last else found
    if type(wanted) is type(found) and bool(_OPERATORS[sign](found, wanted)):
        return True
    parts = value.split(", ") if sign == "=" and ", " in value else ()
    return any(matches_property(condition, part) for part in parts)


@lru_cache(maxsize=1 << 12)
def _read_value(text: str) -> float | str:
    """Return a value as a number, or as text; a date as ISO 8601."""
    text = _LINK.sub(r"\1", text.strip().strip("\"'"))
    if _NUMBER.fullmatch(text):
        return float(text)
    text = {"yes": "true", "no": "false"}.get(text.lower(), text)
    return parse_date(text) or _fold(text)


def _fold(text: str) -> str:
    return fold_name(text).lstrip("#")
