"""File formats without libraries, one for each kind of citation that is not by lines.

A file is text with form feeds between its pages, slides, cells or sheets. Lines of `#` are
headings, and other lines are paragraphs. A sheet begins with its name, and its rows have commas.
"""

import pytest

from kebab.core import media
from kebab.core.chunks import Place
from kebab.core.documents import ParsedDocument
from kebab.core.media import CitationKind, MediaType
from kebab.errors.catalog import ParseFailed
from kebab.parse import registry
from kebab.parse.blocks import TextBuilder

FORMATS = (
    MediaType("test/page", "test pages", (".pages",), CitationKind.PAGE),
    MediaType("test/slide", "test slides", (".slides",), CitationKind.SLIDE),
    MediaType("test/cell", "test cells", (".cells",), CitationKind.CELL),
    MediaType("test/sheet", "test sheets", (".sheets",), CitationKind.CELL),
    MediaType("test/section", "test sections", (".sections",), CitationKind.SECTION),
    MediaType("test/code", "test code", (".code",), CitationKind.CODE, language="test"),
)


class PlacedParser:
    """The parser of one of the formats."""

    def __init__(self, form: MediaType) -> None:
        self.version = f"{form.name.partition('/')[2]}-v1"
        self._form = form

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        text = data.decode()
        if text.startswith("damaged"):
            raise ParseFailed(path=path, parser=self.version, cause="damaged")
        builder = TextBuilder()
        parts = text.split("\f")
        for index, part in enumerate(parts):
            if self._form.name == "test/sheet":
                name, *rows = part.strip("\n").split("\n")
                columns = f"A:{chr(ord('A') + rows[0].count(','))}"
                row = 1
                for block in "\n".join(rows).split("\n\n\n"):
                    lines = block.split("\n")
                    builder.begin_place(Place(0, index, label=name, row=row, columns=columns))
                    builder.add_rows([line.split(",") for line in lines])
                    row += len(lines) + 2
                continue
            if self._form.cites is not CitationKind.SECTION:
                number = index + (self._form.cites is not CitationKind.CELL)
                builder.begin_place(Place(0, number, of=len(parts)))
            _add_lines(builder, part)
        return builder.build(path)


def _add_lines(builder: TextBuilder, part: str) -> None:
    for line in filter(None, part.split("\n")):
        level = len(line) - len(line.lstrip("#"))
        if level:
            builder.add_heading(level, line[level:])
        else:
            builder.add_paragraph(line)


def register_formats(patch: pytest.MonkeyPatch) -> None:
    """Let kebab read the formats during a test."""
    for form in FORMATS:
        patch.setitem(media._BY_NAME, form.name, form)
        for suffix in form.suffixes:
            patch.setitem(media._BY_SUFFIX, suffix, form.name)
        patch.setitem(registry.PARSERS, form.name, PlacedParser(form))
