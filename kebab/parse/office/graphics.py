"""Reads the charts, diagrams and text boxes in the files of Microsoft Office."""

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element

from kebab.errors.catalog import ParseFailed
from kebab.parse.archive import find_all, find_child, get_attribute, get_local_tag
from kebab.parse.formulas import END, SUBSCRIPT, SUPERSCRIPT, read_equation, write_scripts
from kebab.parse.office.ooxml import Graphic, Package

_MAX_POINTS = 200
"""The most rows of a chart; further ones repeat a sheet that is better read as one."""

_MAX_SERIES = 20
_DIGIT, _INDEX = re.compile("[0-9]"), re.compile("[0-9]{1,5}")
_FILE_NAMES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".emf", ".wmf", ".svg", ".tif", ".tiff")
_EMBEDDED_EQUATION = "Equation."
"""What the names of the programs begin with whose equations are objects with a picture."""


def read_description(properties: Element) -> str:
    """Return the line with the description of a picture; empty for none or a file name."""
    description = " ".join(properties.get("descr", "").split())
    is_text = description and not description.lower().endswith(_FILE_NAMES)
    return f"Picture: {description}" if is_text else ""


def is_old_equation(element: Element) -> bool:
    """Return whether an object is an equation of a program whose format is not read."""
    return get_attribute(element, "progId", get_attribute(element, "ProgID")).startswith(
        _EMBEDDED_EQUATION
    )


OLD_EQUATIONS = "equations of Equation Editor are not read: {}"
"""The warning about a number of old equations."""


def get_id(element: Element) -> str:
    """Return the id of a relation, which has a namespace, other than the id of the element."""
    for key, value in element.items():
        if key.startswith("{") and get_local_tag(key) == "id":
            return value
    return ""


def read_linked_graphic(package: Package, part: str, element: Element) -> Graphic:
    """Return the chart or the diagram that an element of a part shows."""
    for one in find_all(element, "chart", "relIds"):
        try:
            if get_local_tag(one.tag) == "chart":
                return read_chart(package.find_target(part, get_id(one)))
            return read_diagram(package.find_target(part, get_attribute(one, "dm")))
        except ParseFailed:
            return Graphic(description="A chart or a diagram is unreadable")
    return Graphic()


def read_chart(root: Element | None) -> Graphic:
    """Return the titles of a chart and its axes, and a table of its categories and series."""
    if root is None:
        return Graphic()
    titles = [join_paragraphs(title) for title in find_all(root, "title")]
    series = list(find_all(root, "ser"))[:_MAX_SERIES]
    names = [" ".join(_read_points(find_child(one, "tx")).values()) for one in series]
    values = [_read_points(_find_any(one, ("val", "yVal"))) for one in series]
    categories = [_read_points(_find_any(one, ("cat", "xVal"))) for one in series]
    labels = next((one for one in categories if one), {})
    indexes = sorted({index for one in (labels, *values) for index in one})[:_MAX_POINTS]
    rows = [[labels.get(at, ""), *(one.get(at, "") for one in values)] for at in indexes]
    text = f"Chart: {', '.join(filter(None, titles))}" if any(titles) else ""
    return Graphic(text=text, rows=[["", *names], *rows] if rows else [])


def _find_any(element: Element, tags: tuple[str, ...]) -> Element | None:
    return next((one for one in element if get_local_tag(one.tag) in tags), None)


def _read_points(element: Element | None) -> dict[int, str]:
    """Return the cached values of a series by index; a single value has the index 0."""
    values = {}
    for point in find_all(element, "pt", "tx"):
        value, index = find_child(point, "v"), point.get("idx", "0")
        if value is not None and value.text and _INDEX.fullmatch(index):
            values[int(index)] = value.text.strip()
    return values


def read_diagram(root: Element | None) -> Graphic:
    """Return the texts of a diagram as a list."""
    return Graphic(items=[(0, text) for text in map(join_paragraphs, find_all(root, "pt")) if text])


def join_paragraphs(element: Element, separator: str = " ") -> str:
    """Return the text of all paragraphs within an element."""
    return separator.join(text for _, text in read_paragraphs(element))


def read_paragraphs(element: Element) -> list[tuple[int, str]]:
    """Return the paragraphs with text within an element, each with its level from 0."""
    paragraphs = []
    for paragraph in find_all(element, "p"):
        text = write_scripts("".join(_list_texts(paragraph))).strip()
        properties = find_child(paragraph, "pPr")
        level = "" if properties is None else get_attribute(properties, "lvl")
        if text:
            paragraphs.append((int(level) if _DIGIT.fullmatch(level) else 0, text))
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
        elif tag == "oMath":
            yield read_equation(child)
        elif tag not in {"Fallback", "pPr", "rPr", "endParaRPr"}:
            properties = find_child(child, "rPr") if tag == "r" else None
            shift = "" if properties is None else properties.get("baseline", "0")
            if shift.strip("-0%"):
                yield SUBSCRIPT if shift.startswith("-") else SUPERSCRIPT
                yield from _list_texts(child)
                yield END
            else:
                yield from _list_texts(child)
