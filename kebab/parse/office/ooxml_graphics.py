"""Reads the texts and figures of charts, and the texts of diagrams, in office files."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from kebab.parse.text_builder import TextBuilder
from kebab.parse.xml_events import find_child, get_local_tag

_MAX_POINTS = 200
"""The most rows of a chart; further ones repeat a sheet that is better read as one."""

_MAX_SERIES = 20
_INDEX = re.compile(r"[0-9]{1,5}")


@dataclass(slots=True)
class Graphic:
    """The contents of a shape: a text, a list, or a table, and the description of a picture."""

    text: str = ""
    items: list[tuple[int, str]] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    description: str = ""

    def __bool__(self) -> bool:
        """Return whether there is text."""
        return bool(self.text or self.items or self.description or any(map(any, self.rows)))

    def write(self, builder: TextBuilder) -> None:
        """Add the contents to a document."""
        builder.add_paragraph(self.text)
        builder.add_list(self.items)
        builder.add_table(self.rows)
        builder.add_quote(self.description)


def read_chart(root: Element | None) -> Graphic:
    """Return the title of a chart, and a table of its categories and series."""
    if root is None:
        return Graphic()
    titles = [
        " ".join(filter(None, (one.text for one in title.iter() if get_local_tag(one.tag) == "t")))
        for title in root.iter()
        if get_local_tag(title.tag) == "title"
    ]
    series = [one for one in root.iter() if get_local_tag(one.tag) == "ser"][:_MAX_SERIES]
    names = [" ".join(_read_points(find_child(one, "tx")).values()) for one in series]
    values = [_read_points(_find_any(one, ("val", "yVal"))) for one in series]
    categories = [_read_points(_find_any(one, ("cat", "xVal"))) for one in series]
    labels = next((one for one in categories if one), {})
    indexes = sorted({index for one in (labels, *values) for index in one})[:_MAX_POINTS]
    rows = [[labels.get(at, ""), *(one.get(at, "") for one in values)] for at in indexes]
    text = f"Chart: {', '.join(filter(str.strip, titles))}" if any(titles) else ""
    return Graphic(text=text, rows=[["", *names], *rows] if rows else [])


def _find_any(element: Element, tags: tuple[str, ...]) -> Element | None:
    return next((one for one in element if get_local_tag(one.tag) in tags), None)


def _read_points(element: Element | None) -> dict[int, str]:
    """Return the cached values of a series by index; a single value has the index 0."""
    return dict(_list_values(element))


def _list_values(element: Element | None) -> Iterator[tuple[int, str]]:
    for point in element.iter() if element is not None else ():
        tag = get_local_tag(point.tag)
        value = find_child(point, "v") if tag in {"pt", "tx"} else None
        index = point.get("idx", "0")
        if value is not None and value.text and _INDEX.fullmatch(index):
            yield int(index), value.text.strip()


def read_diagram(root: Element | None) -> Graphic:
    """Return the texts of a diagram as a list."""
    items = []
    for point in root.iter() if root is not None else ():
        if get_local_tag(point.tag) == "pt":
            texts = (one.text or "" for one in point.iter() if get_local_tag(one.tag) == "t")
            text = " ".join("".join(texts).split())
            if text:
                items.append((0, text))
    return Graphic(items=items)
