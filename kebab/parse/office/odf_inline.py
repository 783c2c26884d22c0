"""Reads the text within paragraphs of OpenDocument files."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from kebab.parse.office.ooxml import is_file_link
from kebab.parse.xml_events import find_child, get_attribute, get_local_tag

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
        return "".join(self.parts).strip("\n").rstrip()


class InlineReader:
    """Reads paragraphs, and collects the links of the document."""

    def __init__(self) -> None:
        self.links: list[str] = []

    def read_paragraph(self, element: Element) -> Inline:
        """Return the contents of a paragraph or a heading."""
        inline = Inline()
        self._collect(element, inline)
        return inline

    def _collect(self, element: Element, inline: Inline) -> None:
        inline.parts.append(BLANKS.sub(" ", element.text or ""))
        for child in element:
            self._collect_child(child, get_local_tag(child.tag), inline)
            inline.parts.append(BLANKS.sub(" ", child.tail or ""))

    def _collect_child(self, child: Element, tag: str, inline: Inline) -> None:
        if tag == "s":
            inline.parts.append(" " * read_count(child, "c", _MAX_SPACES))
        elif tag == "tab":
            inline.parts.append("\t")
        elif tag == "line-break":
            inline.parts.append("\n")
        elif tag in {"note", "annotation"}:
            inline.notes += self._read_note(child, tag)
        elif tag in SHAPES:
            inline.shapes.append(child)
        elif tag not in _LEFT_OUT:
            if tag == "a" and is_file_link(get_attribute(child, "href")):
                self.links.append(get_attribute(child, "href"))
            self._collect(child, inline)

    def _read_note(self, element: Element, tag: str) -> Iterator[str]:
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
