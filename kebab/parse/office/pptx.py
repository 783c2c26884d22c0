"""Reads PowerPoint presentations (`.pptx`): each slide is a place, its title a heading."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from xml.etree.ElementTree import Element

from kebab.core.chunks import Place
from kebab.core.documents import ParsedDocument
from kebab.parse.office.ooxml import Package, is_file_link
from kebab.parse.office.ooxml_graphics import Graphic, read_chart, read_diagram
from kebab.parse.office.pptx_shapes import (
    Position,
    Shape,
    list_shapes,
    read_paragraphs,
    read_placeholder_positions,
    read_table,
)
from kebab.parse.office.slides import add_slide_heading, describe_hidden_slides
from kebab.parse.text_builder import TextBuilder
from kebab.parse.xml_events import get_attribute, get_local_tag, list_children

_FALSE = frozenset({"0", "false"})
_FOOTERS = frozenset({"ftr", "sldNum", "hdr"})
_TITLES = frozenset({"title", "ctrTitle"})
_LAYOUTS_KEPT = 64


class PptxParser:
    """Parses presentations; citations name their slides."""

    version = "pptx-v1"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document.

        Raises:
            ParseFailed: The file is damaged, encrypted, or no presentation.
        """
        package = Package(data, path, self.version, "presentation")
        return _DeckReader(package).read(path)


class _DeckReader:
    """Converts the slides of a presentation in the order in which they are shown."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._builder = TextBuilder()
        self._links: list[str] = []
        self._pictures = 0
        self._read_positions = lru_cache(_LAYOUTS_KEPT)(self._read_layout)

    def read(self, path: str) -> ParsedDocument:
        """Return the document."""
        parts = self._list_slides()
        hidden = []
        for number, part in enumerate(parts, 1):
            slide = self._package.find_tree(part)
            if slide is None:
                continue
            is_hidden = slide.get("show", "1") in _FALSE
            self._builder.begin_place(Place(0, number, of=len(parts)))
            self._add_slide(slide, part, number, hidden=is_hidden)
            if is_hidden:
                hidden.append(number)
        if not self._builder.length and self._pictures:
            raise self._package.archive.refuse("only images, no text")
        metadata = self._package.read_metadata()
        warnings = describe_hidden_slides(hidden)
        return self._builder.build(path, metadata, warnings=warnings, links=self._links)

    def _list_slides(self) -> Sequence[str]:
        """Return the names of the slides in their order."""
        relations = self._package.read_relations(self._package.main)
        root = self._package.find_tree(self._package.main)
        ids = [get_id(one) for one in _iterate(root) if get_local_tag(one.tag) == "sldId"]
        return [relations[one].target for one in ids if one in relations]

    def _add_slide(self, slide: Element, part: str, number: int, *, hidden: bool) -> None:
        relations = self._package.read_relations(part)
        layout = next((one.target for one in relations.values() if one.kind == "slideLayout"), "")
        shapes = list_shapes(slide, self._read_positions(layout))
        titles = [shape for shape in shapes if shape.role in _TITLES]
        title = " ".join(text for shape in titles for _, text in read_paragraphs(shape.element))
        others = [shape for shape in shapes if shape.role not in _TITLES and not _is_footer(shape)]
        add = [content for shape in others for content in self._read_shape(shape, part)]
        quotes = list(self._read_notes(part))
        add_slide_heading(self._builder, title, number, hidden=hidden, has_text=bool(add or quotes))
        for graphic in add:
            graphic.write(self._builder)
        for quote in quotes:
            self._builder.add_quote(quote)
        self._links += [
            one.target
            for one in relations.values()
            if one.kind == "hyperlink" and one.external and is_file_link(one.target)
        ]

    def _read_layout(self, part: str) -> dict[str, Position]:
        """Return where a layout places what the slide does not place itself."""
        root = self._package.find_tree(part) if part else None
        return {} if root is None else read_placeholder_positions(root)

    def _read_shape(self, shape: Shape, part: str) -> Iterator[Graphic]:
        """Yield the contents of a shape that have text."""
        if shape.tag == "pic":
            self._pictures += 1
        graphic = Graphic()
        if shape.tag == "graphicFrame":
            graphic = self._read_frame(shape.element, part)
        elif shape.tag == "sp":
            paragraphs = read_paragraphs(shape.element)
            if shape.is_list and len(paragraphs) > 1:
                graphic.items = paragraphs
            else:
                graphic.text = "\n".join(text for _, text in paragraphs)
        if shape.description:
            graphic.description = f"Picture: {shape.description}"
        if graphic:
            yield graphic

    def _read_frame(self, frame: Element, part: str) -> Graphic:
        """Return the contents of a table, a chart or a diagram."""
        for element in frame.iter():
            tag = get_local_tag(element.tag)
            if tag == "tbl":
                return Graphic(rows=read_table(element))
            if tag == "chart":
                return read_chart(self._find_target(part, get_id(element)))
            if tag == "relIds":
                return read_diagram(self._find_target(part, get_attribute(element, "dm")))
        return Graphic()

    def _find_target(self, part: str, relation: str) -> Element | None:
        found = self._package.read_relations(part).get(relation)
        return None if found is None or found.external else self._package.find_tree(found.target)

    def _read_notes(self, part: str) -> Iterator[str]:
        """Yield the notes of the speaker and the comments of a slide."""
        for relation in self._package.read_relations(part).values():
            if relation.kind == "notesSlide":
                notes = self._package.find_tree(relation.target)
                shapes = list_shapes(notes, {}) if notes is not None else []
                lines = [
                    text
                    for shape in shapes
                    if shape.role == "body"
                    for _, text in read_paragraphs(shape.element)
                ]
                if lines:
                    yield "\n".join([f"Notes: {lines[0]}", *lines[1:]])
            elif relation.kind == "comments":
                for comment in list_children(self._package.find_tree(relation.target)):
                    text = " ".join("".join(comment.itertext()).split())
                    if text:
                        yield f"Comment: {text}"


def _is_footer(shape: Shape) -> bool:
    """Return whether a shape is a footer, a number, or a date that the program fills in."""
    if shape.role == "dt":
        return any(get_local_tag(one.tag) == "fld" for one in shape.element.iter())
    return shape.role in _FOOTERS


def _iterate(root: Element | None) -> Iterator[Element]:
    return iter(()) if root is None else root.iter()


def get_id(element: Element) -> str:
    """Return the id of a relation, which has a namespace, other than the id of the element."""
    for key, value in element.items():
        if key.startswith("{") and get_local_tag(key) == "id":
            return value
    return ""
