"""Filters, decided document by document: what the stores' SQL must agree with."""

import operator
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

from kebab.core.documents import DocumentRow
from kebab.core.queries import Filters
from tests.fakes.rows import NOTES, OTHER

_ROOTS = {source.name: source.root for source in (NOTES, OTHER)}


def passes(row: DocumentRow, filters: Filters) -> bool:
    """Return whether a document passes every filter that is set."""
    for name in ("tag", "lang", "property"):
        given = getattr(filters, name)
        without = [one for one in given if one.startswith("!")]
        unwanted: list[dict[str, Any]] = [{name: (one[1:],)} for one in without]
        if any(passes(row, Filters(**one)) for one in unwanted):
            return False
        wanted: dict[str, Any] = {name: tuple(one for one in given if one not in without)}
        filters = replace(filters, **wanted)
    return all(
        (
            not filters.tag or _has_tag(row, filters.tag),
            not filters.lang or (row.lang or "").casefold() in _folded(filters.lang),
            not filters.media or bool(_folded(filters.media) & _names(row.media)),
            filters.path_glob is None or _glob(filters.path_glob, _place(row, filters.path_glob)),
            filters.folder is None or f"{_ROOTS[row.source]}/{row.path}".startswith(filters.folder),
            not filters.source or row.source in filters.source,
            filters.doc_id is None or row.doc_id == filters.doc_id,
            not filters.author or _has_author(row, filters.author),
            all(_has_property(row, group) for group in _group(filters.property)),
            filters.since is None or _get_moment(row) >= filters.since * 1e9,
            filters.until is None or _get_moment(row) < filters.until * 1e9,
        )
    )


def _get_moment(row: DocumentRow) -> float:
    if row.date is None:
        return row.stamp.mtime_ns
    return datetime.fromisoformat(row.date).timestamp() * 1e9


def _has_tag(row: DocumentRow, wanted: tuple[str, ...]) -> bool:
    tags = [f"{tag.casefold()}/" for tag in row.tags]
    return any(tag.startswith(f"{one.casefold().strip('#/')}/") for one in wanted for tag in tags)


def _has_author(row: DocumentRow, wanted: tuple[str, ...]) -> bool:
    names = [f" {author.casefold()} " for author in row.authors]
    return any(f" {one.casefold()} " in name for one in wanted for name in names)


def _group(wanted: tuple[str, ...]) -> list[list[str]]:
    """Return the conditions, and together those with equal signs for one key."""
    equal: dict[str, list[str]] = {}
    for one in wanted:
        if re.search("[<>]", one) is None and "=" in one:
            equal.setdefault(one.partition("=")[0].strip().casefold(), []).append(one)
    grouped = [one for group in equal.values() for one in group]
    return [*equal.values(), *([one] for one in wanted if one not in grouped)]


def _has_property(row: DocumentRow, alternatives: list[str]) -> bool:
    return any(
        _holds(value, sign, wanted.strip().casefold())
        for one in alternatives
        for name, sign, wanted in [re.split("(<=|>=|<|>|=|$)", one, maxsplit=1)]
        for key, value in row.properties
        if f".{key}".endswith(f".{name.strip().casefold()}")
    )


def _holds(value: str, sign: str, wanted: str) -> bool:
    """Compare numbers, and texts of the corpus: a link is named by its target."""
    found = value.casefold().replace("[[okonjo|o]]", "okonjo")
    known = {"1 june 2024": "2024-06-01"}
    if re.fullmatch(r"\d{4}(-\d\d)?", wanted) and found.count("-") == 2:
        found = found[: len(wanted)]
    pair = (found, known.get(wanted, wanted))
    if all(re.fullmatch(r"[\d.]+", text) for text in pair):
        left, right = map(float, pair)
        return _SIGNS[sign](left, right)
    return not sign or _SIGNS[sign](*pair)


_SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _place(row: DocumentRow, pattern: str) -> str:
    """Return the path to compare: an absolute one when the pattern is absolute."""
    return f"{_ROOTS[row.source]}/{row.path}" if pattern.startswith("/") else row.path


def _folded(values: tuple[str, ...]) -> set[str]:
    return {value.casefold() for value in values}


def _names(media: str) -> set[str]:
    short = media.casefold().partition("/")[2]
    return {media.casefold(), short, short.removeprefix("x-")}


def _glob(pattern: str, path: str) -> bool:
    """Match a pattern of plain signs, `*`, `?`, `[...]` and `**` through one regular expression."""
    wide = pattern + "**" if pattern.endswith("/") else pattern
    if wide.endswith("/***"):
        return _glob(wide[:-4], path) or _glob(wide[:-1], path)
    parts = re.split(r"(\*\*/|\*\*|\*|\?|\[!?[^\]]+\])", wide)
    return (
        re.fullmatch("".join(_REGEX.get(part) or _plain(part) for part in parts), path) is not None
    )


def _plain(part: str) -> str:
    if not part.startswith("["):
        return re.escape(part)
    inner = part[1:-1].replace("[", r"\[")
    return f"[^{inner[1:]}]" if inner.startswith("!") else f"[{inner}]"


_REGEX = {"**/": "(?:[^/]+/)*", "**": ".+", "*": "[^/]*", "?": "[^/]"}
