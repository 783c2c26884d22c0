"""Reads Word documents (`.docx`).

The text is that of the latest version of the document: tracked insertions are in, deletions out.
Footnotes, comments, text boxes, charts and diagrams follow the paragraph that they belong to;
headers and footers stand at the end, each text once. Tables of contents and hidden text are left
out.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from html import unescape
from itertools import chain
from xml.etree.ElementTree import Element

from kebab.core.documents import ParsedDocument
from kebab.parse.archive import (
    find_all,
    find_child,
    get_attribute,
    get_local_tag,
    list_children,
    read_children,
)
from kebab.parse.blocks import TextBuilder, label_note
from kebab.parse.formulas import END, NOTE, SUBSCRIPT, SUPERSCRIPT, read_equation
from kebab.parse.office import ooxml as office

_SIGNS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_HIDDEN = {
    **dict.fromkeys(("del", "moveFrom"), "deleted text"),
    "rt": "readings above characters",
}
"""What the text is of elements that are not read."""
_NO_TEXT = frozenset({"pPr", "rPr", "sdtPr", "Fallback", "delInstrText"})
"""Properties, and the old form of a drawing."""
_NOTES = {
    "footnoteReference": "footnote",
    "endnoteReference": "endnote",
    "commentReference": "comment",
}
_ASIDE_PARTS = ("glossaryDocument", "footnotes", "endnotes", "comments")
_SCRIPT_MARKS = {"superscript": SUPERSCRIPT, "subscript": SUBSCRIPT}
_ANY_TEXT = re.compile(
    rb"<(?:\w+:)?(?:t|delText)(?:\s[^<>]*)?>([^<]+)<"
    rb'|<w:bookmarkStart\b[^<>]*?w:name="([^_"][^"]*)"'
    rb'|<w:(?:alias|listEntry|tblCaption|tblDescription)\b[^<>]*?w:val="([^"]*)"'
    rb'|\s(?:w:displayText|title|string|descr)="([^"]*)"'
    rb'|\b(?:XE|TC|MERGEFIELD)\s+(?:"|&quot;)?([^"<&\\]+)'
)
_MARKUP = re.compile(r"<[^<>]*>")
_LINK_FIELD = re.compile(r'HYPERLINK\s+"([^"]+)"')


class InlineReader:
    """Reads the paragraphs of a part, and collects its links."""

    def __init__(
        self,
        package: office.Package,
        part: str,
        styles: Mapping[str, office.Style],
        builder: TextBuilder,
    ) -> None:
        """Read the part of a package with the styles of the document.

        `builder` gets what is left out.
        """
        self._builder = builder
        self.links: list[str] = []
        self.notes: Mapping[tuple[str, str], str] = {}
        self._package, self._part, self._styles = package, part, styles
        self._relations = package.read_relations(part)

    def read(self, paragraph: Element) -> office.Inline:
        """Return the contents of a paragraph."""
        inline = office.Inline()
        self._collect(paragraph, inline)
        return inline.end()

    def list_lines(self, elements: Iterable[Element]) -> Iterator[str]:
        """Yield the paragraphs with text within elements, also those in text boxes."""
        for element in elements:
            if get_local_tag(element.tag) != "p":
                yield from self.list_lines(element)
                continue
            inline = self.read(element)
            yield from filter(None, (inline.text.strip(),))
            yield from self.list_lines(inline.shapes)

    def _collect(self, element: Iterable[Element], inline: office.Inline) -> None:
        for child in element:
            tag = get_local_tag(child.tag)
            if tag == "t":
                inline.parts.append(child.text or "")
            elif tag in _SIGNS:
                inline.parts.append(_SIGNS[tag])
            elif tag == "oMath":
                inline.parts.append(read_equation(child))
            elif tag == "txbxContent":
                inline.shapes.append(child)
            elif tag == "AlternateContent":
                self._collect(office.choose_alternative(child), inline)
            elif tag == "r":
                self._read_run(child, inline)
            elif tag in _HIDDEN:
                self._leave_out(_HIDDEN[tag], child)
            elif tag not in _NO_TEXT:
                self._add_notes(child, tag, inline)
                self._collect(child, inline)

    def _read_run(self, run: Element, inline: office.Inline) -> None:
        """Read a run that is not hidden, with marks around raised or lowered text."""
        properties = find_child(run, "rPr")
        hidden = find_child(properties, "vanish")
        if hidden is not None and get_attribute(hidden, "val") not in {"0", "false", "off"}:
            self._leave_out("hidden text", run)
            return
        style = self._styles.get(office.get_value(properties, "rStyle"), office.NO_STYLE)
        mark = _SCRIPT_MARKS.get(office.get_value(properties, "vertAlign") or style.script, "")
        if mark and style.role == "note_mark":
            mark = NOTE + mark
        inline.parts.append(mark)
        self._collect(run, inline)
        inline.parts.append(END if mark else "")

    def _leave_out(self, reason: str, element: Element) -> None:
        texts = (one.text or "" for one in find_all(element, "t", "delText"))
        self._builder.leave_out(reason, "".join(texts))

    def _add_notes(self, element: Element, tag: str, inline: office.Inline) -> None:
        """Add what an element refers to: notes, pictures, charts and links."""
        if tag in _NOTES:
            note = self.notes.get((_NOTES[tag], get_attribute(element, "id")), "")
            inline.notes.append(office.Graphic(description=note))
        elif tag in {"chart", "relIds"}:
            inline.notes.append(office.read_linked_graphic(self._package, self._part, element))
        elif tag in {"docPr", "shape"}:
            inline.notes.append(office.Graphic(description=office.read_description(element)))
        elif tag == "instrText":
            found = _LINK_FIELD.findall(element.text or "")
            self.links += filter(office.is_file_link, found)
            self._builder.leave_out(office.ADDRESSES, " ".join(found))
        elif tag == "hyperlink":
            relation = self._relations.get(get_attribute(element, "id"))
            if relation and relation.external and office.is_file_link(relation.target):
                self.links.append(relation.target)


_CONTAINERS = frozenset({"document", "body", "sdt", "sdtContent", "customXml", "smartTag"})
_DROPPED = frozenset({"drop", "margin"})
_WRAPPERS = frozenset({"sdt", "sdtContent", "customXml", "ins", "moveTo"})
_LAST_LEVEL = 9
_MAX_SPAN = 64
"""Word has at most 63 columns."""

_LONG_CELL_CHARS = 2_000


class DocxParser:
    """Parses Word documents."""

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document; citations name its sections."""
        package = office.Package(data, "document")
        reader = _BodyReader(package)
        part = package.main
        data = package.read(part)
        for element in read_children(data, part, _CONTAINERS):
            reader.add_block(element)
        return reader.build(path, data)


