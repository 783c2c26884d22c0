"""Reads PowerPoint presentations (`.pptx`): each slide is a place, its title a heading."""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from operator import itemgetter
from typing import NamedTuple
from xml.etree.ElementTree import Element

from kebab.core.chunks import Place
from kebab.core.documents import ParsedDocument
from kebab.parse.archive import find_all, get_local_tag, list_children
from kebab.parse.blocks import TextBuilder, label_note
from kebab.parse.office import ooxml as office

_LISTS = frozenset({"body", "obj", ""})
_LINE_EMU = 350_000
"""Shapes whose tops differ by less than about a centimetre stand side by side."""


class Shape(NamedTuple):
    """A shape with its part in the layout as `role`, empty for a text box."""

    element: Element
    tag: str
    role: str = ""
    is_list: bool = False
    description: str = ""


def list_shapes(root: Element | None) -> Iterator[Shape]:
    """Yield the shapes of a slide or a group from top to bottom and from left to right.

    A shape without a position of its own, which the layout places, stands behind the one before.
    """
    placed: list[tuple[int, int, Element]] = []
    last = (0, 0)
    for child in next(find_all(root, "spTree", "grpSp"), ()):
        is_choice = get_local_tag(child.tag) == "AlternateContent"
        for element in office.choose_alternative(child) if is_choice else (child,):
            for offset in islice(find_all(element, "off"), 1):  # in EMU
                last = _to_int(offset.get("y", "")), _to_int(offset.get("x", ""))
            placed.append((*last, element))
    lines: list[list[tuple[int, Element]]] = []
    begin = 0
    for top, left, shape in sorted(placed, key=itemgetter(0)):
        if not lines or top - begin >= _LINE_EMU:
            lines.append([])
            begin = top
        lines[-1].append((left, shape))
    for element in (shape for line in lines for _, shape in sorted(line, key=itemgetter(0))):
        tag = get_local_tag(element.tag)
        if tag == "grpSp":
            yield from list_shapes(element)
        elif tag in {"sp", "pic", "graphicFrame", "cxnSp"}:
            placeholder = next(find_all(element, "ph"), None)
            properties = next(find_all(element, "cNvPr"), element)
            role = "" if placeholder is None else placeholder.get("type", "")
            has_bullets = next(find_all(element, "buChar", "buAutoNum"), None) is not None
            is_list = has_bullets if placeholder is None else role in _LISTS
            yield Shape(element, tag, role, is_list, office.read_description(properties))


def _to_int(text: str) -> int:
    return int(text) if text.lstrip("-").isdecimal() and len(text) < 12 else 0  # noqa: PLR2004 - a larger one is an error


def read_table(table: Element) -> list[list[str]]:
    """Return the rows of a table; a merged cell stands in each of its rows."""
    rows: list[list[str]] = []
    above: list[str] = []
    for row in list_children(table, "tr"):
        texts = []
        for column, cell in enumerate(list_children(row, "tc")):
            repeated = cell.get("vMerge") in {"1", "true"} and column < len(above)
            texts.append(above[column] if repeated else office.join_paragraphs(cell, "\n"))
        rows.append(texts)
        above = texts
    return rows


_TITLES = frozenset({"title", "ctrTitle"})
_LAYOUT = re.compile(r"ppt/slide(?:Layout|Master)s/[^/]+\.xml")
_NO_NOTES = frozenset({"sldImg", "sldNum", "hdr", "ftr", "dt"})
"""What a page of notes shows of its slide and of the deck."""


