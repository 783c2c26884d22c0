"""Reads what files of office programs have in common: parts, properties, styles and graphics."""

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from kebab.core.documents import Metadata
from kebab.errors.catalog import ParseFailed
from kebab.limits.deadline import build_refusal
from kebab.parse.archive import (
    ENCRYPTED,
    Archive,
    find_all,
    find_child,
    get_attribute,
    get_local_tag,
    list_children,
)
from kebab.parse.blocks import TextBuilder
from kebab.parse.formulas import END, SUBSCRIPT, SUPERSCRIPT, read_equation, write_scripts
from kebab.parse.metadata import convert_properties

_KINDS = {
    "document": "a Word document",
    "presentation": "a PowerPoint presentation",
    "workbook": "an Excel workbook",
}
_SCHEME = re.compile(r"(?i)[a-z][a-z0-9+.-]+:")


class Relation(NamedTuple):
    """A link from a part to another part, or to something `external`; `kind` is e.g. `slide`."""

    kind: str
    target: str
    external: bool = False


class Package(Archive):
    """The parts of an office file, and how they relate."""

    def __init__(self, data: bytes, kind: str) -> None:
        """Open a file whose main part has the root element `kind`, e.g. `document`."""
        super().__init__(data)
        roots = self.read_relations("").values()
        mains = [one.target for one in roots if one.kind == "officeDocument" and not one.external]
        if not mains:
            raise build_refusal("damaged: it has no main part")
        self.main = mains[0]
        found = self.main.rpartition("/")[2].partition(".")[0].casefold()
        if found in _KINDS and found != kind:
            raise build_refusal(f"it is {_KINDS[found]}, not {_KINDS[kind]}")

    def read_relations(self, part: str) -> Mapping[str, Relation]:
        """Return the relations of a part by id; `""` is the file as a whole."""
        folder, _, name = part.rpartition("/")
        root = self.find_tree(posixpath.join(folder, "_rels", f"{name}.rels"))
        relations = {}
        for element in list_children(root):
            kind = element.get("Type", "").rpartition("/")[2]
            target, external = unquote(element.get("Target", "")), True
            if element.get("TargetMode") != "External":
                # Relative to the folder of the part; `..` beyond the root stays at the root.
                place = posixpath.join("/", folder, element.get("Target", ""))
                target, external = posixpath.normpath(place).lstrip("/"), False
            relations[element.get("Id", "")] = Relation(kind, target, external=external)
        return relations

    def find_related(self, part: str, kind: str) -> str | None:
        """Return the name of the first part of a kind to which a part is related."""
        for relation in self.read_relations(part).values():
            if relation.kind == kind and not relation.external:
                return relation.target
        return None

    def find_target(self, part: str, relation: str) -> Element | None:
        """Return the root of the part to which a part is related by an id."""
        found = self.read_relations(part).get(relation)
        return None if found is None or found.external else self.find_tree(found.target)

    def read_metadata(self) -> Metadata:
        """Return the properties of the file that people see in its information."""
        parts = (self.find_related("", f"{kind}-properties") for kind in _PROPERTY_PARTS)
        found, *others = map(self.find_tree, parts)
        own = [
            (get_attribute(one, "name") or get_local_tag(one.tag), "".join(one.itertext()).strip())
            for root in others
            for one in list_children(root, "property", "Company", "Manager")
        ]
        return read_properties(found, own)

    def list_addresses(self, part: str, builder: TextBuilder) -> list[str]:
        """Return the addresses to which a part links; a builder is told of embedded files."""
        relations = self.read_relations(part).values()
        if any(one.kind in {"oleObject", "package"} for one in relations):
            builder.leave_out_unread("embedded files")
        links = (one.target for one in relations if one.kind == "hyperlink" and one.external)
        return [one.removeprefix("mailto:") for one in links]


_PROPERTY_PARTS = ("core", "custom", "extended")
_FIELDS = {
    "keyword": "keywords",
    **dict.fromkeys(("date", "ModifiedDate"), "modified"),
    **dict.fromkeys(("creation-date", "CreatedDate"), "created"),
}
"""The names of properties in OpenDocument and Hangul, and their names in packages."""


