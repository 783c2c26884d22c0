"""Reads what files of office programs have in common: parts, properties, styles and slides."""

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from typing import NamedTuple
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from kebab.core.documents import Metadata
from kebab.limits.deadline import build_failure
from kebab.parse.archive import (
    ENCRYPTED,
    Archive,
    Refuse,
    find_child,
    get_attribute,
    get_local_tag,
    list_children,
    read_tree,
)
from kebab.parse.blocks import TextBuilder
from kebab.parse.formulas import write_scripts
from kebab.parse.metadata import list_unique, read_language, split_authors, split_keywords
from kebab.text.dates import parse_date

_PROGRAMS = frozenset(
    {"python-docx", "openpyxl", "python-pptx", "apache poi", "docx4j", "pptxgenjs", "un-named"}
    | {"microsoft office user", "windows user", "user", "admin", "administrator", "author"}
)
"""Creators that name a program or nobody."""

_NO_TITLE = re.compile(
    r"(?i)microsoft (?:word|powerpoint|excel) - .*|(?:powerpoint|word) (?:presentation|document)"
    r"|powerpoint .{0,12}|untitled.*|(?:document|presentation|book|slide) ?\d*|제목 없음|無題.*"
)
"""Titles that a program sets by itself."""

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


class Package:
    """The parts of an office file, and how they relate."""

    def __init__(self, data: bytes, path: str, parser: str, kind: str) -> None:
        """Open a file whose main part has the root element `kind`, e.g. `document`.

        Raises:
            ParseFailed: The file is damaged or encrypted, expands too much, or is of another kind.
        """
        self.archive = Archive(data, path, parser)
        roots = self.read_relations("").values()
        mains = [one.target for one in roots if one.kind == "officeDocument" and not one.external]
        if not mains:
            raise self.archive.refuse("damaged: it has no main part")
        self.main = mains[0]
        found = self.main.rpartition("/")[2].partition(".")[0].casefold()
        if found in _KINDS and found != kind:
            raise self.archive.refuse(f"it is {_KINDS[found]}, not {_KINDS[kind]}")

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

    def find_tree(self, name: str | None) -> Element | None:
        """Return the root of a part; None when there is no such part.

        Raises:
            ParseFailed: The part is damaged or too large.
        """
        data = self.archive.find(name) if name else None
        return None if data is None else read_tree(data, str(name), self.archive.refuse)

    def find_target(self, part: str, relation: str) -> Element | None:
        """Return the root of the part to which a part is related by an id."""
        found = self.read_relations(part).get(relation)
        return None if found is None or found.external else self.find_tree(found.target)

    def read_metadata(self) -> Metadata:
        """Return the properties of the file that people see in its information."""
        return read_properties(self.find_tree(self.find_related("", "core-properties")))


_FIELDS = {"keyword": "keywords", "date": "modified", "creation-date": "created"}
"""The names of properties in OpenDocument, and their names in packages."""


def read_properties(root: Element | None) -> Metadata:
    """Return the properties in a part of a package, or within `office:meta`."""
    fields: dict[str, str] = {}
    for element in root.iter() if root is not None else ():
        name, text = get_local_tag(element.tag), (element.text or "").strip()
        if name == "keyword":
            text = f"{fields.pop('keywords', '')}\n{text}"
        fields.setdefault(_FIELDS.get(name, name), text)
    fields["creator"] = fields.get("initial-creator") or fields.get("creator", "")
    return convert_properties(fields)


def convert_properties(fields: Mapping[str, str]) -> Metadata:
    """Return the metadata of properties by their names in packages."""
    names = split_authors(fields.get("creator", ""))
    title = fields.get("title", "").strip()
    dates = (fields.get("modified", ""), fields.get("created", ""))
    return Metadata(
        title=None if _NO_TITLE.fullmatch(title) else title or None,
        tags=list_unique(split_keywords(fields.get("keywords", ""))),
        lang=read_language(fields.get("language", "")),
        authors=list_unique(name for name in names if name.casefold() not in _PROGRAMS),
        date=next(filter(None, map(parse_date, dates)), None),
        properties=tuple(
            (name, " ".join(fields[name].split())) for name in _PROPERTIES if fields.get(name)
        ),
    )


_PROPERTIES = ("subject", "category", "contentStatus", "description", "publisher", "identifier")
"""The properties that people fill in, besides those that every document may have."""


CONTENTS = "tables of contents"
"""What the text is that repeats headings, and is left out."""

