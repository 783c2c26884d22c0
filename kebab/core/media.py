"""Declares the media types that kebab reads: their suffixes, names, and how they are cited.

One row is one file format. The parser of each row is declared in `kebab.parse.registry`.
"""

from enum import StrEnum
from typing import NamedTuple

from kebab.core.files import get_suffix


class CitationKind(StrEnum):
    """What a citation of a document names: the kinds of `citation.v1`."""

    LINE = "line"
    PAGE = "page"
    CELL = "cell"
    SLIDE = "slide"
    SECTION = "section"
    CODE = "code"


class MediaType(NamedTuple):
    """A file format.

    `label` is its name for a person, e.g. `PDF`. `suffixes` are in lower case with their dots, and
    `names` are whole file names in lower case, e.g. `makefile`. `language` is the name of a
    programming language in citations, else empty.
    """

    name: str
    label: str
    suffixes: tuple[str, ...]
    cites: CitationKind = CitationKind.LINE
    names: tuple[str, ...] = ()
    language: str = ""


MARKDOWN = "text/markdown"
PLAIN = "text/plain"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

MEDIA_TYPES: tuple[MediaType, ...] = (
    MediaType(MARKDOWN, "Markdown", (".md", ".markdown", ".mdown", ".mkdn", ".mkd", ".mdx")),
    MediaType(
        PLAIN,
        "text",
        (".txt", ".text", ".log", ".org", ".adoc", ".asciidoc", ".textile"),
    ),
    MediaType(DOCX, "Word", (".docx", ".docm", ".dotx", ".dotm"), CitationKind.SECTION),
    MediaType("text/x-rst", "reStructuredText", (".rst", ".rest")),
)
"""Every file format that kebab reads."""

_BY_NAME = {media.name: media for media in MEDIA_TYPES}
_BY_SUFFIX = {suffix: media.name for media in MEDIA_TYPES for suffix in media.suffixes}
_BY_FILE_NAME = {name: media.name for media in MEDIA_TYPES for name in media.names}


def get_media_type(name: str) -> MediaType:
    """Return the row of a media type; an unknown one is cited by lines, as text is."""
    return _BY_NAME.get(name) or MediaType(name, name, ())


def list_media_types(value: str) -> list[str]:
    """Return the media types that a person's word means.

    The word is a label (`PDF`), a suffix (`docx`), a language (`python`), a kind of citation
    (`code`), or part of a media type, which stays as it is.
    """
    word = value.casefold()
    found = [
        media.name
        for media in MEDIA_TYPES
        if word in {media.label.casefold(), media.language, media.cites.value.replace("line", "")}
        or f".{word}" in media.suffixes
    ]
    return list(dict.fromkeys((*found, value)))


def detect_media_type(name: str) -> str | None:
    """Return the media type of a file by its name, None when no parser reads it."""
    return _BY_SUFFIX.get(get_suffix(name)) or _BY_FILE_NAME.get(name.rpartition("/")[2].lower())
