"""Reads front matter, the block of YAML, TOML or JSON at the start of a note, and properties.

All values are read as strings: no tag is run, no alias is followed, and nothing deeper than the
lists and mappings of a field is built, so the time for hostile blocks is linear. Text that is no
mapping is not front matter and stays part of the body.
"""

import json
import re
from dataclasses import dataclass
from typing import NamedTuple

from kebab.core.documents import Metadata
from kebab.parse.markdown.front_fields import Fields, build_metadata

_MAX_CHARS = 4 * 1024 * 1024
_MAX_SALVAGED_CHARS = 16 * 1024
_MAX_TOML_CHARS = 256 * 1024
_OPENING = re.compile(r"(---|\+\+\+)[ \t]*\n(?=[^\n]*\S)")
_CLOSING = {
    "---": re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE),
    "+++": re.compile(r"^\+\+\+[ \t]*$", re.MULTILINE),
}
_KEY_LINE = re.compile(r"[ \t]*[\w.-]+[ \t]*[:=]")
_FIELD_LINE = re.compile(r"^([\w -]{1,40}?)[ \t]*[:=][ \t]*(\S.*)$", re.MULTILINE)
_KEY = re.compile(r"[\w@$][\w .@$/-]{0,63}\Z")
_MAX_KEY_WORDS = 4
_PROPERTY = re.compile(r"(?:- )?(?P<key>[A-Za-z][\w -]{0,40}?)::(?:[ \t]+(?P<value>.*))?\Z")
_MAX_PROPERTIES = 100


class FrontBlock(NamedTuple):
    """The fields of front matter, the offset `end` behind it, and its fault; "" is none.

    Damaged front matter has the fields that stand on one line. That which is not closed has no
    fields, and `end` is 0.
    """

    fields: Fields
    end: int
    fault: str = ""


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The metadata of the front matter, and the offset `body` behind it.

    The searched text starts at `searched`. That is earlier than `body` when the front matter
    cannot be read, so that its text is not lost.
    """

    metadata: Metadata
    body: int
    searched: int
    warnings: tuple[str, ...] = ()


def read_front_matter(text: str) -> FrontMatter:
    """Return the front matter of a document; without one the body starts at 0."""
    block = read_front_block(text)
    if block is None:
        return FrontMatter(Metadata(), 0, 0)
    metadata = build_metadata(block.fields)
    if block.fault:
        return FrontMatter(metadata, block.end, 0, (f"{block.fault}, read as text",))
    return FrontMatter(metadata, block.end, block.end)


def read_front_block(text: str) -> FrontBlock | None:
    """Return the fields of front matter; None when a document has none."""
    if text.startswith("{"):
        return _read_json(text)
    opening = _OPENING.match(text)
    if opening is None:
        return None
    fence = opening[1]
    closing = _CLOSING[fence].search(text, opening.end(), opening.end() + _MAX_CHARS)
    inner = text[opening.end() : closing.start()] if closing else text[opening.end() :][:200]
    looks_meant = _KEY_LINE.match(inner) is not None
    if closing is None:
        return FrontBlock({}, 0, "front matter is not closed") if looks_meant else None
    end = min(closing.end() + 1, len(text))
    if not inner.strip():
        return FrontBlock({}, end)
    fields, problem = _read_toml(inner) if fence == "+++" else _read_yaml(inner)
    if fields is not None:
        return FrontBlock(fields, end)
    return FrontBlock(_salvage_fields(inner), end, problem) if looks_meant else None


def _salvage_fields(inner: str) -> Fields:
    """Return the fields of damaged front matter that stand on one line.

    Often the title has a bare colon.
    """
    lines = _FIELD_LINE.findall(inner[:_MAX_SALVAGED_CHARS])
    return {name: _salvage_value(value.strip()) for name, value in lines}


def _salvage_value(value: str) -> str | list[str]:
    """Return a value on one line: a list in brackets, else text; empty when it is not closed."""
    if value.startswith("[") and value.endswith("]"):
        return [part.strip(" \"'") for part in value[1:-1].split(",")]
    return "" if value.startswith(("[", "{")) else value.strip("\"'")


def _read_yaml(inner: str) -> tuple[Fields | None, str]:
    """Return the fields of a YAML block, or None and the problem."""
    from kebab.parse.markdown.yaml_fields import YamlError, read_top_level

    fields = read_top_level(inner)
    if isinstance(fields, YamlError):
        where = f" at line {fields.line + 1}" if fields.line else ""
        return None, f"front matter is not valid YAML{where}"
    if fields is None or not all(map(_is_key, fields)):
        return None, "front matter is not a mapping"
    return fields, ""


def _is_key(key: str) -> bool:
    """Return whether a name is a key, and not prose with a colon between two rules."""
    return _KEY.match(key) is not None and len(key.split()) <= _MAX_KEY_WORDS


def _read_toml(inner: str) -> tuple[Fields | None, str]:
    """Return the fields of a TOML block, or None and the problem."""
    if len(inner) > _MAX_TOML_CHARS:
        return None, "front matter is too long for TOML"
    import tomllib

    try:
        return tomllib.loads(inner), ""
    except (ValueError, RecursionError):
        return None, "front matter is not valid TOML"


def _read_json(text: str) -> FrontBlock | None:
    """Return JSON front matter: one object that ends with its line."""
    try:
        fields, end = json.JSONDecoder().raw_decode(text[:_MAX_CHARS])
    except (ValueError, RecursionError):
        is_meant = re.match(r'\{\s*"\w+"\s*:', text) is not None
        return FrontBlock({}, 0, "front matter is not valid JSON") if is_meant else None
    rest = re.compile(r"[ \t]*(?:\n|\Z)").match(text, end)
    return FrontBlock(fields, rest.end()) if rest else None


def read_properties(body: str) -> dict[str, str]:
    """Return the properties of the first lines with text; the first of equal keys counts.

    Logseq and Dataview write them as lines `key:: value`. The lines stay part of the text, so their
    words are found.
    """
    fields: dict[str, str] = {}
    for line in body.lstrip("\n").split("\n", _MAX_PROPERTIES)[:_MAX_PROPERTIES]:
        match = _PROPERTY.match(line.strip()[:1_000])
        if match is None:
            break
        fields.setdefault(match["key"].strip().lower(), (match["value"] or "").strip())
    return fields