def read_properties(root: Element | None, own: Iterable[tuple[str, str]] = ()) -> Metadata:
    """Return the properties in a part of a package, or within `office:meta`.

    `own` are further ones, which people have named.
    """
    own = [*own]
    fields: dict[str, str] = {}
    for element in root.iter() if root is not None else ():
        name, text = get_local_tag(element.tag), (element.text or "").strip()
        name = element.get("name", name) if name == "meta" else name
        if name == "user-defined":
            own.append((get_attribute(element, "name"), text))
        if name == "keyword":
            text = f"{fields.pop('keywords', '')}\n{text}"
        fields.setdefault(_FIELDS.get(name, name), text)
    fields["creator"] = fields.get("initial-creator") or fields.get("creator", "")
    metadata = convert_properties(fields)
    named = ((name.strip().casefold(), text) for name, text in own if name.strip() and text)
    return metadata._replace(properties=(*metadata.properties, *dict.fromkeys(named)))


ADDRESSES = "addresses of links"
CHART_ROWS = "rows of long charts"
MASTERS = "texts of layouts and master pages"
CONTENTS = "tables of contents"
"""What the text is that repeats headings, and is left out."""

_PAGE_NUMBER = re.compile(
    r"\W*(?:(?:p|pg|page|s|seite|p[áa]g(?:ina)?|sid[ae]|strona|sivu|oldal|стр(?:аница)?|쪽|페이지)\W*)?"
    r"\d{1,5}(?:\W+(?:(?:of|von|sur|de|di|van|av|z|из)\W+)?\d{1,5})?\W*",
    re.IGNORECASE,
)


def add_margins(builder: TextBuilder, margins: Iterable[tuple[str, Iterable[str]]]) -> None:
    """Add headers and footers of pages, each text once and without lines such as `Page 3 of 7`."""
    kinds: dict[str, str] = {}
    for kind, lines in margins:
        text = " ".join(line for line in lines if not _PAGE_NUMBER.fullmatch(line))
        kinds[text] = kind
    for text, kind in kinds.items():
        builder.add_quote(f"{kind.capitalize()}: {text}" if text else "")


@dataclass(slots=True)
class Graphic:
    """The contents of a shape: a text, a list, or a table, and a quotation below it.

    `rest` is the text of the rows of a chart that are left out.
    """

    text: str = ""
    items: list[tuple[int, str]] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    description: str = ""
    rest: str = ""

    def __bool__(self) -> bool:
        """Return whether there is text."""
        return bool(self.text or self.items or self.description or any(map(any, self.rows)))

    def write(self, builder: TextBuilder) -> None:
        """Add the contents to a document."""
        builder.add_paragraph(self.text)
        builder.add_list(self.items)
        builder.add_table(self.rows)
        builder.add_quote(self.description)
        builder.leave_out(CHART_ROWS, self.rest)


@dataclass(slots=True)
class Inline:
    """The text of a paragraph, the notes and graphics that follow it, and its shapes."""

    parts: list[str] = field(default_factory=list)
    notes: list[Graphic] = field(default_factory=list)
    shapes: list[Element] = field(default_factory=list)
    text: str = ""

    def end(self) -> "Inline":
        """Join the parts of the text."""
        self.text = write_scripts("".join(self.parts)).strip("\n").rstrip()
        return self


def join_rows(rows: Iterable[Iterable[str]]) -> str:
    """Return a table within a cell as `a, b; c, d`."""
    return "; ".join(", ".join(filter(None, row)) for row in rows)


def choose_alternative(element: Element) -> list[Element]:
    """Return the content of the first of several forms of the same thing."""
    choice = find_child(element, "Choice")
    return list_children(find_child(element, "Fallback") if choice is None else choice)


def is_file_link(target: str) -> bool:
    """Return whether the target of a link is a file beside the document."""
    return bool(target) and not target.startswith(("#", "//")) and not _SCHEME.match(target)


CONTENT = "content.xml"
"""The part with the body of an OpenDocument file."""


class OpenDocument(Archive):
    """The parts of an OpenDocument file."""

    def __init__(self, data: bytes) -> None:
        """Open a file, and read its properties."""
        super().__init__(data)
        if b"encryption-data" in (self.find("META-INF/manifest.xml") or b""):
            raise build_refusal(ENCRYPTED)
        self.metadata = read_properties(self.find_tree("meta.xml"))

    def find_object(self, address: str) -> Element | None:
        """Return the content of an object in the file, such as a chart."""
        return self.find_tree(f"{address.removeprefix('./').rstrip('/')}/{CONTENT}")


_HEADING = re.compile(
    r"(?:heading|outline|제목|개요|見出し|标题|標題|überschrift|titre|título|titolo|заголовок|kop|rubrik|nagłówek"
    r"|nadpis|címsor|overskrift|otsikko|başlık)\s*(\d)",
    re.IGNORECASE,
)
"""Names of heading styles: Word stores the English ones, other programs their own."""

