"""Reads OpenDocument texts (`.odt`) and presentations (`.odp`), and parts of sheets (`.ods`).

In texts, notes and comments follow their paragraph, headers and footers stand at the end; deleted
text and indexes are left out. Each slide of a presentation is a place, and its title a heading.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import partial
from html import unescape
from itertools import chain
from typing import TypeAlias
from xml.etree.ElementTree import Element

from kebab.core.chunks import Place
from kebab.core.documents import ParsedDocument
from kebab.limits.deadline import build_refusal
from kebab.parse.archive import (
    find_all,
    find_child,
    get_attribute,
    get_local_tag,
    join_text,
    list_children,
    read_children,
    read_events,
)
from kebab.parse.blocks import TextBuilder, label_note
from kebab.parse.formulas import END, SUBSCRIPT, SUPERSCRIPT, read_equation
from kebab.parse.office import ooxml as office

_BLANKS = re.compile(r"[ \t\r\n]+")
"""White space of the markup, which is one blank."""

_HIDDEN = {"ruby-text": "readings above characters", "tracked-changes": "deleted text"}
"""What the text is of elements that are not read."""
_SHAPES = frozenset(
    {"frame", "custom-shape", "rect", "ellipse", "circle", "line", "connector", "path", "polygon"}
    | {"polyline", "regular-polygon", "caption", "g"}
)
"""The elements of a drawing that may hold text."""

_ANY_TEXT = re.compile(
    rb">([^<>]*+)<(?!/(?:dc:date|text:note-citation|text:page-number|text:page-count)>)"
    rb'|\bform:(?:label|current-value)="([^"]*)"'
)
_ESCAPED = re.compile(r"_([0-9a-f]{2})_")


class _Styles:
    def __init__(self) -> None:
        self._parents: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._scripts: dict[str, str] = {}

    def add(self, root: Element | None) -> None:
        """Add the styles within an element."""
        for element in find_all(root, "style"):
            name = get_attribute(element, "name")
            self._parents[name] = get_attribute(element, "parent-style-name")
            self._names[name] = get_attribute(element, "display-name")
            for properties in element:
                shift = get_attribute(properties, "text-position").partition(" ")[0]
                if shift.strip("-0%"):
                    is_lower = shift.startswith(("sub", "-"))
                    self._scripts[name] = SUBSCRIPT if is_lower else SUPERSCRIPT

    def get_role(self, name: str) -> str:
        """Return the role of a style or of the first of its bases that has one."""
        for base in self._list_bases(name):
            plain = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), base)
            role = office.find_role(self._names.get(base) or plain)
            if role in {"title", "code", "quote"}:
                return role
        return ""

    def get_script_mark(self, name: str) -> str:
        """Return the begin of a raised or lowered text of a style, empty for another style."""
        marks = (self._scripts[base] for base in self._list_bases(name) if base in self._scripts)
        return next(marks, "")

    def _list_bases(self, name: str) -> Iterator[str]:
        for _ in range(20):
            if not name:
                break
            yield name
            name = self._parents.get(name, "")


def read_count(element: Element, name: str, most: int) -> int:
    """Return a number from 1 to `most`; 1 without one."""
    text = get_attribute(element, name)
    if not text.isdecimal():
        return 1
    return most if len(text) > len(str(most)) else max(1, min(int(text), most))


_ROW_GROUPS = frozenset({"table-header-rows", "table-rows", "table-row-group"})
_MAX_REPEATED = 64
"""Further repetitions of a row or a cell in a text or a slide fill a page, and mean nothing."""

_INDEXES = frozenset(
    {"table-of-content", "illustration-index", "table-index", "object-index", "user-index"}
    | {"alphabetical-index", "bibliography"}
)


class _Reader:
    """Adds the blocks of a text or of a shape to a document."""

    def __init__(self, document: office.OpenDocument) -> None:
        self.builder = TextBuilder()
        self.styles = _Styles()
        self.masters: list[Element] = []
        self.body = b""
        self._document = document
        self._links: list[str] = []
        self._title = ""

    def build(self, path: str) -> ParsedDocument:
        """Return the document; the words of its body that are not read are left out."""
        metadata = self._document.metadata
        if self._title:
            metadata = metadata._replace(title=self._title)
        found = (
            one.decode("utf-8", "replace") for it in _ANY_TEXT.findall(self.body) for one in it
        )
        self.builder.leave_out_unknown("other text of the file", map(unescape, found))
        return self.builder.build(path, metadata, links=self._links)

    def add_block(self, element: Element) -> None:
        """Add a heading, a paragraph, a list, a table, or what is in a section or a shape."""
        tag = get_local_tag(element.tag)
        if tag == "p":
            self._add_paragraph(element)
        elif tag == "list":
            headings = list(find_all(element, "p", "h"))
            if headings and all(get_local_tag(one.tag) == "h" for one in headings):
                for heading in headings:
                    self.add_block(heading)
                return
            rest = office.Inline()
            for depth, text in self._list_items(element, 0, rest):
                self.builder.add_item(depth, text)
            self._add_rest(rest)
        else:
            self.builder.end_run()
            if tag == "h":
                inline = self._read(element)
                self.builder.add_heading(read_count(element, "outline-level", 9), inline.text)
                self._add_rest(inline)
            elif tag == "table":
                self._add_table(element)
            elif tag in {"section", "text-box", "numbered-paragraph", "a"}:
                for child in element:
                    self.add_block(child)
            elif tag in _SHAPES:
                self.add_shape(element)
            elif reason := office.CONTENTS if tag in _INDEXES else _HIDDEN.get(tag):
                self.builder.leave_out(reason, " ".join(self.list_texts(element)))

    def add_shape(self, shape: Element) -> None:
        """Add the texts of a shape, and the description of a picture."""
        for child in shape:
            tag = get_local_tag(child.tag)
            if tag == "object":
                self.builder.add_paragraph(self._read_equation(shape))
                for element in find_all(
                    self._document.find_object(get_attribute(child, "href")), "title", "table"
                ):
                    if get_local_tag(element.tag) == "title":
                        self.builder.add_paragraph(f"Chart: {' '.join(self.list_texts(element))}")
                    else:
                        rows = self._read_table(element, office.Inline())
                        self.builder.add_table(rows[: office.MAX_POINTS + 1])
                        rest = chain.from_iterable(rows[office.MAX_POINTS + 1 :])
                        self.builder.leave_out(office.CHART_ROWS, " ".join(rest))
            elif tag == "desc" and (child.text or "").strip():
                self.builder.add_quote(f"Picture: {_BLANKS.sub(' ', child.text or '').strip()}")
            else:
                self.add_block(child)
        self.builder.end_run()

    def _add_paragraph(self, element: Element) -> None:
        role = self.styles.get_role(get_attribute(element, "style-name"))
        inline = self._read(element)
        if role == "code" and inline.text:
            self.builder.add_code_line(inline.text)
        else:
            self.builder.end_run()
            if role == "title":
                self._title = self._title or inline.text.strip()
                self.builder.add_heading(1, inline.text)
            elif role == "quote":
                self.builder.add_quote(inline.text)
            else:
                self.builder.add_paragraph(inline.text.strip())
        if inline.notes or inline.shapes:
            self.builder.end_run()
            self._add_rest(inline)

    def _add_rest(self, inline: office.Inline) -> None:
        """Add notes and shapes behind the open list."""
        for note in inline.notes:
            self.builder.add_behind(partial(note.write, self.builder))
        for shape in inline.shapes:
            self.builder.add_behind(partial(self.add_shape, shape))

    def _list_items(
        self, element: Element, depth: int, rest: office.Inline
    ) -> Iterator[tuple[int, str]]:
        """Yield the items of a list with their depth; `rest` gets their notes and shapes."""
        for item in list_children(element, "list-item", "list-header"):
            paragraphs = (self._read_into(rest, one) for one in list_children(item, "p", "h"))
            text = " ".join(filter(None, map(str.strip, paragraphs)))
            if text:
                yield depth, text
            for child in list_children(item, "list"):
                yield from self._list_items(child, depth + 1, rest)

    def _read_into(self, rest: office.Inline, paragraph: Element) -> str:
        """Return the text of a paragraph; `rest` gets its notes and shapes."""
        inline = self._read(paragraph)
        rest.notes += inline.notes
        rest.shapes += inline.shapes
        return inline.text

    def _add_table(self, table: Element) -> None:
        rest = office.Inline()
        rows = self._read_table(table, rest)
        if any(len(row) > 1 for row in rows):
            self.builder.add_table(rows)
            self._add_rest(rest)
            return
        for cell in (cell for row in _list_rows(table) for cell in row):
            for child in cell:
                self.add_block(child)

    def _read_table(self, table: Element, rest: office.Inline) -> list[list[str]]:
        """Return the rows of a table; a merged cell stands in each of its rows."""
        rows: list[list[str]] = []
        spans: dict[int, tuple[int, str]] = {}
        for row in _list_rows(table):
            texts = list(self._read_row(row, spans, rest))
            times = read_count(row, "number-rows-repeated", _MAX_REPEATED) if any(texts) else 1
            rows += [texts] * times
        return rows

    def _read_row(
        self, row: Element, spans: dict[int, tuple[int, str]], rest: office.Inline
    ) -> Iterator[str]:
        """Yield the texts of a row; `spans` has the cells that reach down, by column."""
        column = 0
        for cell in list_children(row, "table-cell", "covered-table-cell"):
            left, text = spans.pop(column, (0, ""))
            if get_local_tag(cell.tag) == "table-cell":
                left = read_count(cell, "number-rows-spanned", _MAX_REPEATED)
                texts: list[str] = []
                for child in cell:
                    tag = get_local_tag(child.tag)
                    if tag in {"p", "h"}:
                        texts.append(self._read_into(rest, child))
                    elif tag == "list":
                        texts += (text for _, text in self._list_items(child, 0, rest))
                    elif tag == "table":
                        texts.append(office.join_rows(self._read_table(child, rest)))
                text = "\n".join(filter(None, map(str.strip, texts)))
            if left > 1:
                spans[column] = (left - 1, text)
            times = read_count(cell, "number-columns-repeated", _MAX_REPEATED) if text else 1
            column += times
            yield from [text] * times

    def _read(self, element: Element) -> office.Inline:
        inline = office.Inline()
        self._collect(element, inline)
        return inline.end()

    def _collect(self, element: Element, inline: office.Inline) -> None:
        inline.parts.append(_BLANKS.sub(" ", element.text or ""))
        for child in element:
            tag = get_local_tag(child.tag)
            if tag == "s":
                inline.parts.append(" " * read_count(child, "c", 200))
            elif tag == "tab":
                inline.parts.append("\t")
            elif tag == "line-break":
                inline.parts.append("\n")
            elif tag in {"note", "annotation"}:
                inline.notes.append(office.Graphic(description=self.read_note(child)))
            elif tag in _SHAPES:
                equation = self._read_equation(child) if tag == "frame" else ""
                inline.parts.append(equation)
                inline.shapes += [] if equation else [child]
            elif tag in _HIDDEN:
                self.builder.leave_out(_HIDDEN[tag], "".join(child.itertext()))
            else:
                style = get_attribute(child, "style-name") if tag == "span" else ""
                mark = self.styles.get_script_mark(style)
                inline.parts.append(mark)
                target = get_attribute(child, "href") if tag == "a" else ""
                if office.is_file_link(target):
                    self._links.append(target)
                else:
                    self.builder.leave_out(office.ADDRESSES, target)
                self._collect(child, inline)
                inline.parts.append(END if mark else "")
            inline.parts.append(_BLANKS.sub(" ", child.tail or ""))

    def _read_equation(self, frame: Element) -> str:
        """Return the equation in a frame; empty for other contents."""
        found = find_child(frame, "object")
        root = None if found is None else next(iter(found), None)
        if found is not None and root is None:
            root = self._document.find_object(get_attribute(found, "href"))
        return "" if root is None or get_local_tag(root.tag) != "math" else read_equation(root)

    def read_note(self, element: Element) -> str:
        """Return a footnote, an endnote or a comment with its label, empty without a text."""
        if get_local_tag(element.tag) == "note":
            text = " ".join(self.list_texts(find_child(element, "note-body")))
            return label_note(text, kind=get_attribute(element, "note-class", "note"))
        author = find_child(element, "creator")
        return label_note(
            " ".join(self.list_texts(element)), None if author is None else author.text
        )

    def list_texts(self, element: Element | None) -> Iterator[str]:
        """Yield the texts of all paragraphs within an element."""
        return filter(None, (self._read(one).text.strip() for one in find_all(element, "p", "h")))


def _list_rows(table: Element) -> Iterator[Element]:
    for child in table:
        tag = get_local_tag(child.tag)
        if tag == "table-row":
            yield child
        elif tag in _ROW_GROUPS:
            yield from _list_rows(child)


_KINDS = {
    "text": "a text",
    "presentation": "a presentation",
    "spreadsheet": "a spreadsheet",
    "drawing": "a drawing",
}
_ROOTS = frozenset({"document-content", "body"})
_FOOTERS = frozenset({"date-time", "footer", "header", "page-number", "page", "handout"})


class OdtParser:
    """Parses OpenDocument texts; citations name their sections."""

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document."""
        document = office.OpenDocument(data)
        reader = _Reader(document)
        for element in _read_body(document, reader, "text"):
            reader.add_block(element)
        reader.builder.end_run()
        margins = (
            (get_local_tag(one.tag).partition("-")[0], reader.list_texts(one))
            for page in reader.masters
            for one in page
            if get_local_tag(one.tag).startswith(("header", "footer"))
        )
        office.add_margins(reader.builder, margins)
        return reader.build(path)


