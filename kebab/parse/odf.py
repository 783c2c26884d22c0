"""Reads OpenDocument texts (`.odt`) and presentations (`.odp`), also those of one XML file.

In texts, notes and comments follow their paragraph, headers and footers stand at the end; deleted
text and indexes are left out. Each slide of a presentation is a place, and its title a heading.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from kebab.core.chunks import Place
from kebab.core.documents import ParsedDocument
from kebab.parse.archive import find_child, get_attribute, get_local_tag, read_children
from kebab.parse.blocks import TextBuilder
from kebab.parse.formulas import END, SUBSCRIPT, SUPERSCRIPT, read_equation, write_scripts
from kebab.parse.office import (
    NO_STYLE,
    OpenDocument,
    Style,
    add_slide_heading,
    describe_hidden_slides,
    format_number,
    is_file_link,
    is_page_number,
    read_properties,
    sort_in_lines,
)

BLANKS = re.compile(r"[ \t\r\n]+")
"""White space of the markup, which is one blank."""

_LEFT_OUT = frozenset({"ruby-text", "annotation-end", "tracked-changes", "page-thumbnail"})
_MAX_SPACES = 200
SHAPES = frozenset(
    {"frame", "custom-shape", "rect", "ellipse", "circle", "line", "connector", "path", "polygon"}
    | {"polyline", "regular-polygon", "caption", "g"}
)
"""The elements of a drawing that may hold text."""


@dataclass(slots=True)
class Inline:
    """The text of a paragraph, its notes, and the shapes that are anchored in it."""

    parts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    shapes: list[Element] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Return the text."""
        return write_scripts("".join(self.parts)).strip("\n").rstrip()


class InlineReader:
    """Reads paragraphs, and collects the links of the document."""

    def __init__(self, document: OpenDocument, styles: "OdfStyles") -> None:
        self.links: list[str] = []
        self._document, self._styles = document, styles

    def read_paragraph(self, element: Element) -> Inline:
        """Return the contents of a paragraph or a heading."""
        inline = Inline()
        self._collect(element, inline)
        return inline

    def _collect(self, element: Element, inline: Inline) -> None:
        inline.parts.append(BLANKS.sub(" ", element.text or ""))
        for child in element:
            tag = get_local_tag(child.tag)
            if tag == "s":
                inline.parts.append(" " * read_count(child, "c", _MAX_SPACES))
            elif tag == "tab":
                inline.parts.append("\t")
            elif tag == "line-break":
                inline.parts.append("\n")
            elif tag in {"note", "annotation"}:
                inline.notes += self.read_note(child, tag)
            elif tag in SHAPES:
                equation = self.read_equation(child) if tag == "frame" else ""
                if equation:
                    inline.parts.append(equation)
                else:
                    inline.shapes.append(child)
            elif tag not in _LEFT_OUT:
                style = get_attribute(child, "style-name") if tag == "span" else ""
                mark = self._styles.get_script_mark(style)
                inline.parts.append(mark)
                if tag == "a" and is_file_link(get_attribute(child, "href")):
                    self.links.append(get_attribute(child, "href"))
                self._collect(child, inline)
                inline.parts.append(END if mark else "")
            inline.parts.append(BLANKS.sub(" ", child.tail or ""))

    def read_equation(self, frame: Element) -> str:
        """Return the equation in a frame; empty for other contents."""
        found = find_child(frame, "object")
        if found is None:
            return ""
        root = next(iter(found), None)
        if root is None:
            root = self._document.find_object(get_attribute(found, "href"))
        is_equation = root is not None and get_local_tag(root.tag) == "math"
        return read_equation(root) if root is not None and is_equation else ""

    def read_note(self, element: Element, tag: str) -> Iterator[str]:
        """Yield a footnote, an endnote or a comment with its label, none without a text."""
        body = find_child(element, "note-body") if tag == "note" else element
        text = " ".join(self.list_texts(body))
        author = find_child(element, "creator")
        label = get_attribute(element, "note-class", "note").capitalize()
        if tag == "annotation":
            label = f"Comment by {author.text}" if author is not None else "Comment"
        if text.strip():
            yield f"{label}: {text.strip()}"

    def list_texts(self, element: Element | None) -> Iterator[str]:
        """Yield the texts of all paragraphs within an element."""
        for one in element.iter() if element is not None else ():
            if get_local_tag(one.tag) in {"p", "h"}:
                text = self.read_paragraph(one).text.strip()
                if text:
                    yield text


