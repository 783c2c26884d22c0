"""Finds the elements of XML that are long enough to be sections of their own."""

from typing import NamedTuple
from xml.parsers import expat

from kebab.parse.data.keys import shorten_label
from kebab.parse.data.regions import MAX_LINES, Region

_LEAST_LINES = 8
_DEEPEST = 4
_NAMES = ("name", "id", "key", "title", "text", "label")


class XmlElements(NamedTuple):
    """The regions of long elements, and what is wrong with the file."""

    regions: tuple[Region, ...]
    warnings: tuple[str, ...] = ()


class _Refused(Exception):  # noqa: N818 - ends the parser from a handler
    """The file declares entities."""


def scan_xml(text: str) -> XmlElements:
    """Return the elements of XML; of a broken file those before the damage."""
    reader = _ElementReader()
    try:
        reader.parser.Parse(text.encode("utf-8", "replace"), True)  # noqa: FBT003 - its own order
    except _Refused:
        return XmlElements((), ("the file declares entities: read as text",))
    except (expat.ExpatError, ValueError) as fault:
        line = getattr(fault, "lineno", 0)
        return XmlElements((), (f"not well-formed at line {line}: read as text",))
    return XmlElements(tuple(sorted(reader.regions, key=lambda one: (one.first, -one.last))))


class _ElementReader:
    """Collects the lines of elements while expat reads them."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate("utf-8")
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.EntityDeclHandler = self._refuse
        self.regions: list[Region] = []
        self._opened: list[tuple[str, int]] = []
        self._depth = 0

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth <= _DEEPEST:
            value = next((attributes[name] for name in _NAMES if name in attributes), "")
            label = f"{tag} {value}".strip()
            self._opened.append((label, self.parser.CurrentLineNumber - 1))

    def _end(self, _tag: str) -> None:
        if self._depth <= _DEEPEST:
            label, first = self._opened.pop()
            last = self.parser.CurrentLineNumber
            if self._depth > 1 and last - first >= _LEAST_LINES and first < MAX_LINES:
                self.regions.append(Region(shorten_label(label), first, first + 1, last))
        self._depth -= 1

    def _refuse(self, *_declaration: object) -> None:
        raise _Refused