class OdpParser:
    """Parses OpenDocument presentations; citations name their slides."""

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document."""
        document = office.OpenDocument(data)
        reader = _Reader(document)
        pages = (
            one
            for one in _read_body(document, reader, "presentation")
            if get_local_tag(one.tag) == "page"
        )
        for number, page in enumerate(pages, 1):
            reader.builder.begin_place(Place(0, number))
            shapes = [(get_attribute(one, "class"), one) for one in list_children(page, *_SHAPES)]
            titles = (reader.list_texts(one) for role, one in shapes if role == "title")
            others = [one for role, one in shapes if role not in _FOOTERS | {"title"}]
            quotes = [
                "Notes: " + "\n".join(reader.list_texts(frame))
                for notes in list_children(page, "notes")
                for frame in notes
                if get_attribute(frame, "class") not in _FOOTERS and any(reader.list_texts(frame))
            ]
            quotes += map(reader.read_note, list_children(page, "annotation"))
            graphics = (next(find_all(one, "object", "desc"), None) for one in others)
            has_text = quotes or any(any(reader.list_texts(one)) for one in others)
            has_text = bool(has_text) or any(one is not None for one in graphics)
            office.add_slide_heading(
                reader.builder, " ".join(chain.from_iterable(titles)), number, has_text=has_text
            )
            for shape in others:
                reader.add_shape(shape)
            for quote in quotes:
                reader.builder.add_quote(quote)
        # Shapes of a class have an example of the text that slides put there.
        others = [one for page in reader.masters for one in page if not get_attribute(one, "class")]
        texts = chain.from_iterable(map(reader.list_texts, others))
        reader.builder.leave_out_unknown(office.MASTERS, texts)
        return reader.build(path)


def _read_body(document: office.OpenDocument, reader: _Reader, kind: str) -> Iterator[Element]:
    """Yield the elements of the body; styles are read on the way."""
    common = document.find_tree("styles.xml")
    reader.styles.add(common)
    reader.masters += find_all(common, "master-page")
    content = document.read(office.CONTENT)
    reader.body = content[content.find(b"<office:body") :]
    for element in read_children(content, office.CONTENT, _ROOTS | {kind}):
        tag = get_local_tag(element.tag)
        if tag in {"automatic-styles", "styles"}:
            reader.styles.add(element)
        elif tag == "master-styles":
            reader.masters += find_all(element, "master-page")
        elif tag in _KINDS and tag != kind:
            raise build_refusal(f"it is {_KINDS[tag]}, not {_KINDS[kind]}")
        else:
            yield element


CellNote: TypeAlias = tuple[int, int, str]
"""A line that belongs to a cell: the row from 1, the column from 0, and the text."""

Formats: TypeAlias = Mapping[tuple[int, int], str]
"""The number formats of a sheet by row and column from 0."""

MAX_AREA = 10_000_000
"""The most cells between the first and the last of a sheet; the library keeps 32 bytes of each."""

MAX_COLUMNS = 256
"""The most columns of a row that are read."""


def _list_shapes(file: office.OpenDocument, element: Element) -> Iterator[str]:
    """Yield the comments, text boxes and charts within an element of a sheet."""
    for one in find_all(element, "annotation", "frame", "custom-shape"):
        charts = (file.find_object(get_attribute(it, "href")) for it in find_all(one, "object"))
        texts = (join_text(part) for it in (one, *charts) for part in find_all(it, "p"))
        text, author = " ".join(filter(None, texts)), find_child(one, "creator")
        if get_local_tag(one.tag) == "annotation":
            text = label_note(text, None if author is None else author.text)
        if text:
            yield text


def read_sheets(
    file: office.OpenDocument, unread: list[str]
) -> tuple[Mapping[str, Formats], Mapping[str, list[CellNote]]]:
    """Return how cells show values that are no text, and their notes; `unread` gets the rest."""
    found: defaultdict[str, dict[tuple[int, int], str]] = defaultdict(dict)
    notes: defaultdict[str, list[CellNote]] = defaultdict(list)
    name, row, column = "", 0, 0
    for kind, element in read_events(file.read(office.CONTENT), office.CONTENT):
        tag = get_local_tag(element.tag)
        if kind == "start":
            if tag == "table":
                name, row = get_attribute(element, "name"), 0
            column = 0 if tag == "table-row" else column
        elif tag in {"table-cell", "covered-table-cell"}:
            shown = join_text(find_child(element, "p"))
            if shown and get_attribute(element, "value-type") not in {"", "string"}:
                found[name][row, column] = shown
            notes[name] += ((row + 1, column, text) for text in _list_shapes(file, element))
            column += read_count(element, "number-columns-repeated", MAX_COLUMNS)
            element.clear()
        elif tag == "table-row":
            row += read_count(element, "number-rows-repeated", MAX_AREA)
            element.clear()
        elif tag == "shapes":
            notes[name] += ((1, 0, text) for text in _list_shapes(file, element))
        elif tag in {"help-message", "error-message"}:
            unread.append(join_text(element))
    pages = find_all(file.find_tree("styles.xml"), "master-page")
    unread += (join_text(part) for page in pages for part in find_all(page, "p"))
    unread += (one for sheet in found.values() for one in sheet.values())
    return found, notes
