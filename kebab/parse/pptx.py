"""Reads PowerPoint presentations (`.pptx`): each slide is a place, its title a heading."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple
from xml.etree.ElementTree import Element

from kebab.core.chunks import Place
from kebab.core.documents import ParsedDocument
from kebab.parse.archive import find_child, get_local_tag, list_children
from kebab.parse.blocks import TextBuilder
from kebab.parse.graphics import (
    OLD_EQUATIONS,
    Graphic,
    get_id,
    is_old_equation,
    read_description,
    read_linked_graphic,
    read_paragraphs,
)
from kebab.parse.office import (
    Package,
    add_slide_heading,
    choose_alternative,
    describe_hidden_slides,
    is_file_link,
    sort_in_lines,
)

_SHAPES = frozenset({"sp", "pic", "graphicFrame"})
_LISTS = frozenset({"body", "obj", ""})
_BULLETS = frozenset({"buChar", "buAutoNum"})
_LINE_EMU = 350_000
"""Shapes whose tops differ by less than about a centimetre stand side by side."""


class Position(NamedTuple):
    """The top left corner of a shape, in EMU."""

    top: int
    left: int


class Shape(NamedTuple):
    """A shape with its part in the layout as `role`, empty for a text box."""

    element: Element
    tag: str
    role: str = ""
    is_list: bool = False
    description: str = ""


def list_shapes(slide: Element, layout: Mapping[str, Position]) -> list[Shape]:
    """Return the shapes of a slide from top to bottom and from left to right.

    A shape without a position of its own stands where the layout places it.
    """
    tree = next((one for one in slide.iter() if get_local_tag(one.tag) == "spTree"), None)
    return [] if tree is None else list(_sort_shapes(tree, layout))


def _sort_shapes(group: Element, layout: Mapping[str, Position]) -> Iterator[Shape]:
    placed: list[tuple[float, float, Element]] = []
    last = Position(0, 0)
    for element in _list_members(group):
        # What has no place stands behind the shape before it.
        placeholder = _find_placeholder(element)
        slot = "" if placeholder is None else _name_slot(placeholder)
        last = _read_position(element) or layout.get(slot) or last
        placed.append((*last, element))
    for element in sort_in_lines(placed, _LINE_EMU):
        tag = get_local_tag(element.tag)
        if tag == "grpSp":
            yield from _sort_shapes(element, layout)
        elif tag in _SHAPES:
            yield _build_shape(element, tag)


def _list_members(group: Element) -> Iterator[Element]:
    """Yield the shapes of a group; of alternatives the first one."""
    for child in group:
        if get_local_tag(child.tag) == "AlternateContent":
            yield from choose_alternative(child)
        else:
            yield child


def _build_shape(element: Element, tag: str) -> Shape:
    placeholder = _find_placeholder(element)
    properties = next((one for one in element.iter() if get_local_tag(one.tag) == "cNvPr"), element)
    description = read_description(properties)
    if placeholder is None:
        bullets = any(get_local_tag(one.tag) in _BULLETS for one in element.iter())
        return Shape(element, tag, "", bullets, description)
    role = placeholder.get("type", "")
    return Shape(element, tag, role, role in _LISTS, description)


def _find_placeholder(element: Element) -> Element | None:
    properties = next((one for one in element if get_local_tag(one.tag).startswith("nv")), None)
    return find_child(find_child(properties, "nvPr"), "ph")


def _name_slot(placeholder: Element) -> str:
    role = placeholder.get("type", "")
    return placeholder.get("idx") or {"ctrTitle": "title"}.get(role, role)


def _read_position(element: Element) -> Position | None:
    """Return the own position of a shape, a frame or a group."""
    for child in element:
        tag = get_local_tag(child.tag)
        frame = (
            child if tag == "xfrm" else find_child(child, "xfrm") if tag.endswith("pPr") else None
        )
        offset = find_child(frame, "off")
        if offset is not None:
            return Position(_to_int(offset.get("y", "")), _to_int(offset.get("x", "")))
    return None


def _to_int(text: str) -> int:
    return int(text) if text.lstrip("-").isdecimal() and len(text) < 12 else 0  # noqa: PLR2004 - a larger one is an error


def read_placeholder_positions(layout: Element) -> dict[str, Position]:
    """Return the positions of the slots of a layout."""
    positions = {}
    for element in layout.iter():
        if get_local_tag(element.tag) in _SHAPES:
            placeholder, position = _find_placeholder(element), _read_position(element)
            if placeholder is not None and position is not None:
                positions[_name_slot(placeholder)] = position
    return positions


def read_table(table: Element) -> list[list[str]]:
    """Return the rows of a table; a merged cell stands in each of its rows."""
    rows: list[list[str]] = []
    for row in table:
        if get_local_tag(row.tag) != "tr":
            continue
        above = rows[-1] if rows else []
        cells = [cell for cell in row if get_local_tag(cell.tag) == "tc"]
        texts = []
        for column, cell in enumerate(cells):
            repeated = cell.get("vMerge") in {"1", "true"} and column < len(above)
            lines = (text for _, text in read_paragraphs(cell))
            texts.append(above[column] if repeated else "\n".join(lines))
        rows.append(texts)
    return rows


_FALSE = frozenset({"0", "false"})
_FOOTERS = frozenset({"ftr", "sldNum", "hdr"})
_TITLES = frozenset({"title", "ctrTitle"})
_LAYOUTS_KEPT = 64


class PptxParser:
    """Parses presentations; citations name their slides."""

    version = "pptx-v2"

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
        self._old_equations = 0
        self._footers: set[str] = set()
        self._authors: dict[str, str] = {}
        self._read_positions = lru_cache(_LAYOUTS_KEPT)(self._read_layout)

    def read(self, path: str) -> ParsedDocument:
        """Return the document."""
        relations = self._package.read_relations(self._package.main)
        root = self._package.find_tree(self._package.main)
        ids = [
            get_id(one)
            for one in (iter(()) if root is None else root.iter())
            if get_local_tag(one.tag) == "sldId"
        ]
        parts = [relations[one].target for one in ids if one in relations]
        for relation in relations.values():
            if relation.kind in {"commentAuthors", "authors"}:
                for author in list_children(self._package.find_tree(relation.target)):
                    self._authors[author.get("id", "")] = author.get("name", "")
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
        if self._old_equations:
            warnings.append(OLD_EQUATIONS.format(self._old_equations))
        return self._builder.build(path, metadata, warnings=warnings, links=self._links)

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
        for shape in shapes:
            lines = [text for _, text in read_paragraphs(shape.element)]
            footer = " ".join(lines) if shape.role in {"ftr", "hdr"} else ""
            if footer and footer not in self._footers:
                self._footers.add(footer)
                self._builder.add_quote(f"Footer: {footer}")
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
            elements = {get_local_tag(one.tag): one for one in shape.element.iter()}
            if "tbl" in elements:
                graphic = Graphic(rows=read_table(elements["tbl"]))
            else:
                graphic = read_linked_graphic(self._package, part, shape.element)
            if "oleObj" in elements:
                self._old_equations += is_old_equation(elements["oleObj"])
        elif shape.tag == "sp":
            paragraphs = read_paragraphs(shape.element)
            if shape.is_list and len(paragraphs) > 1:
                graphic.items = paragraphs
            else:
                graphic.text = "\n".join(text for _, text in paragraphs)
        graphic.description = shape.description
        if graphic:
            yield graphic

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
                    yield "Notes: " + "\n".join(lines)
            elif relation.kind == "comments":
                for comment in list_children(self._package.find_tree(relation.target)):
                    text = " ".join("".join(comment.itertext()).split())
                    author = self._authors.get(comment.get("authorId", ""))
                    if text:
                        yield f"Comment by {author}: {text}" if author else f"Comment: {text}"


def _is_footer(shape: Shape) -> bool:
    """Return whether a shape is a footer, a number, or a date that the program fills in."""
    if shape.role == "dt":
        return any(get_local_tag(one.tag) == "fld" for one in shape.element.iter())
    return shape.role in _FOOTERS
