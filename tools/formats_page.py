"""Renders the page of file formats: those that kebab reads, and those that it does not."""

from collections.abc import Iterable

from kebab.core.content import list_unsupported
from kebab.core.files import IMAGE, OCR_SETTING
from kebab.core.media import MEDIA_TYPES, CitationKind, MediaType
from kebab.core.ports import Parser
from kebab.parse.registry import PARSERS, LazyParser

_CITED_BY = {
    CitationKind.LINE: "lines",
    CitationKind.PAGE: "page",
    CitationKind.CELL: "cells",
    CitationKind.SLIDE: "slide",
    CitationKind.SECTION: "section",
    CitationKind.CODE: "lines and symbol",
}


def render_formats_page() -> str:
    """Return the text of `formats.md`."""
    readable = [_format_media(media) for media in sorted(MEDIA_TYPES, key=_get_sort_key)]
    read = {suffix for media in MEDIA_TYPES for suffix in media.suffixes}
    others = [
        [one.label, _format_names(name for name in suffixes if name not in read), one.hint or "-"]
        for one, suffixes in list_unsupported()
    ]
    return (
        "# File formats\n\nGenerated from `kebab/core/media.py`, `kebab/parse/registry.py` and"
        " `kebab/core/content.py`. The content of a file decides where its name says nothing"
        " or something wrong.\n\n## What kebab reads\n\n"
        f"{_render_table(['format', 'files', 'cited by', 'needs'], readable)}\n"
        "## What kebab does not read\n\n`kebab ingest --explain FILE` says so as well.\n\n"
        f"{_render_table(['format', 'files', 'what helps'], others)}"
    )


def _get_sort_key(media: MediaType) -> tuple[int, str]:
    """Return the place of a format: by its kind of citation, then by its label."""
    return list(CitationKind).index(media.cites), media.label.casefold()


def _format_media(media: MediaType) -> list[str]:
    names = _format_names((*media.suffixes, *media.names))
    return [media.label, names, _CITED_BY[media.cites], _describe_needs(media, PARSERS[media.name])]


def _describe_needs(media: MediaType, parser: Parser) -> str:
    """Return what has to be installed or turned on before a format is read."""
    if media.name == IMAGE:
        return f"`{OCR_SETTING}`, tesseract"
    extra = parser.extra if isinstance(parser, LazyParser) else None
    return f"`kebab[{extra}]`" if extra else "-"


def _format_names(names: Iterable[str]) -> str:
    return " ".join(f"`{name}`" for name in names)


def _render_table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
