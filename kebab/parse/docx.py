"""Reads Word documents (`.docx`).

The text is that of the latest version of the document: tracked insertions are in, deletions out.
Footnotes, comments, text boxes, charts and diagrams follow the paragraph that they belong to;
headers and footers stand at the end, each text once. Tables of contents are left out.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from xml.etree.ElementTree import Element

from kebab.core.documents import ParsedDocument
from kebab.parse.archive import (
    find_child,
    get_attribute,
    get_local_tag,
    list_children,
    read_children,
)
from kebab.parse.blocks import TextBuilder
from kebab.parse.formulas import END, NOTE, SUBSCRIPT, SUPERSCRIPT, read_equation, write_scripts
from kebab.parse.graphics import (
    OLD_EQUATIONS,
    Graphic,
    is_old_equation,
    read_description,
    read_linked_graphic,
)
from kebab.parse.office import (
    NO_STYLE,
    Numbering,
    Package,
    Style,
    choose_alternative,
    get_value,
    is_file_link,
    is_page_number,
    read_lists,
    read_numbering,
    read_outline,
    read_styles,
)

_SIGNS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_LEFT_OUT = frozenset(
    # Deleted text, properties, the reading above East Asian text, and the old form of a drawing.
    {"del", "moveFrom", "delText", "pPr", "rPr", "sdtPr", "rt", "Fallback", "delInstrText"}
)
_NOTES = {
    "footnoteReference": "footnote",
    "endnoteReference": "endnote",
    "commentReference": "comment",
}
_SCRIPT_MARKS = {"superscript": SUPERSCRIPT, "subscript": SUBSCRIPT}
_PICTURES = frozenset({"drawing", "pict", "object"})
_LINK_FIELD = re.compile(r'HYPERLINK\s+"([^"]+)"')
_FALSE = frozenset({"0", "false", "off"})


@dataclass(slots=True)
class Inline:
    """The text of a paragraph, what follows it, and its text boxes.

    `notes` has the notes that it refers to, and its pictures, charts and diagrams.
    """

    parts: list[str] = field(default_factory=list)
    notes: list[Graphic] = field(default_factory=list)
    boxes: list[Element] = field(default_factory=list)
    text: str = ""


class InlineReader:
    """Reads paragraphs, and collects the links and counts the pictures of the document."""

    def __init__(self, package: Package, part: str, styles: Mapping[str, Style]) -> None:
        self.links: list[str] = []
        self.pictures = 0
        self.old_equations = 0
        self.notes: Mapping[tuple[str, str], str] = {}
        self._package, self._part, self._styles = package, part, styles
        self._relations = package.read_relations(part)

    def read(self, paragraph: Element) -> Inline:
        """Return the contents of a paragraph."""
        inline = Inline()
        self._collect(paragraph, inline)
        inline.text = write_scripts("".join(inline.parts)).strip("\n").rstrip()
        return inline

    def _collect(self, element: Iterable[Element], inline: Inline) -> None:
        for child in element:
            tag = get_local_tag(child.tag)
            if tag == "t":
                inline.parts.append(child.text or "")
            elif tag in _SIGNS:
                inline.parts.append(_SIGNS[tag])
            elif tag == "oMath":
                inline.parts.append(read_equation(child))
            elif tag == "txbxContent":
                inline.boxes.append(child)
            elif tag == "AlternateContent":
                self._collect(choose_alternative(child), inline)
            elif tag == "r":
                if not _is_hidden(child):
                    mark = self._find_script_mark(child)
                    inline.parts.append(mark)
                    self._collect(child, inline)
                    inline.parts.append(END if mark else "")
            elif tag not in _LEFT_OUT:
                self._add_notes(child, tag, inline)
                self._collect(child, inline)

    def _add_notes(self, element: Element, tag: str, inline: Inline) -> None:
        """Add what an element refers to: notes, pictures, charts and links."""
        if tag in _NOTES:
            note = self.notes.get((_NOTES[tag], get_attribute(element, "id")), "")
            inline.notes.append(Graphic(description=note))
        elif tag in {"chart", "relIds"}:
            inline.notes.append(read_linked_graphic(self._package, self._part, element))
        elif tag == "docPr":
            inline.notes.append(Graphic(description=read_description(element)))
        elif tag == "instrText":
            self._add_links(_LINK_FIELD.findall(element.text or ""))
        elif tag == "hyperlink":
            relation = self._relations.get(get_attribute(element, "id"))
            self._add_links([relation.target] if relation and relation.external else [])
        elif tag == "OLEObject":
            self.old_equations += is_old_equation(element)
        elif tag in _PICTURES:
            self.pictures += 1

    def _add_links(self, targets: list[str]) -> None:
        self.links += [target for target in targets if is_file_link(target)]

    def _find_script_mark(self, run: Element) -> str:
        """Return the begin of a raised or lowered run, empty for one on the line."""
        properties = find_child(run, "rPr")
        own = get_value(properties, "vertAlign")
        style = self._styles.get(get_value(properties, "rStyle"), NO_STYLE)
        mark = _SCRIPT_MARKS.get(own or style.script, "")
        return f"{NOTE}{mark}" if mark and style.is_note_mark else mark


def _list_lines(reader: InlineReader, elements: Iterable[Element]) -> Iterator[str]:
    """Yield the paragraphs with text within elements of a part other than the body."""
    for element in elements:
        if get_local_tag(element.tag) != "p":
            yield from _list_lines(reader, element)
            continue
        inline = reader.read(element)
        yield from filter(None, (inline.text.strip(),))
        yield from _list_lines(reader, inline.boxes)


def _is_hidden(run: Element) -> bool:
    """Return whether a run is hidden text."""
    properties = find_child(run, "rPr")
    hidden = find_child(properties, "vanish")
    return hidden is not None and get_value(properties, "vanish") not in _FALSE


_MAX_SPAN = 64
"""Word has at most 63 columns."""

_LONG_CELL_CHARS = 2_000
_WRAPPERS = frozenset({"sdt", "sdtContent", "customXml", "ins", "moveTo"})


class TableReader:
    """Reads tables as rows of texts."""

    def __init__(
        self, read_paragraph: Callable[[Element], str], is_heading: Callable[[Element], bool]
    ) -> None:
        self._read_paragraph = read_paragraph
        self._is_heading = is_heading

    def is_layout(self, table: Element) -> bool:
        """Return whether a table places parts of the page: one column, headings, or long texts."""
        rows = [list(_list_children(row, "tc")) for row in _list_children(table, "tr")]
        if all(len(cells) <= 1 for cells in rows):
            return True
        for cell in chain.from_iterable(rows):
            paragraphs = list(_list_children(cell, "p"))
            if any(self._is_heading(one) for one in paragraphs):
                return True
            texts = (text for one in paragraphs for text in one.itertext())
            if len(paragraphs) > 1 and sum(map(len, texts)) > _LONG_CELL_CHARS:
                return True
        return False

    def list_cells(self, table: Element) -> Iterator[Element]:
        """Yield the cells in reading order, without those that continue one above."""
        for row in _list_children(table, "tr"):
            for cell in _list_children(row, "tc"):
                if not _continues_above(cell):
                    yield cell

    def read(self, table: Element) -> tuple[list[list[str]], bool]:
        """Return the rows, and whether the first one is a header.

        A merged cell stands in each of its rows, and in the first of its columns.
        """
        rows: list[list[str]] = []
        above: list[str] = []
        header = False
        for row in _list_children(table, "tr"):
            properties = find_child(row, "trPr")
            if find_child(properties, "del") is not None:
                continue
            above = self._read_row(row, above)
            header = header or (not rows and find_child(properties, "tblHeader") is not None)
            rows.append(above)
        # The look of a table may say that the first row is no header.
        look = find_child(find_child(table, "tblPr"), "tblLook")
        has_first_row = look is None or get_attribute(look, "firstRow", "1") in {"1", "true", "on"}
        return rows, header or has_first_row

    def _read_row(self, row: Element, above: list[str]) -> list[str]:
        texts: list[str] = []
        for cell in _list_children(row, "tc"):
            column = len(texts)
            if _continues_above(cell) and column < len(above):
                texts.append(above[column])
            else:
                texts.append(self._read_cell(cell))
            span = get_value(find_child(cell, "tcPr"), "gridSpan")
            columns = min(int(span), _MAX_SPAN) if span.isdecimal() else 1
            texts += [""] * (columns - 1)
        return texts

    def _read_cell(self, cell: Element) -> str:
        """Return the text of a cell; a table in it becomes `a, b; c, d`."""
        texts = [self._read_paragraph(one) for one in _list_children(cell, "p")]
        for table in _list_children(cell, "tbl"):
            rows, _ = self.read(table)
            texts.append("; ".join(", ".join(filter(None, row)) for row in rows))
        return "\n".join(filter(None, texts))


def _list_children(element: Element, tag: str) -> Iterator[Element]:
    """Yield the children with a local tag, also those in content controls."""
    for child in element:
        found = get_local_tag(child.tag)
        if found == tag:
            yield child
        elif found in _WRAPPERS:
            yield from _list_children(child, tag)


def _continues_above(cell: Element) -> bool:
    """Return whether a cell is merged with the cell above."""
    merged = find_child(find_child(cell, "tcPr"), "vMerge")
    return merged is not None and get_attribute(merged, "val", "continue") == "continue"


_CONTAINERS = frozenset({"document", "body", "sdt", "sdtContent", "customXml", "smartTag"})
_LONGEST_HEADING = 300
"""A longer paragraph is text, whatever its style."""

_LAST_LEVEL = 9


class DocxParser:
    """Parses Word documents."""

    version = "docx-v2"

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
        self._inline = InlineReader(package, package.main, self._styles)
        self._inline.notes = self._read_notes()
        self._tables = TableReader(self._read_paragraph, self._is_heading)
        self._items: list[tuple[int, str]] = []
        self._code: list[str] = []
        self._notes: list[Graphic] = []
        self._title = ""

    def add_block(self, element: Element) -> None:
        """Add a paragraph or a table; other elements have no text."""
        tag = get_local_tag(element.tag)
        if tag == "p":
            self._add_paragraph(element)
        elif tag == "tbl":
            self._add_table(element)
        elif tag == "AlternateContent":
            for child in choose_alternative(element):
                self.add_block(child)

    def build(self, path: str) -> ParsedDocument:
        """Return the document."""
        self._flush()
        metadata = self._package.read_metadata()
        if self._title:
            metadata = metadata._replace(title=self._title)
        if not self._builder.length and self._inline.pictures:
            raise self._package.archive.refuse("only images, no text")
        self._add_headers()
        count = self._inline.old_equations
        warnings = [OLD_EQUATIONS.format(count)] if count else []
        return self._builder.build(path, metadata, warnings=warnings, links=self._inline.links)

    def _add_headers(self) -> None:
        """Add the headers and footers but for numbers of pages, each text once."""
        texts = {}
        for relation in self._package.read_relations(self._package.main).values():
            if relation.kind in {"header", "footer"} and not relation.external:
                root = self._package.find_tree(relation.target)
                reader = InlineReader(self._package, relation.target, self._styles)
                lines = _list_lines(reader, list_children(root))
                text = " ".join(line for line in lines if not is_page_number(line))
                texts[text] = f"{relation.kind.capitalize()}: {text}"
        texts.pop("", None)
        for line in texts.values():
            self._builder.add_quote(line)

    def _find_part(self, kind: str) -> Element | None:
        return self._package.find_tree(self._package.find_related(self._package.main, kind))

    def _read_notes(self) -> dict[tuple[str, str], str]:
        """Return the texts of footnotes, endnotes and comments by kind and id."""
        notes = {}
        for kind in ("footnote", "endnote", "comment"):
            part = self._package.find_related(self._package.main, f"{kind}s") or ""
            reader = InlineReader(self._package, part, self._styles)
            for element in list_children(self._package.find_tree(part)):
                author = get_attribute(element, "author")
                label = f"{kind.capitalize()} by {author}" if author else kind.capitalize()
                text = " ".join(_list_lines(reader, element))
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
        paragraphs = (one for box in inline.boxes for one in box if get_local_tag(one.tag) == "p")
        boxes = map(self._read_paragraph, paragraphs)
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
            self._flush()
            self._builder.add_heading(level, text)
            if style.is_title and not self._title:
                self._title = text
        elif numbering is not None:
            self._items.append((numbering.depth, text))
        else:
            self._flush_list()
            add = self._builder.add_quote if style.is_quote else self._builder.add_paragraph
            add(text)

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
            note.write(self._builder)
        self._notes.clear()
