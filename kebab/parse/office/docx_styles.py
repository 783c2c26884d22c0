"""Reads the styles and the numbering of Word documents: what is a heading, a list or code."""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from xml.etree.ElementTree import Element

from kebab.parse.xml_events import find_child, get_attribute, get_local_tag, list_children

_HEADING = re.compile(
    r"(?:heading|제목|개요|見出し|标题|標題|überschrift|titre|título|titolo|заголовок|kop|rubrik|nagłówek"
    r"|nadpis|címsor|overskrift|otsikko|başlık)\s*(\d)",  # noqa: RUF001 - Turkish
    re.IGNORECASE,
)
"""Names of heading styles: Word stores the English ones, other programs their own."""

_TITLE = frozenset({"title", "제목", "표제", "表題", "标题", "標題", "titel", "titre"})
_CODE = re.compile(
    r"(?i)source ?code|html preformatted|preformatted text|code(?: ?block)?|macro(?: text)?"
)
_QUOTE = re.compile(r"(?i)(?:intense )?quote|block ?text|quotations?")
_CONTENTS = re.compile(
    r"(?i)toc \d|toc heading|contents \d|contents heading|table of figures|목차 \d|目次 \d"
)
_LIST = re.compile(r"(?i)list (?:bullet|number) (\d)")
_MAX_BASES = 20
_MAX_LEVEL = 9


class Numbering(NamedTuple):
    """The place of a paragraph in a numbered list: the id of the list, and the depth from 0."""

    number: str
    depth: int


@dataclass(frozen=True, slots=True)
class Style:
    """What a style of paragraphs means; `outline` is the level of a heading from 1, else 0."""

    name: str = ""
    outline: int = 0
    numbering: Numbering | None = None

    @property
    def is_title(self) -> bool:
        """Return whether the style is that of a document's title."""
        return self.name.casefold() in _TITLE

    @property
    def is_code(self) -> bool:
        """Return whether the style is one of program code."""
        return _CODE.fullmatch(self.name) is not None

    @property
    def is_quote(self) -> bool:
        """Return whether the style is one of quotations."""
        return _QUOTE.fullmatch(self.name) is not None

    @property
    def is_contents(self) -> bool:
        """Return whether the style is one of a table of contents, which repeats headings."""
        return _CONTENTS.fullmatch(self.name) is not None


NO_STYLE = Style()
"""The style of a paragraph that names none."""


def read_styles(root: Element | None) -> Mapping[str, Style]:
    """Return the styles of paragraphs by id, each with what it inherits."""
    raw = {
        get_attribute(one, "styleId"): one
        for one in list_children(root)
        if get_local_tag(one.tag) == "style"
    }
    return {name: _resolve_style(name, raw) for name in raw}


def _resolve_style(name: str, raw: Mapping[str, Element]) -> Style:
    """Return a style; the nearest of it and its bases decides each property."""
    label, outline, numbering = "", 0, None
    current: str | None = name
    for _ in range(_MAX_BASES):
        element = raw.get(current or "")
        if element is None:
            break
        title = get_value(element, "name")
        label = label or title
        properties = find_child(element, "pPr")
        outline = outline or read_outline(properties) or _read_heading_name(title)
        numbering = numbering or read_numbering(properties, title)
        current = get_value(element, "basedOn")
    return Style(label, 0 if outline > _MAX_LEVEL else outline, numbering)


def _read_heading_name(name: str) -> int:
    match = _HEADING.fullmatch(name.strip())
    return int(match[1]) if match else 0


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


@dataclass(slots=True)
class Lists:
    """The lists of a document, which count their paragraphs."""

    levels: dict[str, dict[int, _Level]] = field(default_factory=dict)
    shared: dict[str, str] = field(default_factory=dict)
    """By the id of a list, the id of the counters that it shares with others."""
    counters: dict[str, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))

    def format_next(self, numbering: Numbering) -> str:
        """Count a paragraph and return its label, e.g. `2.1`; empty for a bullet."""
        levels = self.levels.get(numbering.number, {})
        level = levels.get(numbering.depth)
        counters = self.counters[self.shared.get(numbering.number, numbering.number)]
        if level is None:
            return ""
        counters[numbering.depth] = counters.get(numbering.depth, level.start - 1) + 1
        for deeper in [depth for depth in counters if depth > numbering.depth]:
            del counters[deeper]
        if level.form in {"bullet", "none"}:
            return ""
        return re.sub(r"%(\d)", lambda match: _format_level(levels, counters, match), level.text)


def _format_level(
    levels: Mapping[int, _Level], counters: Mapping[int, int], match: re.Match[str]
) -> str:
    depth = int(match[1]) - 1
    level = levels.get(depth, _Level())
    return format_number(counters.get(depth, level.start), level.form)


def read_lists(root: Element | None) -> Lists:
    """Return the lists that a document defines."""
    lists, abstract = Lists(), {}
    for element in list_children(root):
        tag = get_local_tag(element.tag)
        if tag == "abstractNum":
            abstract[get_attribute(element, "abstractNumId")] = _read_levels(element)
        elif tag == "num":
            number, base = get_attribute(element, "numId"), get_value(element, "abstractNumId")
            lists.levels[number] = dict(abstract.get(base, {}))
            overrides = [one for one in element if get_local_tag(one.tag) == "lvlOverride"]
            lists.shared[number] = f"own {number}" if overrides else base
            for override in overrides:
                lists.levels[number] |= _read_levels(override)
    return lists


def _read_levels(element: Element) -> dict[int, _Level]:
    levels = {}
    for child in element:
        depth, start = get_attribute(child, "ilvl"), get_value(child, "start")
        if get_local_tag(child.tag) == "lvl" and depth.isdecimal():
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
        roman = _format_roman(number)
        return roman.upper() if form == "upperRoman" else roman
    alphabet = _ALPHABETS.get(form, "")
    if 0 < number <= len(alphabet):
        return alphabet[number - 1]
    return str(number)


def _format_roman(number: int) -> str:
    text = ""
    for value, letters in _ROMAN:
        text += letters * (number // value)
        number %= value
    return text
