"""Reads the shapes of slides in reading order: their paragraphs and tables."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element

from kebab.parse.xml_events import find_child, get_attribute, get_local_tag, list_children

_SHAPES = frozenset({"sp", "pic", "graphicFrame"})
_LISTS = frozenset({"body", "obj", ""})
_BULLETS = frozenset({"buChar", "buAutoNum"})
_MAX_LEVEL = 9
_LINE_EMU = 350_000
"""Shapes whose tops differ by less than about a centimetre stand side by side."""

_FILE_NAMES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".emf", ".wmf", ".svg", ".tif", ".tiff")


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
    placed: list[tuple[Position, int, Element]] = []
    last = Position(0, 0)
    for index, element in enumerate(_list_members(group)):
        # What has no place stands behind the shape before it.
        last = _read_position(element) or layout.get(_get_slot(element)) or last
        placed.append((last, index, element))
    for element in _order_lines(placed):
        tag = get_local_tag(element.tag)
        if tag == "grpSp":
            yield from _sort_shapes(element, layout)
        elif tag in _SHAPES:
            yield _build_shape(element, tag)


def _order_lines(placed: Sequence[tuple[Position, int, Element]]) -> Iterator[Element]:
    """Yield the shapes line by line; a line is what begins at nearly the same height."""
    line: list[tuple[Position, int, Element]] = []
    for one in sorted(placed, key=lambda one: (one[0].top, one[1])):
        if line and one[0].top - line[0][0].top >= _LINE_EMU:
            yield from _order_columns(line)
            line = []
        line.append(one)
    yield from _order_columns(line)


def _order_columns(line: Sequence[tuple[Position, int, Element]]) -> Iterator[Element]:
    return (one[2] for one in sorted(line, key=lambda one: (one[0].left, one[1])))


def _list_members(group: Element) -> Iterator[Element]:
    """Yield the shapes of a group; of alternatives the first one."""
    for child in group:
        if get_local_tag(child.tag) == "AlternateContent":
            yield from list_children(find_child(child, "Choice"))
        else:
            yield child


def _build_shape(element: Element, tag: str) -> Shape:
    placeholder = _find_placeholder(element)
    properties = next((one for one in element.iter() if get_local_tag(one.tag) == "cNvPr"), element)
    description = " ".join(properties.get("descr", "").split())
    if description.lower().endswith(_FILE_NAMES):
        description = ""
    if placeholder is None:
        bullets = any(get_local_tag(one.tag) in _BULLETS for one in element.iter())
        return Shape(element, tag, "", bullets, description)
    role = placeholder.get("type", "")
    return Shape(element, tag, role, role in _LISTS, description)


def _find_placeholder(element: Element) -> Element | None:
    properties = next((one for one in element if get_local_tag(one.tag).startswith("nv")), None)
    return find_child(find_child(properties, "nvPr"), "ph")


def _get_slot(element: Element) -> str:
    """Return the slot of the layout that a shape fills."""
    placeholder = _find_placeholder(element)
    return "" if placeholder is None else _name_slot(placeholder)


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


def read_paragraphs(element: Element) -> list[tuple[int, str]]:
    """Return the paragraphs with text within an element, each with its level from 0."""
    paragraphs = []
    for paragraph in element.iter():
        if get_local_tag(paragraph.tag) == "p":
            text = "".join(_list_texts(paragraph)).strip()
            properties = find_child(paragraph, "pPr")
            level = 0 if properties is None else _to_int(get_attribute(properties, "lvl"))
            if text:
                paragraphs.append((min(level, _MAX_LEVEL), text))
    return paragraphs


def _list_texts(element: Element) -> Iterator[str]:
    for child in element:
        tag = get_local_tag(child.tag)
        if tag == "t":
            yield child.text or ""
        elif tag == "br":
            yield "\n"
        elif tag == "tab":
            yield "\t"
        elif tag not in {"Fallback", "pPr", "rPr", "endParaRPr"}:
            yield from _list_texts(child)


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
            texts.append(above[column] if repeated else _read_cell(cell))
        rows.append(texts)
    return rows


def _read_cell(cell: Element) -> str:
    return "\n".join(text for _, text in read_paragraphs(cell))