class _BodyReader:
    def __init__(self, package: office.Package) -> None:
        self._package = package
        self._builder = TextBuilder()
        self._styles = office.read_styles(self._find_part("styles"))
        self._lists = office.Lists(self._find_part("numbering"))
        self._inline = InlineReader(package, package.main, self._styles, self._builder)
        notes = {}
        for kind in _NOTES.values():
            part = self._package.find_related(self._package.main, f"{kind}s") or ""
            reader = InlineReader(self._package, part, self._styles, self._builder)
            for element in list_children(self._package.find_tree(part)):
                if get_attribute(element, "type", "normal") == "normal":
                    text = " ".join(reader.list_lines(element))
                    note = label_note(text, get_attribute(element, "author"), kind)
                    notes[kind, get_attribute(element, "id")] = note
        self._inline.notes = notes
        self._notes: list[office.Graphic] = []
        """What the open table refers to."""
        self._title = ""
        self._capital = ""
        """The large first letter of the next paragraph, which has a paragraph of its own."""

    def add_block(self, element: Element) -> None:
        """Add a paragraph or a table; other elements have no text."""
        tag = get_local_tag(element.tag)
        if tag == "p":
            self._add_paragraph(element)
        elif tag == "tbl":
            self._add_table(element)
        elif tag == "AlternateContent":
            for child in office.choose_alternative(element):
                self.add_block(child)
        elif tag in _WRAPPERS:
            for child in element:
                self.add_block(child)

    def build(self, path: str, data: bytes) -> ParsedDocument:
        """Return the document; the words of its part that are not read are left out."""
        self._builder.end_run()
        metadata = self._package.read_metadata()
        if self._title:
            metadata = metadata._replace(title=self._title)
        office.add_margins(self._builder, self._list_margins())
        addresses = self._package.list_addresses(self._package.main, self._builder)
        self._builder.leave_out_unknown(office.ADDRESSES, addresses)
        for relation in self._package.read_relations(self._package.main).values():
            if relation.kind == "aFChunk" and not relation.external:
                self._leave_out_file(self._package.find(relation.target) or b"")
        # Notes that nothing refers to, and building blocks, are in parts of their own.
        parts = (self._package.find_related(self._package.main, kind) for kind in _ASIDE_PARTS)
        data += b"".join(self._package.find(part) or b"" for part in parts if part)
        found = (one.decode("utf-8", "replace") for it in _ANY_TEXT.findall(data) for one in it)
        self._builder.leave_out_unknown("other text of the file", map(unescape, found))
        return self._builder.build(path, metadata, links=self._inline.links)

    def _leave_out_file(self, data: bytes) -> None:
        """Name the text of a file that is inserted as a whole: HTML, RTF or another document."""
        reason = "files that are inserted as a whole"
        if data.startswith(b"PK"):
            self._builder.leave_out_unread(reason)
        else:
            text = data.decode("utf-8", "replace")
            self._builder.leave_out(reason, _MARKUP.sub(" ", text))

    def _list_margins(self) -> Iterator[tuple[str, Iterator[str]]]:
        for relation in self._package.read_relations(self._package.main).values():
            if relation.kind in {"header", "footer"} and not relation.external:
                root = self._package.find_tree(relation.target)
                reader = InlineReader(self._package, relation.target, self._styles, self._builder)
                yield relation.kind, reader.list_lines(list_children(root))

    def _find_part(self, kind: str) -> Element | None:
        return self._package.find_tree(self._package.find_related(self._package.main, kind))

    def _get_style(self, properties: Element | None) -> office.Style:
        return self._styles.get(office.get_value(properties, "pStyle"), office.NO_STYLE)

    def _get_level(self, properties: Element | None, style: office.Style) -> int:
        """Return the level of a heading, 0 for text."""
        level = office.read_outline(properties) or style.outline or int(style.role == "title")
        return 0 if level > _LAST_LEVEL else level

    def _number(
        self, text: str, properties: Element | None, style: office.Style
    ) -> tuple[int, str]:
        """Return a paragraph behind its number, and its depth in a list; -1 outside of lists."""
        numbering = office.read_numbering(properties, style.name) or style.numbering
        if numbering is None or numbering.number == "0":
            return -1, text
        label = self._lists.format_next(numbering)
        return numbering.depth, f"{label} {text}" if label else text

    def _add_paragraph(self, paragraph: Element) -> None:
        properties = find_child(paragraph, "pPr")
        style = self._get_style(properties)
        inline = self._inline.read(paragraph)
        if style.role == "contents":
            self._builder.leave_out(office.CONTENTS, inline.text)
            return
        text, self._capital = self._capital + inline.text, ""
        frame = find_child(properties, "framePr")
        if frame is not None and get_attribute(frame, "dropCap") in _DROPPED:
            self._capital = text
        elif text:
            self._add_text(text, properties, style)
        for note in inline.notes:
            self._builder.add_behind(partial(note.write, self._builder))
        for box in inline.shapes:
            self._builder.end_run()
            for child in box:
                self.add_block(child)

    def _add_text(self, text: str, properties: Element | None, style: office.Style) -> None:
        """Add a paragraph with text as what its style says."""
        if style.role == "code":
            self._builder.add_code_line(text)
            return
        level = self._get_level(properties, style)
        depth, text = self._number(text, properties, style)
        if level and len(text) <= office.LONGEST_HEADING:
            self._builder.add_heading(level, text)
            if style.role == "title" and not self._title:
                self._title = text
        elif depth >= 0:
            self._builder.add_item(depth, text)
        elif style.role == "quote":
            self._builder.add_quote(text)
        else:
            self._builder.add_paragraph(text)

    def _add_table(self, table: Element) -> None:
        self._builder.end_run()
        if self._is_layout(table):
            cells = (
                cell for row in _list_wrapped(table, "tr") for cell in _list_wrapped(row, "tc")
            )
            for cell in cells:
                for child in cell if not _continues_above(cell) else ():
                    self.add_block(child)
            return
        self._builder.add_table(self._read_table(table))
        notes, self._notes = self._notes, []
        for note in notes:
            note.write(self._builder)

    def _is_layout(self, table: Element) -> bool:
        """Return whether a table places parts of the page: one column, headings, or long texts."""
        rows = [list(_list_wrapped(row, "tc")) for row in _list_wrapped(table, "tr")]
        if all(len(cells) <= 1 for cells in rows):
            return True
        for cell in chain.from_iterable(rows):
            paragraphs = list(_list_wrapped(cell, "p"))
            for properties in (find_child(one, "pPr") for one in paragraphs):
                if self._get_level(properties, self._get_style(properties)):
                    return True
            texts = (text for one in paragraphs for text in one.itertext())
            if len(paragraphs) > 1 and sum(map(len, texts)) > _LONG_CELL_CHARS:
                return True
        return False

    def _read_table(self, table: Element) -> list[list[str]]:
        """Return the rows; a merged cell stands in each of them, and in its first column."""
        rows: list[list[str]] = []
        above: list[str] = []
        for row in _list_wrapped(table, "tr"):
            if find_child(find_child(row, "trPr"), "del") is not None:
                continue
            texts: list[str] = []
            for cell in _list_wrapped(row, "tc"):
                is_merged = _continues_above(cell) and len(texts) < len(above)
                texts.append(above[len(texts)] if is_merged else self._read_cell(cell))
                span = office.get_value(find_child(cell, "tcPr"), "gridSpan")
                columns = min(int(span), _MAX_SPAN) if span.isdecimal() else 1
                texts += [""] * (columns - 1)
            above = texts
            rows.append(texts)
        return rows

    def _read_cell(self, cell: Element) -> str:
        texts = [self._read_cell_paragraph(one) for one in _list_wrapped(cell, "p")]
        texts += [office.join_rows(self._read_table(one)) for one in _list_wrapped(cell, "tbl")]
        return "\n".join(filter(None, texts))

    def _read_cell_paragraph(self, paragraph: Element) -> str:
        """Return the text of a paragraph in a cell, and keep its notes for the end of the table."""
        properties = find_child(paragraph, "pPr")
        inline = self._inline.read(paragraph)
        text = inline.text
        if text:
            _, text = self._number(text, properties, self._get_style(properties))
        self._notes += inline.notes
        paragraphs = (one for box in inline.shapes for one in list_children(box, "p"))
        return " ".join(filter(None, (text, *map(self._read_cell_paragraph, paragraphs))))


def _list_wrapped(element: Element, tag: str) -> Iterator[Element]:
    """Yield the children with a local tag, also those in content controls."""
    for child in element:
        found = get_local_tag(child.tag)
        if found == tag:
            yield child
        elif found in _WRAPPERS:
            yield from _list_wrapped(child, tag)


def _continues_above(cell: Element) -> bool:
    merged = find_child(find_child(cell, "tcPr"), "vMerge")
    return merged is not None and get_attribute(merged, "val", "continue") == "continue"
