"""Reads the metadata that documents declare: front matter, properties, names, titles, languages.

All values are read as strings: no tag is run, no alias is followed, and only a few levels of lists
and mappings are built, so the time for hostile blocks is linear. Text that is no
mapping is not front matter and stays part of the body.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from msgspec import Struct

from kebab.core.documents import Block, BlockKind, Metadata
from kebab.parse.encoding import normalize_text
from kebab.text.dates import find_date, parse_date
from kebab.text.names import read_file_name
from kebab.text.normalize import load_words

_MAX_VALUES = 256
_AUTHOR_ENDS = re.compile(r"[;\n]|,?(?<!\s)\s++(?:and|und)\s+|\s&\s")
_EMAIL = re.compile(r"(?<!\s)\s*+<[^<>@]*+@[^<>]*+>")
_EAST_ASIAN = re.compile("[\u3040-ヿ\u3400-\u9fff가-힣]")
_KEYWORD_ENDS = re.compile("[,;\n，、]")
_LANG = re.compile(r"([A-Za-z]{2,3})(?:[-_][A-Za-z0-9]+)*\Z")


def list_unique(values: Iterable[str]) -> tuple[str, ...]:
    """Return the values that are not empty, each once, at most a bounded number."""
    return tuple(dict.fromkeys(value for value in values if value))[:_MAX_VALUES]


def split_authors(text: str) -> list[str]:
    """Return the names in a text, without addresses of e-mail.

    A comma separates names only when each part is a whole name, so that `Doe, Jane` stays one.
    """
    names: list[str] = []
    for name in _AUTHOR_ENDS.split(_EMAIL.sub("", text)):
        line = " ".join(name.split())
        parts = list(filter(None, map(str.strip, line.split(","))))
        # In East Asia no space separates the first from the last name.
        are_whole = all(" " in part or _EAST_ASIAN.search(part) for part in parts)
        names += parts if are_whole else [line]
    return names


def split_keywords(text: str) -> list[str]:
    """Return the keywords of a list in one text."""
    return [" ".join(part.split()) for part in _KEYWORD_ENDS.split(text) if part.strip()]


def read_language(tag: object) -> str | None:
    """Return the primary subtag of a language tag in lower case, None for anything else."""
    match = _LANG.match(tag.strip()) if isinstance(tag, str) else None
    return match[1].lower() if match else None


Fields: TypeAlias = Mapping[str, Any]

_MAX_VALUE_CHARS = 200
_DATE_FIELDS = (
    *("date", "published", "publishdate", "published_at", "pubdate"),
    *("created", "created_at", "date created", "created-at", "creation date", "creation_date"),
    *("updated", "updated_at", "modified", "date modified", "date_modified", "lastmod"),
    *("last_modified_at", "last updated"),
)
"""The fields with a date, first what the text is from, last when it was changed."""

_KOREAN_NAMES = load_words("korean_fields")
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
    texts = (next(iter(_list_texts(lower[one])), "") for one in _DATE_FIELDS if lower.get(one))
    title = lower.get("title") or ""
    return Metadata(
        title=None
        if isinstance(title, bool | list | dict)
        else " ".join(str(title).split()) or None,
        tags=list_unique(tags or to_tags(lower.get("keywords"))),
        lang=read_language(lower.get("lang") or lower.get("language")),
        authors=list_unique(
            name for field in ("author", "authors") for name in to_authors(lower.get(field))
        ),
        date=next(filter(None, map(parse_date, texts)), None),
        aliases=list_unique(
            name for field in ("alias", "aliases") for name in _to_aliases(lower.get(field))
        ),
        properties=tuple(dict.fromkeys(_iterate_properties("", fields)))[:_MAX_VALUES],
    )


_MAX_LEVELS = 8


def _iterate_properties(key: str, value: Any, level: int = 0) -> Iterator[tuple[str, str]]:
    """Yield the pairs of a value, whatever its type; see `Metadata.properties`."""
    if isinstance(value, dict | list):
        named = value.items() if isinstance(value, dict) else ((None, item) for item in value)
        for name, inner in named if level < _MAX_LEVELS else ():
            path = ".".join(filter(None, (key, str(name or "").strip().casefold())))
            yield from _iterate_properties(path, inner, level + 1)
    elif value is not None:
        text = str(value).lower() if isinstance(value, bool) else " ".join(str(value).split())
        yield key, text[:1_000].encode(errors="replace").decode()


def merge_metadata(front: Metadata, properties: Metadata, tags: Iterable[str]) -> Metadata:
    """Return the fields of front matter, then those of the properties; tags are of both."""
    return Metadata(
        title=front.title or properties.title,
        tags=list_unique([*front.tags, *properties.tags, *tags]),
        lang=front.lang or properties.lang,
        authors=front.authors or properties.authors,
        date=front.date or properties.date,
        aliases=list_unique([*front.aliases, *properties.aliases]),
        properties=(*front.properties, *properties.properties),
    )


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
    return list_unique(name.strip("[]@\"' ")[:_MAX_VALUE_CHARS] for name in names)


def _to_aliases(value: Any) -> list[str]:
    """Return further names of a note; the paths of old addresses are none."""
    if isinstance(value, str):
        value = value.split(",")
    texts = (text.strip("[]\"' ")[:_MAX_VALUE_CHARS] for text in _list_texts(value))
    return [text for text in texts if text and not text.startswith(("/", "http:", "https:"))]


_OPENING = re.compile(r"(?:---|\+\+\+)[ \t]*\n(?=[^\n]*\S)|\{")
_KEY_LINE = re.compile(r"[ \t]*[\w.-]+[ \t]*[:=]")
_LONG_KEY_LINE = re.compile(r"[\w.-]+(?: [\w.-]+){1,2}:[ \t]*[\[{\"'&*!%@`]")
"""A key of several words with a value that is no plain text."""
_FIELD_LINE = re.compile(r"^([\w -]{1,40}?)(?:(?<![ \t])[ \t]++)?[:=][ \t]*+(\S.*)$", re.MULTILINE)
_KEY = re.compile(r"[\w@$][\w .@$/-]{0,63}\Z")
_MAX_KEY_WORDS = 4
_INLINE_FIELD = re.compile(
    r"^[ \t>]*(?:[-*+][ \t]+(?:\[.\][ \t]+)?)?[*_]{0,2}"
    r"(?P<key>[^\W\d_][\w /-]{0,40}?)(?<! )[*_]{0,2}::(?:[ \t]+(?P<value>\S.{0,1000}))?$"
    r"|`[^`\n]*`|[\[(](?P<inner>[^\W\d_][\w /-]{0,40}?)::[ \t]+"
    r"(?P<text>[^\[\]()\n]*(?:\[\[[^\[\]\n]*\]\])?)[\])]",
    re.MULTILINE,
)
"""A field of Dataview: on a line of its own or of a list, or in brackets within a sentence.

