"""Converts the metadata that formats declare: lists of names, keywords, languages."""

import re
from collections.abc import Iterable

_MAX_VALUES = 256
_AUTHOR_ENDS = re.compile(r"[;\n]|,?\s+(?:and|und)\s+|\s&\s")
_EMAIL = re.compile(r"\s*<[^<>]*@[^<>]*>")
_EAST_ASIAN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_KEYWORD_ENDS = re.compile("[,;\n\uff0c\u3001]")
_LANG = re.compile(r"([A-Za-z]{2,3})(?:[-_][A-Za-z0-9]+)*\Z")


def list_unique(values: Iterable[str]) -> tuple[str, ...]:
    """Return the values that are not empty, each once, at most a bounded number."""
    return tuple(dict.fromkeys(value for value in values if value))[:_MAX_VALUES]


def split_authors(text: str) -> list[str]:
    """Return the names in a text, without addresses of e-mail.

    A comma separates names only when each part is a whole name, so that `Doe, Jane` stays one.
    """
    names = (" ".join(name.split()) for name in _AUTHOR_ENDS.split(_EMAIL.sub("", text)))
    return [part for name in names for part in _split_at_commas(name) if part]


def _split_at_commas(name: str) -> list[str]:
    parts = [part.strip() for part in name.split(",")]
    return parts if all(map(_is_whole_name, filter(None, parts))) else [name]


def _is_whole_name(part: str) -> bool:
    """Return whether a text has a first and a last name; in East Asia no space separates them."""
    return " " in part or _EAST_ASIAN.search(part) is not None


def split_keywords(text: str) -> list[str]:
    """Return the keywords of a list in one text."""
    return [" ".join(part.split()) for part in _KEYWORD_ENDS.split(text) if part.strip()]


def read_language(tag: object) -> str | None:
    """Return the primary subtag of a language tag in lower case, None for anything else."""
    match = _LANG.match(tag.strip()) if isinstance(tag, str) else None
    return match[1].lower() if match else None
