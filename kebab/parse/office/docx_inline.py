"""Reads the text within paragraphs of Word documents."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from kebab.parse.office.docx_styles import get_value
from kebab.parse.office.ooxml import Relation, is_file_link
from kebab.parse.xml_events import find_child, get_attribute, get_local_tag

_SIGNS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_LEFT_OUT = frozenset(
    # Deleted text, properties, the reading above East Asian text, and the old form of a drawing.
    {"del", "moveFrom", "delText", "pPr", "rPr", "sdtPr", "rt", "Fallback", "delInstrText"}
)
_NOTES = {
    "footnoteReference": "footnote",
    "endnoteReference": "endnote",
    "commentReference": "comment",
}
_PICTURES = frozenset({"drawing", "pict", "object"})
_LINK_FIELD = re.compile(r'HYPERLINK\s+"([^"]+)"')
_FALSE = frozenset({"0", "false", "off"})


@dataclass(slots=True)
class Inline:
    """The text of a paragraph, the notes that it refers to, and its text boxes."""

    parts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    boxes: list[Element] = field(default_factory=list)
    text: str = ""


class InlineReader:
    """Reads paragraphs, and collects the links and counts the pictures of the document."""

    def __init__(
        self, relations: Mapping[str, Relation], notes: Mapping[tuple[str, str], str]
    ) -> None:
        self.links: list[str] = []
        self.pictures = 0
        self._relations = relations
        self._notes = notes

    def read(self, paragraph: Element) -> Inline:
        """Return the contents of a paragraph."""
        inline = Inline()
        self._collect(paragraph, inline)
        inline.text = "".join(inline.parts).strip("\n").rstrip()
        return inline

    def _collect(self, element: Element, inline: Inline) -> None:
        for child in element:
            tag = get_local_tag(child.tag)
            if tag == "t":
                inline.parts.append(child.text or "")
            elif tag in _SIGNS:
                inline.parts.append(_SIGNS[tag])
            elif tag not in _LEFT_OUT:
                self._collect_other(child, tag, inline)

    def _collect_other(self, element: Element, tag: str, inline: Inline) -> None:
        if tag == "txbxContent":
            inline.boxes.append(element)
        elif tag in _NOTES:
            note = self._notes.get((_NOTES[tag], get_attribute(element, "id")))
            if note:
                inline.notes.append(note)
        elif tag == "instrText":
            self._add_links(_LINK_FIELD.findall(element.text or ""))
        elif tag != "r" or not _is_hidden(element):
            self._note_target(element, tag, inline)
            self._collect(element, inline)

    def _note_target(self, element: Element, tag: str, inline: Inline) -> None:
        """Note the target of a link, and the description of a picture."""
        if tag == "hyperlink":
            relation = self._relations.get(get_attribute(element, "id"))
            self._add_links([relation.target] if relation and relation.external else [])
        elif tag == "docPr" and get_attribute(element, "descr").strip():
            inline.notes.append(f"Picture: {get_attribute(element, 'descr').strip()}")
        elif tag in _PICTURES:
            self.pictures += 1

    def _add_links(self, targets: list[str]) -> None:
        self.links += [target for target in targets if is_file_link(target)]


def _is_hidden(run: Element) -> bool:
    """Return whether a run is hidden text."""
    properties = find_child(run, "rPr")
    hidden = find_child(properties, "vanish")
    return hidden is not None and get_value(properties, "vanish") not in _FALSE
