"""Reads the paragraphs, lists and tables of OpenDocument files."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from kebab.parse.office.docx_styles import Style
from kebab.parse.office.odf_inline import BLANKS, SHAPES, Inline, InlineReader, read_count
from kebab.parse.office.odf_styles import OdfStyles
from kebab.parse.office.odf_tables import TableReader, list_rows
from kebab.parse.office.open_document import OpenDocument
from kebab.parse.text_builder import TextBuilder
from kebab.parse.xml_events import get_attribute, get_local_tag

_INDEXES = frozenset(
    {"table-of-content", "illustration-index", "table-index", "object-index", "user-index"}
    | {"alphabetical-index", "bibliography"}
)
_MAX_POINTS = 200


class OdfTextReader:
    """Adds the blocks of a text or of a shape to a document."""

    def __init__(self, builder: TextBuilder, document: OpenDocument) -> None:
        self.builder = builder
        self._document = document
        self.styles = OdfStyles()
        self.inline = InlineReader()
        self._tables = TableReader(self.inline, self._list_texts)
        self.pictures = 0
        self.title = ""
        self._code: list[str] = []
        self._items: list[tuple[int, str]] = []
        self._rest = Inline()

    def add_block(self, element: Element) -> None:
        """Add a heading, a paragraph, a list, a table, or what is in a section or a shape."""
        tag = get_local_tag(element.tag)
        if tag == "p":
            self._add_paragraph(element)
        elif tag == "list":
            self._collect_list(element)
        else:
            self.flush()
            self._add_other(element, tag)

    def _collect_list(self, element: Element) -> None:
        """Collect the items of a list; numbered headings are lists as well."""
        self._flush_code()
        texts = [one for one in element.iter() if get_local_tag(one.tag) in {"p", "h"}]
        if texts and all(get_local_tag(one.tag) == "h" for one in texts):
            for heading in texts:
                self.add_block(heading)
        else:
            self._items += self._list_items(element, "", 0, self._rest)

    def _add_other(self, element: Element, tag: str) -> None:
        if tag == "h":
            self._add_heading(element)
        elif tag == "table":
            self._add_table(element)
        elif tag in {"section", "text-box"}:
            for child in element:
                self.add_block(child)
        elif tag in SHAPES:
            self.add_shape(element)

    def add_shape(self, shape: Element) -> None:
        """Add the texts of a shape, and the description of a picture."""
        for child in shape:
            tag = get_local_tag(child.tag)
            if tag == "image":
                self.pictures += 1
            elif tag == "object":
                self._add_chart(self._document.find_object(get_attribute(child, "href")))
            elif tag == "desc" and (child.text or "").strip():
                self.builder.add_quote(f"Picture: {BLANKS.sub(' ', child.text or '').strip()}")
            else:
                self.add_block(child)
        self.flush()

    def has_content(self, shape: Element) -> bool:
        """Return whether a shape has text or a chart."""
        tags = {get_local_tag(one.tag) for one in shape.iter()}
        return not tags.isdisjoint({"object", "desc"}) or any(self.inline.list_texts(shape))

    def _add_chart(self, root: Element | None) -> None:
        """Add the titles and the table of a chart."""
        for element in root.iter() if root is not None else ():
            tag = get_local_tag(element.tag)
            if tag == "title":
                self.builder.add_paragraph(f"Chart: {' '.join(self.inline.list_texts(element))}")
            elif tag == "table":
                self.builder.add_table(self._tables.read(element, Inline())[:_MAX_POINTS])

    def flush(self) -> None:
        """Add the lines of code and the items of a list that were read so far."""
        self._flush_code()
        self.builder.add_list(self._items)
        self._items.clear()
        rest, self._rest = self._rest, Inline()
        self._add_rest(rest)

    def _flush_code(self) -> None:
        self.builder.add_code("\n".join(self._code))
        self._code.clear()

    def _add_paragraph(self, element: Element) -> None:
        style = self.styles.get_style(get_attribute(element, "style-name"))
        inline = self.inline.read_paragraph(element)
        if style.is_code and inline.text:
            if self._items:
                self.flush()
            self._code.append(inline.text)
        else:
            self.flush()
            self._add_text(inline.text, style)
        self._add_rest(inline)

    def _add_text(self, text: str, style: Style) -> None:
        if style.is_title:
            self.title = self.title or text.strip()
            self.builder.add_heading(1, text)
        elif style.is_quote:
            self.builder.add_quote(text)
        else:
            self.builder.add_paragraph(text.strip())

    def _add_heading(self, element: Element) -> None:
        inline = self.inline.read_paragraph(element)
        self.builder.add_heading(read_count(element, "outline-level", 9), inline.text)
        self._add_rest(inline)

    def _add_rest(self, inline: Inline) -> None:
        """Add the notes and the shapes of a paragraph behind it."""
        for note in inline.notes:
            self.flush()
            self.builder.add_quote(note)
        for shape in inline.shapes:
            self.flush()
            self.add_shape(shape)

    def _list_texts(self, element: Element, rest: Inline) -> Iterator[str]:
        return (text for _, text in self._list_items(element, "", 0, rest))

    def _list_items(
        self, element: Element, style: str, depth: int, rest: Inline
    ) -> Iterator[tuple[int, str]]:
        style = get_attribute(element, "style-name") or style
        number = 0
        for item in element:
            tag = get_local_tag(item.tag)
            if tag not in {"list-item", "list-header"}:
                continue
            texts = []
            lists = []
            for child in item:
                if get_local_tag(child.tag) == "list":
                    lists.append(child)
                elif get_local_tag(child.tag) in {"p", "h"}:
                    inline = self.inline.read_paragraph(child)
                    texts.append(inline.text)
                    rest.notes += inline.notes
                    rest.shapes += inline.shapes
            text = " ".join(filter(None, map(str.strip, texts)))
            if text:
                number += tag == "list-item"
                label = self.styles.format_number(style, depth, number)
                yield depth, f"{label} {text}" if label else text
            for child in lists:
                yield from self._list_items(child, style, depth + 1, rest)

    def _add_table(self, table: Element) -> None:
        rest = Inline()
        rows = self._tables.read(table, rest)
        if all(len(row) <= 1 for row in rows):
            for row in list_rows(table):
                for cell in row:
                    for child in cell:
                        self.add_block(child)
            return
        self.builder.add_table(rows)
        self._add_rest(rest)


def is_index(element: Element) -> bool:
    """Return whether an element is a table of contents or another index."""
    return get_local_tag(element.tag) in _INDEXES