def read_count(element: Element, name: str, most: int) -> int:
    """Return a number from 1 to `most`; 1 without one."""
    text = get_attribute(element, name)
    if not text.isdecimal():
        return 1
    return most if len(text) > len(str(most)) else max(1, min(int(text), most))


def read_length(element: Element, name: str) -> float:
    """Return a length in centimetres; 0 without one."""
    match = re.fullmatch(r"(-?\d{1,6}(?:\.\d{1,9})?)(cm|mm|in|pt)?", get_attribute(element, name))
    if match is None:
        return 0.0
    return float(match[1]) * {"mm": 0.1, "in": 2.54, "pt": 2.54 / 72}.get(match[2] or "", 1.0)


_ESCAPED = re.compile(r"_([0-9a-f]{2})_")
_FORMS = {"a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
_MAX_BASES = 20


class OdfStyles:
    """The styles of paragraphs, lists and slides by name."""

    def __init__(self) -> None:
        self._parents: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._levels: dict[tuple[str, int], tuple[str, str]] = {}
        self._hidden: set[str] = set()
        self._scripts: dict[str, str] = {}

    def add(self, root: Element) -> None:
        """Add the styles within an element."""
        for element in root.iter():
            tag = get_local_tag(element.tag)
            if tag == "style":
                name = get_attribute(element, "name")
                self._parents[name] = get_attribute(element, "parent-style-name")
                self._names[name] = get_attribute(element, "display-name")
                if any(get_attribute(one, "visibility") == "hidden" for one in element):
                    self._hidden.add(name)
                for properties in element:
                    shift = get_attribute(properties, "text-position").partition(" ")[0]
                    if shift.strip("-0%"):
                        is_lower = shift.startswith(("sub", "-"))
                        self._scripts[name] = SUBSCRIPT if is_lower else SUPERSCRIPT
            elif tag == "list-style":
                for level in element:
                    depth = get_attribute(level, "level")
                    if get_local_tag(level.tag) == "list-level-style-number" and depth.isdecimal():
                        form = get_attribute(level, "num-format")
                        suffix = get_attribute(level, "num-suffix")
                        name = get_attribute(element, "name")
                        self._levels[name, int(depth) - 1] = form, suffix

    def get_style(self, name: str) -> Style:
        """Return what a style means, by the first of its bases that has a name of its own."""
        for _ in range(_MAX_BASES):
            if not name:
                break
            plain = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), name)
            style = Style(self._names.get(name) or plain)
            if style.is_title or style.is_code or style.is_quote:
                return style
            name = self._parents.get(name, "")
        return NO_STYLE

    def get_script_mark(self, name: str) -> str:
        """Return the begin of a raised or lowered text of a style, empty for another style."""
        for _ in range(_MAX_BASES):
            if not name or name in self._scripts:
                break
            name = self._parents.get(name, "")
        return self._scripts.get(name, "")

    def is_hidden(self, name: str) -> bool:
        """Return whether slides of a style are hidden."""
        return name in self._hidden

    def format_number(self, style: str, depth: int, number: int) -> str:
        """Return the number of an item of a list; empty for a bullet."""
        form, suffix = self._levels.get((style, depth), ("", ""))
        return f"{format_number(number, _FORMS.get(form, form))}{suffix or '.'}" if form else ""


_ROW_GROUPS = frozenset({"table-header-rows", "table-rows", "table-row-group"})
_MAX_REPEATED = 64
"""Further repetitions of a row or a cell in a text or a slide fill a page, and mean nothing."""


