"""Reads what the library for workbooks leaves out: raised text, comments, text boxes and charts."""

import io
import re
import zipfile
from collections.abc import Iterator
from typing import NamedTuple
from xml.etree.ElementTree import Element

from kebab.parse.archive import (
    find_all,
    find_child,
    get_attribute,
    get_local_tag,
    list_children,
    read_events,
)
from kebab.parse.formulas import END, SUBSCRIPT, SUPERSCRIPT
from kebab.parse.graphics import get_id, join_paragraphs, read_description, read_linked_graphic
from kebab.parse.office import Graphic, OpenDocument, Package, choose_alternative, label_note

_CELLS = re.compile(r"xl/(?:sharedStrings|worksheets/[^/]+)\.xml")
_CONTENT = re.compile(r"content\.xml")
_NEEDED = (".xml", ".rels", "mimetype")
_MAX_ROW = 1 << 20
_MAX_DIGITS = 7
_REFERENCE = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")
_RUN_END = re.compile(r"(</(?:\w{1,9}:)?r>)")
_VERTICAL = re.compile("""vertAlign val=["'](super|sub)script""")
_STYLE_NAME = re.compile(r'style:name="([^"]{1,99})"')
_POSITION = re.compile(r'text-position="(super|sub|-?[1-9])')
_SPAN = re.compile(r'(<text:span text:style-name="([^"<]{1,99})">)([^<]*)')


def mark_scripts(file: Package | OpenDocument, data: bytes) -> bytes:
    """Return a workbook with marks around the raised and lowered text of its cells.

    The library returns the text of a cell without its format, but keeps the marks.
    """
    archive, is_package = file.archive, isinstance(file, Package)
    if archive is None:
        return data
    pattern, sign = (_CELLS, b"vertAlign") if is_package else (_CONTENT, b"text-position")
    mark = _mark_runs if is_package else _mark_spans
    marked = {}
    for name in archive.names:
        if pattern.fullmatch(name) and sign in (part := archive.read(name)):
            marked[name] = mark(part.decode("utf-8", "replace"))
    if not marked:
        return data
    copy = io.BytesIO()
    with zipfile.ZipFile(copy, "w") as target:
        for other in archive.names:
            if other.endswith(_NEEDED):
                target.writestr(other, marked.get(other) or archive.read(other))
    return copy.getvalue()


def _mark_runs(text: str) -> str:
    """Mark the raised and lowered runs of shared strings: `<r><rPr>…</rPr><t>5</t></r>`."""
    pieces = _RUN_END.split(text)
    for number, piece in enumerate(pieces[:-1:2]):
        found = _VERTICAL.search(piece)
        if found:
            head, close, tail = piece.rpartition("</")
            before, bracket, run = head.rpartition(">")
            mark = SUPERSCRIPT if found[1] == "super" else SUBSCRIPT
            pieces[2 * number] = f"{before}{bracket}{mark}{run}{END}{close}{tail}"
    return "".join(pieces)


def _mark_spans(text: str) -> str:
    """Mark the spans of OpenDocument whose style raises or lowers them."""
    marks = {}
    for style in text.split("</style:style>"):
        position, names = _POSITION.search(style), _STYLE_NAME.findall(style)
        if position and names:
            is_lower = position[1].startswith(("sub", "-"))
            marks[names[-1]] = SUBSCRIPT if is_lower else SUPERSCRIPT
    return _SPAN.sub(
        lambda one: f"{one[1]}{marks[one[2]]}{one[3]}{END}" if one[2] in marks else one[0], text
    )


class Note(NamedTuple):
    """A line that belongs to a cell: the row from 1, the column from 0."""

    sheet: str
    row: int
    column: int
    text: str


def list_notes(file: Package | OpenDocument) -> Iterator[Note]:
    """Yield the comments, text boxes and charts of all sheets of a workbook.

    Raises:
        ParseFailed: A part is damaged or too large.
    """
    if isinstance(file, OpenDocument):
        yield from _list_notes_of_open_document(file)
    elif file.main.endswith(".xml"):
        relations = file.read_relations(file.main)
        people = {
            person.get("id", ""): person.get("displayName", "")
            for one in relations.values()
            if one.kind == "person"
            for person in list_children(file.find_tree(one.target))
        }
        for sheet in list_children(find_child(file.find_tree(file.main), "sheets")):
            part = relations.get(get_id(sheet))
            for relation in file.read_relations(part.target).values() if part else ():
                notes: Iterator[tuple[int, int, str]] = iter(())
                if relation.kind == "drawing":
                    notes = _list_drawings(file, relation.target)
                elif relation.kind in {"comments", "threadedComment"}:
                    notes = _list_comments(file.find_tree(relation.target), people)
                for row, column, text in notes:
                    yield Note(sheet.get("name", ""), row, column, text)


