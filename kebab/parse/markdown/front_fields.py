"""Converts the fields of front matter, of any flavour, to metadata."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from kebab.core.documents import Metadata
from kebab.parse.metadata import list_unique, read_language, split_authors

Fields: TypeAlias = Mapping[str, Any]

_MAX_CHARS = 200
_DATE_FIELDS = (
    *("date", "published", "publishdate", "published_at", "pubdate"),
    *("created", "created_at", "date created", "created-at", "creation date", "creation_date"),
    *("updated", "updated_at", "modified", "date modified", "date_modified", "lastmod"),
    *("last_modified_at", "last updated"),
)
"""The fields with a date, first what the text is from, last when it was changed."""

_KOREAN_NAMES = {
    "\uc81c\ubaa9": "title",
    "\ud0dc\uadf8": "tags",
    "\uc800\uc790": "author",
    "\uc791\uc131\uc790": "author",
    "\ub0a0\uc9dc": "date",
    "\uc791\uc131\uc77c": "date",
    "\ubcc4\uce6d": "aliases",
}
_NAME_FIELDS = ("name", "label", "title", "text")
_LOGSEQ_TAG = re.compile(r"#?\[\[([^\[\]]+)\]\]")


def build_metadata(fields: Fields) -> Metadata:
    """Return the known fields; the case of their names is ignored."""
    names = {name: str(name).strip().lower() for name in fields}
    lower = {_KOREAN_NAMES.get(names[name], names[name]): value for name, value in fields.items()}
    taxonomies = lower.get("taxonomies")
    nested = taxonomies if isinstance(taxonomies, dict) else {}
    tags = [
        tag
        for value in (lower.get("tags"), lower.get("tag"), nested.get("tags"))
        for tag in to_tags(value)
    ]
    return Metadata(
        title=_to_title(lower.get("title")),
        tags=list_unique(tags or to_tags(lower.get("keywords"))),
        lang=read_language(lower.get("lang") or lower.get("language")),
        authors=list_unique(
            name for field in ("author", "authors") for name in to_authors(lower.get(field))
        ),
        date=_find_date(lower),
        aliases=list_unique(
            name for field in ("alias", "aliases") for name in _to_aliases(lower.get(field))
        ),
    )


def merge_metadata(front: Metadata, properties: Metadata, tags: Iterable[str]) -> Metadata:
    """Return the fields of front matter, then those of the properties; tags are of both."""
    return Metadata(
        title=front.title or properties.title,
        tags=list_unique([*front.tags, *properties.tags, *tags]),
        lang=front.lang or properties.lang,
        authors=front.authors or properties.authors,
        date=front.date or properties.date,
        aliases=list_unique([*front.aliases, *properties.aliases]),
    )


def _to_title(value: Any) -> str | None:
    """Return a title; lists, tables and flags are none."""
    if value is None or isinstance(value, bool | list | dict):
        return None
    return " ".join(str(value).split()) or None


def _list_texts(value: Any) -> list[str]:
    """Return the texts of a scalar or a list; an item that is a mapping gives its name."""
    texts = []
    for item in value if isinstance(value, list) else [value]:
        named = item
        if isinstance(item, dict):
            named = next((item[name] for name in _NAME_FIELDS if item.get(name)), None)
        if named is not None and not isinstance(named, list | dict | bool):
            texts.append(" ".join(str(named).split()))
    return texts


def to_tags(value: Any) -> tuple[str, ...]:
    """Return tags without `#`, each once, from a list or a comma or space separated string."""
    if isinstance(value, str):
        links = _LOGSEQ_TAG.findall(value)
        rest = _LOGSEQ_TAG.sub(",", value) if links else value
        value = [*links, *rest.split("," if "," in rest else None)]
    if not isinstance(value, list):
        return ()
    tags = (_LOGSEQ_TAG.sub(r"\1", tag).lstrip("#").strip("/ ") for tag in _list_texts(value))
    return list_unique(list(tags))


def to_authors(value: Any) -> tuple[str, ...]:
    """Return the names of authors from a string, a list, or mappings with a `name`."""
    names = (name for text in _list_texts(value) for name in split_authors(text))
    return list_unique(name.strip("[]@\"' ")[:_MAX_CHARS] for name in names)


def _to_aliases(value: Any) -> list[str]:
    """Return further names of a note; the paths of old addresses are none."""
    if isinstance(value, str):
        value = value.split(",")
    texts = (text.strip("[]\"' ")[:_MAX_CHARS] for text in _list_texts(value))
    return [text for text in texts if text and not text.startswith(("/", "http:", "https:"))]


def _find_date(fields: Fields) -> str | None:
    """Return the first of the dates that can be read."""
    for field in _DATE_FIELDS:
        text = next(iter(_list_texts(fields[field])), "") if fields.get(field) else ""
        if text:
            from kebab.text.dates import parse_date

            found = parse_date(text)
            if found:
                return found
    return None