Code in a line is matched to be passed over. A blank before the colons is that of Haskell.
"""
_EXPORTED_FIELD = re.compile(r"([^\W\d_][^:]{0,60}): (\S.{0,1000})")
_MAX_PROPERTIES = 100


class FrontBlock(NamedTuple):
    """The fields of front matter, the offset `end` behind it, and its fault; "" is none.

    Damaged front matter has the fields that stand on one line. That which is not closed has no
    fields, and `end` is 0.
    """

    fields: Fields
    end: int
    fault: str = ""


class FrontMatter(Struct, frozen=True):
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
    if not _OPENING.match(text):
        return None
    from kebab.parse.front_matter import read_block

    block = read_block(text)
    if block is None:
        return None
    fields, fault = block.fields, block.fault
    # Prose with a colon between two rules has no keys.
    if fields is not None and text.startswith("---") and not all(map(_is_key, fields)):
        fields, fault = None, "is not a mapping"
    if fields is not None:
        return FrontBlock(fields, block.end)
    looks_meant = _KEY_LINE.match(block.inner) or (block.end and _LONG_KEY_LINE.match(block.inner))
    if not looks_meant and not text.startswith("{"):
        return None
    salvaged = _salvage_fields(block.inner) if block.end else {}
    return FrontBlock(salvaged, block.end, f"front matter {fault}")


def _is_key(name: str) -> bool:
    return _KEY.match(name) is not None and len(name.split()) <= _MAX_KEY_WORDS


def _salvage_fields(inner: str) -> Fields:
    """Return the fields of damaged front matter that stand on one line, also lists in brackets.

    Often the title has a bare colon.
    """
    fields: dict[str, str | list[str]] = {}
    for name, rest in _FIELD_LINE.findall(inner[: 16 * 1024]):
        value = rest.strip()
        if value.startswith("[") and value.endswith("]"):
            fields[name] = [part.strip(" \"'") for part in value[1:-1].split(",")]
        else:
            fields[name] = "" if value.startswith(("[", "{")) else value.strip("\"'")
    return fields


def read_properties(body: str) -> dict[str, str]:
    """Return the properties of the first lines with text; the first of equal keys counts.

    Logseq and Dataview write them as lines `key:: value`. The lines stay part of the text, so their
    words are found.
    """
    fields: dict[str, str] = {}
    for line in body.lstrip("\n").split("\n", _MAX_PROPERTIES)[:_MAX_PROPERTIES]:
        match = _INLINE_FIELD.match(line.rstrip()[:1_000])
        if match is None or match["key"] is None:
            break
        fields.setdefault(match["key"].strip().lower(), (match["value"] or "").strip())
    return fields


def read_exported_properties(body: str) -> dict[str, str]:
    """Return the properties of a page that Notion exports: the lines `key: value` below its title.

    A paragraph with any other line is none.
    """
    paragraph = f"{body.lstrip()}\n\n".split("\n\n")[1]
    lines = [_EXPORTED_FIELD.fullmatch(line) for line in paragraph.split("\n")]
    return {found[1].lower(): found[2] for found in lines if found} if all(lines) else {}


def read_inline_metadata(
    body: str, code: Iterable[tuple[int, int]], *, is_exported: bool = False
) -> Metadata:
    """Return the metadata of the fields in a body outside [first, last) lines of code.

    Only the fields of its first lines are those of the document, such as its title.
    """
    metadata = build_metadata(
        (is_exported and read_exported_properties(body)) or read_properties(body)
    )
    if "::" not in body:
        return metadata
    lines = body.split("\n")
    for first, last in code:
        lines[first:last] = [""] * (last - first)
    found = (
        match.group("key", "value", "inner", "text")
        for match in _INLINE_FIELD.finditer("\n".join(lines))
    )
    pairs = ((key or inner or "", value or text) for key, value, inner, text in found)
    named = ((key.strip().casefold(), value) for key, value in pairs if value)
    more = (pair for field in named for pair in _iterate_properties(*field))
    properties = tuple(dict.fromkeys((*metadata.properties, *more)))
    return metadata._replace(properties=properties[:_MAX_VALUES])


MAX_TITLE_CHARS = 160
"""The longest title; it is embedded with every chunk of its document."""


def choose_title(metadata: Metadata, blocks: Iterable[Block], path: str) -> str:
    """Return the title that the document declares, else its first heading, else its file name.

    A first heading below the top level is the title of a section.
    """
    headings = (block for block in blocks if block.kind is BlockKind.HEADING and block.label)
    first = next(headings, None)
    heading = first.label if first is not None and first.level == 1 else ""
    candidates = (metadata.title or "", heading, read_file_name(path), path)
    visible = ("".join(max(char, " ") for char in normalize_text(text)) for text in candidates)
    lines = (shorten_line(" ".join(text.split()), MAX_TITLE_CHARS) for text in visible)
    return next(filter(None, lines), "untitled")


def shorten_line(line: str, most: int) -> str:
    """Return a line of at most so many characters, with a mark where its end is cut off."""
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def read_metadata(fields: Mapping[str, str]) -> Metadata:
    """Return the metadata that fields declare; their names are in lower case."""
    tags = fields.get("tags") or fields.get("keywords") or fields.get("filetags") or ""
    return Metadata(
        title=fields.get("title") or None,
        # Org writes `:work:home:`.
        tags=list_unique(split_keywords(tags.replace("#", "").replace(":", ","))),
        lang=read_language(fields.get("lang") or fields.get("language")),
        authors=list_unique(split_authors(fields.get("authors") or fields.get("author") or "")),
        date=find_date(fields.get("date", "")),
        properties=tuple(fields.items()),
    )


_NOBODY = frozenset(
    {"python-docx", "openpyxl", "python-pptx", "apache poi", "docx4j", "pptxgenjs", "un-named"}
    | {"microsoft office user", "windows user", "user", "admin", "administrator", "author"}
    | {"unknown", "anonymous", "owner", "root"}
)
"""Authors that name a program or nobody."""

_NO_TITLE = re.compile(
    r"(?i)microsoft (?:word|powerpoint|excel)\b.*|(?:powerpoint|word) (?:presentation|document)"
    r"|powerpoint .{0,12}|untitled.*|unbenannt.*|sans titre.*|제목 ?없음.*|無題.*|title|titel"
    r"|(?:document|presentation|book|slide) ?\d*|about:blank|none|null|(?:https?|file):.*|[\W\d_]*"
    r"|.*\.(?:docx?|dotx?|odt|rtf|tex|dvi|e?ps|pdf|indd|qx[dp]|pptx?|odp|xlsx?|html?|txt|md|hwpx?"
    r"|pages|ai|cdr|wpd|fm|tif|jpe?g|png)",
    re.DOTALL,
)
"""Titles that a program sets by itself."""

_PROPERTIES = ("subject", "category", "contentStatus", "description", "publisher", "identifier")
"""The properties that people fill in, besides those that every document may have."""


def convert_properties(fields: Mapping[str, str]) -> Metadata:
    """Return the metadata of the properties of a file, by their names in packages of Office."""
    names = split_authors(fields.get("creator", ""))
    title = fields.get("title", "").strip()
    dates = (fields.get("modified", ""), fields.get("created", ""))
    return Metadata(
        title=None if _NO_TITLE.fullmatch(title) else title,
        tags=list_unique(split_keywords(fields.get("keywords", ""))),
        lang=read_language(fields.get("language", "")),
        authors=list_unique(
            name for name in names if name.casefold() not in _NOBODY and re.search(r"\w", name)
        ),
        date=next(filter(None, map(parse_date, dates)), None),
        properties=tuple(
            (name, " ".join(fields[name].split())) for name in _PROPERTIES if fields.get(name)
        ),
    )