_PAGE_NUMBER = re.compile(r"\W*(?:[^\W\d]+\s+)?\d{1,5}(?:\W+(?:[^\W\d]+\W+)?\d{1,5})?\W*")
_LONGEST_PAGE_NUMBER = 40


def add_margins(builder: TextBuilder, margins: Iterable[tuple[str, Iterable[str]]]) -> None:
    """Add headers and footers of pages, each text once and without lines such as `Page 3 of 7`."""
    kinds: dict[str, str] = {}
    for kind, lines in margins:
        text = " ".join(
            line
            for line in lines
            if len(line) > _LONGEST_PAGE_NUMBER or not _PAGE_NUMBER.fullmatch(line)
        )
        kinds[text] = kind
    for text, kind in kinds.items():
        builder.add_quote(f"{kind.capitalize()}: {text}" if text else "")


@dataclass(slots=True)
class Graphic:
    """The contents of a shape: a text, a list, or a table, and a quotation below it."""

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


_MIME = "application/vnd.oasis.opendocument."
_CONTENT = "content.xml"


class OpenDocument:
    """An OpenDocument file: an archive, or one XML file with everything.

    `metadata` of one XML file is set when its properties are read.
    """

    def __init__(self, data: bytes, path: str, parser: str) -> None:
        """Open a file.

        Raises:
            ParseFailed: The file is damaged, encrypted, or expands too much.
        """
        self.refuse: Refuse = partial(build_failure, path, parser)
        """Returns the error for this file."""
        self._data = data
        self.metadata = Metadata()
        self.archive: Archive | None = None
        self.content_name = "the file"
        if not data.lstrip(b"\xef\xbb\xbf\r\n\t ").startswith(b"<"):
            self.archive = Archive(data, path, parser)
            self.content_name = _CONTENT
            if b"encryption-data" in (self.archive.find("META-INF/manifest.xml") or b""):
                raise self.refuse(ENCRYPTED)
            self.metadata = read_properties(self.find_tree("meta.xml"))

    @property
    def is_recognized(self) -> bool:
        """Return whether the file says that it is an OpenDocument file."""
        if self.archive is None:
            return True
        mime = (self.archive.find("mimetype") or b"").decode("ascii", "replace")
        return mime.startswith(_MIME) or self.archive.find_name(_CONTENT) is not None

    def read_content(self) -> bytes:
        """Return the XML with the body.

        Raises:
            ParseFailed: There is none, or it is damaged.
        """
        return self._data if self.archive is None else self.archive.read(_CONTENT)

    def find_tree(self, name: str) -> Element | None:
        """Return the root of a part; None when there is no such part."""
        data = self.archive.find(name) if self.archive else None
        return None if data is None else read_tree(data, name, self.refuse)

    def find_object(self, address: str) -> Element | None:
        """Return the content of an object in the file, such as a chart."""
        return self.find_tree(f"{address.removeprefix('./').rstrip('/')}/{_CONTENT}")


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
_MAX_BASES = 20
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
    for _ in range(_MAX_BASES):
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
    "aiueoFullWidth": "アイウエオカキクケコサシスセソタチツテトナニヌネノ",
    "iroha": "イロハニホヘトチリヌルヲワカヨタレソツネナラム",
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


def add_slide_heading(
    builder: TextBuilder, title: str, number: int, *, hidden: bool, has_text: bool
) -> None:
    """Add the heading of a slide; without a title it is its number, so that no other one holds."""
    if title.strip() or has_text:
        builder.add_heading(1, title if title.strip() else f"Slide {number}")
        if hidden:
            builder.add_paragraph("(hidden slide)")


def sort_in_lines(placed: Iterable[tuple[float, float, Element]], height: float) -> list[Element]:
    """Return the shapes at some (top, left) from top to bottom, and from left to right in a line.

    A line is what begins less than a height below its first shape.
    """
    lines: list[list[tuple[float, Element]]] = []
    begin = 0.0
    for top, left, shape in sorted(placed, key=itemgetter(0)):
        if not lines or top - begin >= height:
            lines.append([])
            begin = top
        lines[-1].append((left, shape))
    return [shape for line in lines for _, shape in sorted(line, key=itemgetter(0))]


def describe_hidden_slides(numbers: Sequence[int]) -> list[str]:
    """Return the warning about hidden slides, none without them."""
    if not numbers:
        return []
    if len(numbers) == 1:
        return [f"slide {numbers[0]} is hidden"]
    *others, last = map(str, numbers)
    return [f"slides {', '.join(others)} and {last} are hidden"]