class TableReader:
    """Reads tables as rows of texts."""

    def __init__(
        self, inline: InlineReader, list_items: Callable[[Element, Inline], Iterator[str]]
    ) -> None:
        self._inline = inline
        self._list_items = list_items

    def read(self, table: Element, rest: Inline) -> list[list[str]]:
        """Return the rows of a table; a merged cell stands in each of its rows."""
        rows: list[list[str]] = []
        spans: dict[int, tuple[int, str]] = {}
        for row in list_rows(table):
            texts = list(self._read_row(row, spans, rest))
            times = read_count(row, "number-rows-repeated", _MAX_REPEATED) if any(texts) else 1
            rows += [texts] * times
        return rows

    def _read_row(
        self, row: Element, spans: dict[int, tuple[int, str]], rest: Inline
    ) -> Iterator[str]:
        """Yield the texts of a row; `spans` has the cells that reach down, by column."""
        column = 0
        for cell in row:
            tag = get_local_tag(cell.tag)
            if tag not in {"table-cell", "covered-table-cell"}:
                continue
            left, above = spans.pop(column, (0, ""))
            text = above if tag == "covered-table-cell" else self._read_cell(cell, rest)
            down = read_count(cell, "number-rows-spanned", _MAX_REPEATED) - 1
            left = left - 1 if tag == "covered-table-cell" else down
            if left > 0:
                spans[column] = (left, text)
            times = read_count(cell, "number-columns-repeated", _MAX_REPEATED) if text else 1
            column += times
            yield from [text] * times

    def _read_cell(self, cell: Element, rest: Inline) -> str:
        """Return the text of a cell; a table in it becomes `a, b; c, d`."""
        texts = []
        for child in cell:
            tag = get_local_tag(child.tag)
            if tag in {"p", "h"}:
                inline = self._inline.read_paragraph(child)
                texts.append(inline.text)
                rest.notes += inline.notes
                rest.shapes += inline.shapes
            elif tag == "list":
                texts += self._list_items(child, rest)
            elif tag == "table":
                rows = self.read(child, rest)
                texts.append("; ".join(", ".join(filter(None, row)) for row in rows))
        return "\n".join(filter(None, map(str.strip, texts)))


def list_rows(table: Element) -> Iterator[Element]:
    """Yield the rows of a table, also those in groups."""
    for child in table:
        tag = get_local_tag(child.tag)
        if tag == "table-row":
            yield child
        elif tag in _ROW_GROUPS:
            yield from list_rows(child)


_INDEXES = frozenset(
    {"table-of-content", "illustration-index", "table-index", "object-index", "user-index"}
    | {"alphabetical-index", "bibliography"}
)
_MAX_POINTS = 200