_ROLE = re.compile(
    r"(?P<title>title|제목|표제|表題|标题|標題|titel|titre)"
    r"|(?P<code>source ?code|html preformatted|preformatted text|code(?: ?block)?|macro(?: text)?)"
    r"|(?P<quote>(?:intense )?quote|block ?text|quotations?)"
    r"|(?P<contents>(?:toc|contents|목차|目次) \d|(?:toc|contents) heading|table of figures)"
    r"|(?P<note_mark>.*(?:foot|end)note.*)",
    re.IGNORECASE,
)
"""Names of styles by the role of their text."""

LONGEST_HEADING = 300
"""A longer paragraph is text, whatever its style."""

_LIST = re.compile(r"(?i)list (?:bullet|number) (\d)")
_MAX_LEVEL = 9


class Numbering(NamedTuple):
    """The place of a paragraph in a numbered list: the id of the list, and the depth from 0."""

    number: str
    depth: int


class Style(NamedTuple):
    """What a style means; `outline` is the level of a heading from 1, else 0.

    `script` is `superscript` or `subscript` where its text is raised or lowered.
    """

    name: str = ""
    role: str = ""
    outline: int = 0
    numbering: Numbering | None = None
    script: str = ""


NO_STYLE = Style()
"""The style of a paragraph that names none."""


def find_role(name: str) -> str:
    """Return the role of a style: `title`, `code`, `quote`, `contents`, `note_mark`, or none."""
    found = _ROLE.fullmatch(name)
    return found.lastgroup or "" if found else ""


def find_heading_level(name: str) -> int:
    """Return the level of the heading that the name of a style is for; 0 for none."""
    found = _HEADING.fullmatch(name.strip())
    return int(found[1]) if found else 0


def read_styles(root: Element | None) -> Mapping[str, Style]:
    """Return the styles by id, each with what it inherits."""
    raw = {get_attribute(one, "styleId"): one for one in list_children(root, "style")}
    return {name: _resolve_style(name, raw) for name in raw}


def _resolve_style(name: str, raw: Mapping[str, Element]) -> Style:
    """Return a style; the nearest of it and its bases decides each property."""
    label, outline, numbering, script = "", 0, None, ""
    current: str | None = name
    for _ in range(20):
        element = raw.get(current or "")
        if element is None:
            break
        title = get_value(element, "name")
        label = label or title
        properties = find_child(element, "pPr")
        outline = outline or read_outline(properties) or find_heading_level(title)
        numbering = numbering or read_numbering(properties, title)
        script = script or get_value(find_child(element, "rPr"), "vertAlign")
        current = get_value(element, "basedOn")
    return Style(label, find_role(label), 0 if outline > _MAX_LEVEL else outline, numbering, script)


def read_outline(properties: Element | None) -> int:
    """Return the level of the outline that properties of a paragraph set: 1 to 9, 10 for text."""
    value = get_value(properties, "outlineLvl")
    return int(value) + 1 if value.isdecimal() else 0


def read_numbering(properties: Element | None, style: str = "") -> Numbering | None:
    """Return the list of a paragraph; the list `0` is none."""
    element = find_child(properties, "numPr")
    if element is None:
        return None
    depth = get_value(element, "ilvl")
    named = _LIST.fullmatch(style)
    level = int(depth) if depth.isdecimal() else int(named[1]) - 1 if named else 0
    return Numbering(get_value(element, "numId"), min(level, _MAX_LEVEL))


def get_value(element: Element | None, tag: str) -> str:
    """Return the `val` of the first child with a local tag, empty without one."""
    child = find_child(element, tag)
    return "" if child is None else get_attribute(child, "val")


class _Level(NamedTuple):
    """How a level of a list is numbered; `text` is e.g. `%1.%2`."""

    form: str = "decimal"
    text: str = ""
    start: int = 1