def _list_comments(root: Element | None, people: dict[str, str]) -> Iterator[tuple[int, int, str]]:
    """Yield the comments of a part; those that copy a thread for older programs are left out."""
    names = [one.text or "" for one in list_children(find_child(root, "authors"))]
    for one in list_children(find_child(root, "commentList")) or list_children(root):
        place = _REFERENCE.match(one.get("ref", ""))
        number = one.get("authorId", "")
        author = people.get(one.get("personId", ""), "")
        if number.isdecimal() and len(number) < _MAX_DIGITS and int(number) < len(names):
            author = names[int(number)].strip()
        text = _join_texts(find_child(one, "text"))
        if place and text and not author.startswith("tc="):
            column = count_columns(place[1].encode())
            label = f"Comment by {author}" if author else "Comment"
            yield int(place[2]), column - 1, f"{label} on {place[0]}: {text}"


def count_columns(column: bytes) -> int:
    """Return the number of a column from 1, e.g. 27 for `AA`."""
    number = 0
    for letter in column:
        number = number * 26 + letter - ord("A") + 1
    return number


def _join_texts(element: Element | None) -> str:
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


def _list_drawings(package: Package, part: str) -> Iterator[tuple[int, int, str]]:
    """Yield the charts, diagrams, text boxes and descriptions of a drawing."""
    root = package.find_tree(part)
    for one in list(find_all(root, "AlternateContent")):
        one[:] = choose_alternative(one)
    for anchor in list_children(root):
        corner = {
            get_local_tag(one.tag): one.text for one in list_children(find_child(anchor, "from"))
        }
        row, column = _read_number(corner.get("row")) + 1, _read_number(corner.get("col"))
        texts = [join_paragraphs(anchor)]
        for one in find_all(anchor, "cNvPr", "graphicData"):
            if get_local_tag(one.tag) == "cNvPr":
                texts.append(read_description(one))
            else:
                texts.append(_write_line(read_linked_graphic(package, part, one)))
        for text in filter(None, texts):
            yield row, column, " ".join(text.split())


def _write_line(graphic: Graphic) -> str:
    """Return a chart or a diagram as one line; the values of a chart are those of cells."""
    names = ", ".join(filter(None, graphic.rows[0])) if graphic.rows else ""
    labels = ", ".join(filter(None, (row[0] for row in graphic.rows[1:])))
    items = ", ".join(text for _, text in graphic.items)
    title = graphic.text or ("Chart" if names or labels else "")
    return "; ".join(filter(None, (title, names, labels, items, graphic.description)))


def _read_number(text: str | None) -> int:
    return int(text) if text and text.isdecimal() and len(text) <= _MAX_DIGITS else 0


def _list_notes_of_open_document(file: OpenDocument) -> Iterator[Note]:
    """Yield the comments, text boxes and the titles of charts of a workbook."""
    content = file.read_content()
    if b"<draw:" not in content and b"<office:annotation" not in content:
        return
    sheet, row, open_shapes = "", 1, 0
    for kind, element in read_events(content, file.content_name, file.refuse):
        tag = get_local_tag(element.tag)
        is_shape = tag in {"annotation", "frame", "custom-shape"}
        open_shapes += is_shape * (1 if kind == "start" else -1)
        if kind == "start":
            if tag == "table" and not open_shapes:
                sheet, row = get_attribute(element, "name"), 1
        elif is_shape and not open_shapes:
            text = _describe_shape(file, element, tag)
            if text:
                yield Note(sheet, row, 0, text)
            element.clear()
        elif tag == "table-row" and not open_shapes:
            row = min(
                row + max(1, _read_number(get_attribute(element, "number-rows-repeated"))), _MAX_ROW
            )
            element.clear()


def _describe_shape(file: OpenDocument, element: Element, tag: str) -> str:
    text = " ".join(filter(None, map(_join_texts, find_all(element, "p"))))
    if tag == "annotation" and text:
        return label_note(text, _join_texts(find_child(element, "creator")))
    objects = (file.find_object(get_attribute(one, "href")) for one in find_all(element, "object"))
    titles = [_join_texts(one) for root in objects for one in find_all(root, "title", "subtitle")]
    return f"Chart: {', '.join(filter(None, titles))}" if any(titles) else text