class OdfTextReader:
    """Adds the blocks of a text or of a shape to a document."""

    def __init__(self, builder: TextBuilder, document: OpenDocument) -> None:
        self.builder = builder
        self._document = document
        self.styles = OdfStyles()
        self.inline = InlineReader(document, self.styles)
        self._tables = TableReader(self.inline, self._list_texts)
        self.pictures = 0
        self.headers: list[Element] = []
        self.title = ""
        self._code: list[str] = []
        self._items: list[tuple[int, str]] = []
        self._rest = Inline()

    def add_block(self, element: Element) -> None:
        """Add a heading, a paragraph, a list, a table, or what is in a section or a shape."""
        tag = get_local_tag(element.tag)
        if tag == "p":
            self._add_paragraph(element)
        elif tag == "list":
            self._flush_code()
            texts = [one for one in element.iter() if get_local_tag(one.tag) in {"p", "h"}]
            if texts and all(get_local_tag(one.tag) == "h" for one in texts):
                for heading in texts:
                    self.add_block(heading)
            else:
                self._items += self._list_items(element, "", 0, self._rest)
        else:
            self.flush()
            if tag == "h":
                inline = self.inline.read_paragraph(element)
                self.builder.add_heading(read_count(element, "outline-level", 9), inline.text)
                self._add_rest(inline)
            elif tag == "table":
                self._add_table(element)
            elif tag in {"section", "text-box"}:
                for child in element:
                    self.add_block(child)
            elif tag in SHAPES:
                self.add_shape(element)

    def add_shape(self, shape: Element) -> None:
        """Add the texts of a shape, and the description of a picture."""
        for child in shape:
            tag = get_local_tag(child.tag)
            if tag == "image":
                self.pictures += 1
            elif tag == "object":
                self.builder.add_paragraph(self.inline.read_equation(shape))
                self._add_chart(self._document.find_object(get_attribute(child, "href")))
            elif tag == "desc" and (child.text or "").strip():
                self.builder.add_quote(f"Picture: {BLANKS.sub(' ', child.text or '').strip()}")
            else:
                self.add_block(child)
        self.flush()

    def add_headers(self) -> None:
        """Add the headers and footers of the pages, each text once."""
        texts = {}
        for one in self.headers:
            lines = self.inline.list_texts(one)
            texts[" ".join(line for line in lines if not is_page_number(line))] = one
        texts.pop("", None)
        for text, element in texts.items():
            self.builder.add_quote(f"{get_local_tag(element.tag).capitalize()}: {text}")

    def has_content(self, shape: Element) -> bool:
        """Return whether a shape has text or a chart."""
        tags = {get_local_tag(one.tag) for one in shape.iter()}
        return not tags.isdisjoint({"object", "desc"}) or any(self.inline.list_texts(shape))

    def _add_chart(self, root: Element | None) -> None:
        """Add the titles and the table of a chart."""
        for element in root.iter() if root is not None else ():
            tag = get_local_tag(element.tag)
            if tag == "title":
                self.builder.add_paragraph(f"Chart: {' '.join(self.inline.list_texts(element))}")
            elif tag == "table":
                self.builder.add_table(self._tables.read(element, Inline())[:_MAX_POINTS])

    def flush(self) -> None:
        """Add the lines of code and the items of a list that were read so far."""
        self._flush_code()
        self.builder.add_list(self._items)
        self._items.clear()
        rest, self._rest = self._rest, Inline()
        self._add_rest(rest)

    def _flush_code(self) -> None:
        self.builder.add_code("\n".join(self._code))
        self._code.clear()

    def _add_paragraph(self, element: Element) -> None:
        style = self.styles.get_style(get_attribute(element, "style-name"))
        inline = self.inline.read_paragraph(element)
        if style.is_code and inline.text:
            if self._items:
                self.flush()
            self._code.append(inline.text)
        else:
            self.flush()
            if style.is_title:
                self.title = self.title or inline.text.strip()
                self.builder.add_heading(1, inline.text)
            elif style.is_quote:
                self.builder.add_quote(inline.text)
            else:
                self.builder.add_paragraph(inline.text.strip())
        self._add_rest(inline)

    def _add_rest(self, inline: Inline) -> None:
        """Add the notes and the shapes of a paragraph behind it."""
        for note in inline.notes:
            self.flush()
            self.builder.add_quote(note)
        for shape in inline.shapes:
            self.flush()
            self.add_shape(shape)

    def _list_texts(self, element: Element, rest: Inline) -> Iterator[str]:
        return (text for _, text in self._list_items(element, "", 0, rest))

    def _list_items(
        self, element: Element, style: str, depth: int, rest: Inline
    ) -> Iterator[tuple[int, str]]:
        style = get_attribute(element, "style-name") or style
        number = 0
        for item in element:
            tag = get_local_tag(item.tag)
            if tag not in {"list-item", "list-header"}:
                continue
            texts = []
            lists = []
            for child in item:
                if get_local_tag(child.tag) == "list":
                    lists.append(child)
                elif get_local_tag(child.tag) in {"p", "h"}:
                    inline = self.inline.read_paragraph(child)
                    texts.append(inline.text)
                    rest.notes += inline.notes
                    rest.shapes += inline.shapes
            text = " ".join(filter(None, map(str.strip, texts)))
            if text:
                number += tag == "list-item"
                label = self.styles.format_number(style, depth, number)
                yield depth, f"{label} {text}" if label else text
            for child in lists:
                yield from self._list_items(child, style, depth + 1, rest)

    def _add_table(self, table: Element) -> None:
        rest = Inline()
        rows = self._tables.read(table, rest)
        if all(len(row) <= 1 for row in rows):
            for row in list_rows(table):
                for cell in row:
                    for child in cell:
                        self.add_block(child)
            return
        self.builder.add_table(rows)
        self._add_rest(rest)


_KINDS = {
    "text": "a text",
    "presentation": "a presentation",
    "spreadsheet": "a spreadsheet",
    "drawing": "a drawing",
}
_ROOTS = frozenset({"document-content", "document", "body"})
_STYLES = frozenset({"automatic-styles", "styles"})
_FOOTERS = frozenset({"date-time", "footer", "header", "page-number", "page", "handout"})
_LINE_CM = 1.0
"""Shapes whose tops differ by less stand side by side."""