class PptxParser:
    """Parses presentations; citations name their slides."""

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document."""
        package = office.Package(data, "presentation")
        return _DeckReader(package).read(path)


class _DeckReader:
    """Converts the slides of a presentation in the order in which they are shown."""

    def __init__(self, package: office.Package) -> None:
        self._package = package
        self._builder = TextBuilder()
        self._links: list[str] = []
        self._addresses: list[str] = []
        self._unread: list[str] = []
        self._footers: set[str] = set()
        self._authors: dict[str, str] = {}

    def read(self, path: str) -> ParsedDocument:
        """Return the document."""
        package = self._package
        relations = package.read_relations(package.main)
        ids = map(office.get_id, find_all(package.find_tree(package.main), "sldId"))
        parts = [relations[one].target for one in ids if one in relations]
        for relation in relations.values():
            if relation.kind in {"commentAuthors", "authors"}:
                for author in list_children(package.find_tree(relation.target)):
                    self._authors[author.get("id", "")] = author.get("name", "")
        for number, part in enumerate(parts, 1):
            slide = package.find_tree(part)
            if slide is not None:
                self._builder.begin_place(Place(0, number, of=len(parts)))
                self._add_slide(slide, part, number)
        for root in map(package.find_tree, filter(_LAYOUT.fullmatch, package.names)):
            for shape in list_shapes(root):
                if next(find_all(shape.element, "ph"), None) is None:  # else it asks for a text
                    texts = find_all(shape.element, "t")
                    self._unread += (shape.description, *(one.text or "" for one in texts))
        self._builder.leave_out_unknown(office.MASTERS, self._unread)
        self._builder.leave_out_unknown(office.ADDRESSES, self._addresses)
        return self._builder.build(path, package.read_metadata(), links=self._links)

    def _add_slide(self, slide: Element, part: str, number: int) -> None:
        relations = self._package.read_relations(part).values()
        shapes = list(list_shapes(slide))
        titles = (office.join_paragraphs(one.element) for one in shapes if one.role in _TITLES)
        graphics = [
            graphic
            for shape in shapes
            if shape.role not in _TITLES and not _is_footer(shape)
            if (graphic := self._read_shape(shape, part))
        ]
        graphics += [
            office.Graphic(description=note) for note in self._list_notes(relations) if note
        ]
        title = " ".join(filter(None, titles))
        office.add_slide_heading(self._builder, title, number, has_text=bool(graphics))
        for graphic in graphics:
            graphic.write(self._builder)
        for shape in shapes:
            footer = office.join_paragraphs(shape.element) if shape.role in {"ftr", "hdr"} else ""
            if footer and footer not in self._footers:
                self._footers.add(footer)
                self._builder.add_quote(f"Footer: {footer}")
        self._addresses += self._package.list_addresses(part, self._builder)
        links = (one.target for one in relations if one.kind == "hyperlink" and one.external)
        self._links += filter(office.is_file_link, links)

    def _read_shape(self, shape: Shape, part: str) -> office.Graphic:
        graphic = office.Graphic()
        if shape.tag == "graphicFrame":
            elements = {get_local_tag(one.tag): one for one in shape.element.iter()}
            if "tbl" in elements:
                graphic.rows = read_table(elements["tbl"])
            else:
                graphic = office.read_linked_graphic(self._package, part, shape.element)
        else:
            paragraphs = office.read_paragraphs(shape.element)
            if shape.is_list and len(paragraphs) > 1:
                graphic.items = paragraphs
            else:
                graphic.text = "\n".join(text for _, text in paragraphs)
        graphic.description = shape.description
        return graphic

    def _list_notes(self, relations: Iterable[office.Relation]) -> Iterator[str]:
        """Yield the notes of the speaker and the comments of a slide, which may be empty."""
        for relation in relations:
            if relation.kind == "notesSlide":
                bodies: list[str] = []
                for shape in list_shapes(self._package.find_tree(relation.target)):
                    text = office.join_paragraphs(shape.element, "\n")
                    (self._unread if shape.role in _NO_NOTES else bodies).append(text)
                text = "\n".join(filter(None, bodies))
                yield f"Notes: {text}" if text else ""
            elif relation.kind == "comments":
                for comment in list_children(self._package.find_tree(relation.target)):
                    text = " ".join("".join(comment.itertext()).split())
                    yield label_note(text, self._authors.get(comment.get("authorId", "")))


def _is_footer(shape: Shape) -> bool:
    """Return whether a shape is a footer, a number, or a date that the program fills in."""
    if shape.role == "dt":
        return any(True for _ in find_all(shape.element, "fld"))
    return shape.role in {"ftr", "sldNum", "hdr"}
