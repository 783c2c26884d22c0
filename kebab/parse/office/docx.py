"""Reads Word documents (`.docx`).

The text is that of the latest version of the document: tracked insertions are in, deletions out.
Footnotes, comments and text boxes follow the paragraph that they belong to. Headers, footers and
tables of contents are left out.
"""

from collections.abc import Iterator, Mapping
from xml.etree.ElementTree import Element

from kebab.core.documents import ParsedDocument
from kebab.parse.office.docx_inline import Inline, InlineReader
from kebab.parse.office.docx_styles import (
    NO_STYLE,
    Numbering,
    Style,
    get_value,
    read_lists,
    read_numbering,
    read_outline,
    read_styles,
)
from kebab.parse.office.docx_tables import TableReader
from kebab.parse.office.ooxml import Package
from kebab.parse.text_builder import TextBuilder
from kebab.parse.xml_events import (
    find_child,
    get_attribute,
    get_local_tag,
    list_children,
    read_children,
)

_CONTAINERS = frozenset({"document", "body", "sdt", "sdtContent", "customXml", "smartTag"})
_LONGEST_HEADING = 300
"""A longer paragraph is text, whatever its style."""

_LAST_LEVEL = 9


class DocxParser:
    """Parses Word documents."""

    version = "docx-v1"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document; citations name its sections.

        Raises:
            ParseFailed: The file is damaged, encrypted, or no Word document.
        """
        package = Package(data, path, self.version, "document")
        reader = _BodyReader(package)
        archive = package.archive
        part = package.main
        for element in read_children(archive.read(part), part, archive.refuse, _CONTAINERS):
            reader.add_block(element)
        return reader.build(path)


class _BodyReader:
    """Converts the blocks of the body; items of a list and lines of code are collected."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._builder = TextBuilder()
        self._styles: Mapping[str, Style] = read_styles(self._find_part("styles"))
        self._lists = read_lists(self._find_part("numbering"))
        self._inline = InlineReader(package.read_relations(package.main), self._read_notes())
        self._tables = TableReader(self._read_paragraph, self._is_heading)
        self._items: list[tuple[int, str]] = []
        self._code: list[str] = []
        self._notes: list[str] = []
        self._title = ""

    def add_block(self, element: Element) -> None:
        """Add a paragraph or a table; other elements have no text."""
        tag = get_local_tag(element.tag)
        if tag == "p":
            self._add_paragraph(element)
        elif tag == "tbl":
            self._add_table(element)

    def build(self, path: str) -> ParsedDocument:
        """Return the document."""
        self._flush()
        metadata = self._package.read_metadata()
        if self._title:
            metadata = metadata._replace(title=self._title)
        if not self._builder.length and self._inline.pictures:
            raise self._package.archive.refuse("only images, no text")
        return self._builder.build(path, metadata, links=self._inline.links)

    def _find_part(self, kind: str) -> Element | None:
        return self._package.find_tree(self._package.find_related(self._package.main, kind))

    def _read_notes(self) -> dict[tuple[str, str], str]:
        """Return the texts of footnotes, endnotes and comments by kind and id."""
        notes = {}
        for kind in ("footnote", "endnote", "comment"):
            for element in list_children(self._find_part(f"{kind}s")):
                author = get_attribute(element, "author")
                label = f"{kind.capitalize()} by {author}" if author else kind.capitalize()
                paragraphs = (one for one in element.iter() if get_local_tag(one.tag) == "p")
                text = " ".join(filter(None, map(_read_plain, paragraphs)))
                if text and get_attribute(element, "type", "normal") == "normal":
                    notes[kind, get_attribute(element, "id")] = f"{label}: {text}"
        return notes

    def _get_style(self, properties: Element | None) -> Style:
        return self._styles.get(get_value(properties, "pStyle"), NO_STYLE)

    def _get_level(self, properties: Element | None, style: Style) -> int:
        """Return the level of a heading, 0 for text."""
        level = read_outline(properties) or style.outline or int(style.is_title)
        return 0 if level > _LAST_LEVEL else level

    def _is_heading(self, paragraph: Element) -> bool:
        properties = find_child(paragraph, "pPr")
        return self._get_level(properties, self._get_style(properties)) > 0

    def _get_label(self, properties: Element | None, style: Style) -> tuple[Numbering | None, str]:
        """Return the list of a paragraph, and its number there."""
        numbering = read_numbering(properties, style.name) or style.numbering
        if numbering is None or numbering.number == "0":
            return None, ""
        return numbering, self._lists.format_next(numbering)

    def _read_paragraph(self, paragraph: Element) -> str:
        """Return the text of a paragraph in a cell, and keep its notes for the end of the table."""
        properties = find_child(paragraph, "pPr")
        inline = self._inline.read(paragraph)
        _, label = (
            self._get_label(properties, self._get_style(properties)) if inline.text else (0, "")
        )
        self._notes += inline.notes
        boxes = (self._read_paragraph(one) for box in inline.boxes for one in _list_paragraphs(box))
        return " ".join(filter(None, (label, inline.text, *boxes)))

    def _add_paragraph(self, paragraph: Element) -> None:
        properties = find_child(paragraph, "pPr")
        style = self._get_style(properties)
        if style.is_contents:
            return
        inline = self._inline.read(paragraph)
        if inline.text:
            self._add_text(inline, properties, style)
        self._notes += inline.notes
        if not self._items:
            self._flush_notes()
        for box in inline.boxes:
            self._flush()
            for child in box:
                self.add_block(child)

    def _add_text(self, inline: Inline, properties: Element | None, style: Style) -> None:
        """Add a paragraph with text as what its style says."""
        if style.is_code:
            self._flush_list()
            self._code.append(inline.text)
            return
        self._flush_code()
        level = self._get_level(properties, style)
        numbering, label = self._get_label(properties, style)
        text = f"{label} {inline.text}" if label else inline.text
        if level and len(text) <= _LONGEST_HEADING:
            self._add_heading(level, text, style)
        elif numbering is not None:
            self._items.append((numbering.depth, text))
        else:
            self._flush_list()
            add = self._builder.add_quote if style.is_quote else self._builder.add_paragraph
            add(text)

    def _add_heading(self, level: int, text: str, style: Style) -> None:
        self._flush()
        self._builder.add_heading(level, text)
        if style.is_title and not self._title:
            self._title = text

    def _add_table(self, table: Element) -> None:
        self._flush()
        if self._tables.is_layout(table):
            for cell in self._tables.list_cells(table):
                for child in cell:
                    self.add_block(child)
            return
        rows, header = self._tables.read(table)
        self._builder.add_table(rows, header=header)
        self._flush_notes()

    def _flush(self) -> None:
        self._flush_code()
        self._flush_list()

    def _flush_code(self) -> None:
        self._builder.add_code("\n".join(self._code))
        self._code.clear()

    def _flush_list(self) -> None:
        self._builder.add_list(self._items)
        self._items.clear()
        self._flush_notes()

    def _flush_notes(self) -> None:
        for note in self._notes:
            self._builder.add_quote(note)
        self._notes.clear()


def _list_paragraphs(box: Element) -> Iterator[Element]:
    return (child for child in box if get_local_tag(child.tag) == "p")


def _read_plain(paragraph: Element) -> str:
    """Return the text of a paragraph of a note."""
    return InlineReader({}, {}).read(paragraph).text.strip()
