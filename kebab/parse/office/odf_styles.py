"""Reads the styles of OpenDocument files: what is code or quoted, and how lists are numbered."""

import re
from xml.etree.ElementTree import Element

from kebab.parse.office.docx_styles import NO_STYLE, Style, format_number
from kebab.parse.xml_events import get_attribute, get_local_tag

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
            elif tag == "list-style":
                self._add_levels(element)

    def get_style(self, name: str) -> Style:
        """Return what a style means, by the first of its bases that has a name of its own."""
        for _ in range(_MAX_BASES):
            if not name:
                break
            style = Style(self._names.get(name) or _ESCAPED.sub(_unescape, name))
            if style.is_title or style.is_code or style.is_quote:
                return style
            name = self._parents.get(name, "")
        return NO_STYLE

    def is_hidden(self, name: str) -> bool:
        """Return whether slides of a style are hidden."""
        return name in self._hidden

    def format_number(self, style: str, depth: int, number: int) -> str:
        """Return the number of an item of a list; empty for a bullet."""
        form, suffix = self._levels.get((style, depth), ("", ""))
        return f"{format_number(number, _FORMS.get(form, form))}{suffix or '.'}" if form else ""

    def _add_levels(self, element: Element) -> None:
        for level in element:
            depth = get_attribute(level, "level")
            if get_local_tag(level.tag) == "list-level-style-number" and depth.isdecimal():
                form, suffix = (
                    get_attribute(level, "num-format"),
                    get_attribute(level, "num-suffix"),
                )
                self._levels[get_attribute(element, "name"), int(depth) - 1] = (form, suffix)


def _unescape(match: re.Match[str]) -> str:
    return chr(int(match[1], 16))
