"""Reads OpenDocument texts (`.odt`) and presentations (`.odp`), also those of one XML file.

In texts, notes and comments follow their paragraph; deleted text, headers, footers and indexes
are left out. Each slide of a presentation is a place, and its title a heading.
"""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from kebab.core.chunks import Place
from kebab.core.documents import ParsedDocument
from kebab.parse.office.odf_inline import SHAPES, read_length
from kebab.parse.office.odf_text import OdfTextReader, is_index
from kebab.parse.office.open_document import OpenDocument, read_properties
from kebab.parse.office.slides import add_slide_heading, describe_hidden_slides
from kebab.parse.text_builder import TextBuilder
from kebab.parse.xml_events import get_attribute, get_local_tag, read_children

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

    version = "odt-v1"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document.

        Raises:
            ParseFailed: The file is damaged, encrypted, or no OpenDocument text.
        """
        document = OpenDocument(data, path, self.version)
        reader = OdfTextReader(TextBuilder(), document)
        for element in _read_body(document, reader, "text"):
            if not is_index(element):
                reader.add_block(element)
        reader.flush()
        return _build(document, reader, path)


class OdpParser:
    """Parses OpenDocument presentations; citations name their slides."""

    version = "odp-v1"

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
    containers = _ROOTS | {kind}
    content, name = document.read_content(), document.content_name
    for element in read_children(content, name, document.refuse, containers):
        tag = get_local_tag(element.tag)
        if tag in _STYLES:
            reader.styles.add(element)
        elif tag == "meta":
            document.metadata = read_properties(element)
        elif tag in _KINDS and tag != kind:
            raise document.refuse(f"it is {_KINDS[tag]}, not {_KINDS[kind]}")
        else:
            yield element


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
    notes = [
        text
        for one in page
        if get_local_tag(one.tag) == "notes"
        for text in _list_notes(reader, one)
    ]
    has_text = bool(notes) or any(reader.has_content(one) for one in others)
    add_slide_heading(reader.builder, title, number, hidden=hidden, has_text=has_text)
    for shape in _sort_shapes(others):
        reader.add_shape(shape)
    if notes:
        reader.builder.add_quote("\n".join([f"Notes: {notes[0]}", *notes[1:]]))


def _list_notes(reader: OdfTextReader, notes: Element) -> Iterator[str]:
    for frame in notes:
        if get_attribute(frame, "class") == "notes":
            yield from reader.inline.list_texts(frame)


def _sort_shapes(shapes: list[Element]) -> list[Element]:
    """Return shapes from top to bottom, and from left to right where they stand side by side."""
    lines: list[list[tuple[float, Element]]] = []
    top = 0.0
    placed = [(*_find_corner(shape), shape) for shape in shapes]
    for y, x, shape in sorted(placed, key=lambda one: one[0]):
        if not lines or y - top >= _LINE_CM:
            lines.append([])
            top = y
        lines[-1].append((x, shape))
    return [shape for line in lines for _, shape in sorted(line, key=lambda one: one[0])]


def _find_corner(shape: Element) -> tuple[float, float]:
    """Return the top and the left of a shape; a group stands where its first shape stands."""
    for one in shape.iter():
        if get_attribute(one, "y"):
            return read_length(one, "y"), read_length(one, "x")
    return 0.0, 0.0