class Lists:
    """The numbered lists of a document, which count their paragraphs."""

    def __init__(self, root: Element | None) -> None:
        """Read the lists that a part defines."""
        self._levels: dict[str, dict[int, _Level]] = {}
        self._shared: dict[str, str] = {}
        self._counters: defaultdict[str, dict[int, int]] = defaultdict(dict)
        abstract = {
            get_attribute(one, "abstractNumId"): _read_levels(one)
            for one in list_children(root, "abstractNum")
        }
        for element in list_children(root, "num"):
            number, base = get_attribute(element, "numId"), get_value(element, "abstractNumId")
            levels = self._levels[number] = dict(abstract.get(base, {}))
            overrides = list_children(element, "lvlOverride")
            for override in overrides:
                levels |= _read_levels(override)
                start = get_value(override, "startOverride")
                depth = int(ilvl) if (ilvl := get_attribute(override, "ilvl")).isdecimal() else 0
                if start.isdecimal() and depth in levels:
                    levels[depth] = levels[depth]._replace(start=int(start))
            # A list with levels of its own counts by itself, others share their counters.
            self._shared[number] = f"own {number}" if overrides else base

    def format_next(self, numbering: Numbering) -> str:
        """Count a paragraph and return its label, e.g. `2.1`; empty for a bullet."""
        levels = self._levels.get(numbering.number, {})
        level = levels.get(numbering.depth)
        counters = self._counters[self._shared.get(numbering.number, numbering.number)]
        if level is None:
            return ""
        counters[numbering.depth] = counters.get(numbering.depth, level.start - 1) + 1
        for deeper in [depth for depth in counters if depth > numbering.depth]:
            del counters[deeper]
        if level.form in {"bullet", "none"}:
            return ""

        def format_level(match: re.Match[str]) -> str:
            depth = int(match[1]) - 1
            level = levels.get(depth, _Level())
            return format_number(counters.get(depth, level.start), level.form)

        return re.sub(r"%(\d)", format_level, level.text)


def _read_levels(element: Element) -> dict[int, _Level]:
    levels = {}
    for child in list_children(element, "lvl"):
        depth, start = get_attribute(child, "ilvl"), get_value(child, "start")
        if depth.isdecimal():
            text = get_value(child, "lvlText")
            first = int(start) if start.isdecimal() else 1
            levels[int(depth)] = _Level(get_value(child, "numFmt") or "decimal", text, first)
    return levels


_ROMAN = tuple(
    zip(
        (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
        ("m", "cm", "d", "cd", "c", "xc", "l", "xl", "x", "ix", "v", "iv", "i"),
        strict=True,
    )
)
_ALPHABETS = {
    "lowerLetter": "abcdefghijklmnopqrstuvwxyz",
    "upperLetter": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "ganada": "가나다라마바사아자차카타파하",
    "chosung": "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ",
    "decimalEnclosedCircle": "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳",
}


def format_number(number: int, form: str) -> str:
    """Return a number as a level of a list shows it; forms of few languages become digits."""
    if form in {"lowerRoman", "upperRoman"} and 0 < number < 4000:  # noqa: PLR2004 - no larger ones
        roman = ""
        for value, letters in _ROMAN:
            roman += letters * (number // value)
            number %= value
        return roman.upper() if form == "upperRoman" else roman
    alphabet = _ALPHABETS.get(form, "")
    if 0 < number <= len(alphabet):
        return alphabet[number - 1]
    return str(number)


def add_slide_heading(builder: TextBuilder, title: str, number: int, *, has_text: bool) -> None:
    """Add the heading of a slide; without a title it is its number, so that no other one holds."""
    if title.strip() or has_text:
        builder.add_heading(1, title if title.strip() else f"Slide {number}")


MAX_POINTS = 200
"""The most rows of a chart; further ones are left out."""

_DIGIT, _INDEX = re.compile("[0-9]"), re.compile("[0-9]{1,5}")
_FILE_NAMES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".emf", ".wmf", ".svg", ".tif", ".tiff")


def read_description(properties: Element) -> str:
    """Return the line with the description of a picture; empty for none or a file name."""
    description = " ".join(properties.get("descr", properties.get("alt", "")).split())
    is_text = description and not description.lower().endswith(_FILE_NAMES)
    return f"Picture: {description}" if is_text else ""


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
    series = list(find_all(root, "ser"))[:20]
    names = [" ".join(_read_points(find_child(one, "tx")).values()) for one in series]
    values = [_read_points(_find_any(one, ("val", "yVal"))) for one in series]
    categories = [_read_points(_find_any(one, ("cat", "xVal"))) for one in series]
    labels = next((one for one in categories if one), {})
    indexes = sorted({index for one in (labels, *values) for index in one})
    rows = [[labels.get(at, ""), *(one.get(at, "") for one in values)] for at in indexes]
    text = f"Chart: {', '.join(filter(None, titles))}" if any(titles) else ""
    shown, rest = rows[:MAX_POINTS], chain.from_iterable(rows[MAX_POINTS:])
    return Graphic(text=text, rows=[["", *names], *shown] if rows else [], rest=" ".join(rest))


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