class OdtParser:
    """Parses OpenDocument texts; citations name their sections."""

    version = "odt-v2"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document.

        Raises:
            ParseFailed: The file is damaged, encrypted, or no OpenDocument text.
        """
        document = OpenDocument(data, path, self.version)
        reader = OdfTextReader(TextBuilder(), document)
        for element in _read_body(document, reader, "text"):
            if get_local_tag(element.tag) not in _INDEXES:
                reader.add_block(element)
        reader.flush()
        reader.add_headers()
        return _build(document, reader, path)


class OdpParser:
    """Parses OpenDocument presentations; citations name their slides."""

    version = "odp-v2"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document.

        Raises:
            ParseFailed: The file is damaged, encrypted, or no OpenDocument presentation.
        """
        document = OpenDocument(data, path, self.version)
        reader = OdfTextReader(TextBuilder(), document)
        hidden = []
        number = 0
        for element in _read_body(document, reader, "presentation"):
            if get_local_tag(element.tag) == "page":
                number += 1
                is_hidden = reader.styles.is_hidden(get_attribute(element, "style-name"))
                reader.builder.begin_place(Place(0, number))
                _add_slide(reader, element, number, hidden=is_hidden)
                hidden += [number] if is_hidden else []
        return _build(document, reader, path, describe_hidden_slides(hidden))


def _read_body(document: OpenDocument, reader: OdfTextReader, kind: str) -> Iterator[Element]:
    """Yield the elements of the body; styles and properties are read on the way."""
    for root in document.list_style_roots():
        reader.styles.add(root)
        reader.headers += find_headers(root)
    containers = _ROOTS | {kind}
    content, name = document.read_content(), document.content_name
    for element in read_children(content, name, document.refuse, containers):
        tag = get_local_tag(element.tag)
        if tag in _STYLES:
            reader.styles.add(element)
        elif tag == "master-styles":
            reader.headers += find_headers(element)
        elif tag == "meta":
            document.metadata = read_properties(element)
        elif tag in _KINDS and tag != kind:
            raise document.refuse(f"it is {_KINDS[tag]}, not {_KINDS[kind]}")
        else:
            yield element


def find_headers(root: Element) -> Iterator[Element]:
    """Yield the headers and footers of the master pages within an element."""
    for page in root.iter():
        if get_local_tag(page.tag) == "master-page":
            yield from (one for one in page if get_local_tag(one.tag) in {"header", "footer"})


def _build(
    document: OpenDocument, reader: OdfTextReader, path: str, warnings: list[str] | None = None
) -> ParsedDocument:
    if not reader.builder.length and reader.pictures:
        raise document.refuse("only images, no text")
    metadata = document.metadata
    if reader.title:
        metadata = metadata._replace(title=reader.title)
    return reader.builder.build(path, metadata, warnings=warnings or (), links=reader.inline.links)


def _add_slide(reader: OdfTextReader, page: Element, number: int, *, hidden: bool) -> None:
    shapes = [one for one in page if get_local_tag(one.tag) in SHAPES]
    titles = [one for one in shapes if get_attribute(one, "class") == "title"]
    others = [one for one in shapes if get_attribute(one, "class") not in _FOOTERS | {"title"}]
    title = " ".join(text for one in titles for text in reader.inline.list_texts(one))
    comments = [one for one in page if get_local_tag(one.tag) == "annotation"]
    notes = [
        text
        for one in page
        if get_local_tag(one.tag) == "notes"
        for frame in one
        if get_attribute(frame, "class") == "notes"
        for text in reader.inline.list_texts(frame)
    ]
    has_text = bool(notes or comments) or any(reader.has_content(one) for one in others)
    add_slide_heading(reader.builder, title, number, hidden=hidden, has_text=has_text)
    for shape in sort_in_lines([(*_find_corner(one), one) for one in others], _LINE_CM):
        reader.add_shape(shape)
    if notes:
        reader.builder.add_quote("Notes: " + "\n".join(notes))
    for one in comments:
        for text in reader.inline.read_note(one, "annotation"):
            reader.builder.add_quote(text)


def _find_corner(shape: Element) -> tuple[float, float]:
    """Return the top and the left of a shape; a group stands where its first shape stands."""
    for one in shape.iter():
        if get_attribute(one, "y"):
            return read_length(one, "y"), read_length(one, "x")
    return 0.0, 0.0
