"""Reads HTML files: web pages, documentation, and what other programs export as HTML.

Every function that reads HTML raises `ValueError` when the library refuses it, and
`DependencyMissing` without the library.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from html import unescape
from typing import NamedTuple, TypeAlias
from urllib.parse import unquote
from xml.etree.ElementTree import Element, SubElement

from kebab.core.documents import Metadata, ParsedDocument
from kebab.limits.deadline import build_refusal
from kebab.parse.blocks import TextBuilder
from kebab.parse.formulas import END, NOTE, SUBSCRIPT, SUPERSCRIPT, read_equation, write_scripts
from kebab.parse.web.html_flow import (
    BREAK,
    CODE,
    Flow,
    clean_line,
    find_alternative,
    find_code_language,
)
from kebab.parse.web.html_page import (
    BLOCKS,
    DROP,
    NOT_CONTENT,
    VOID,
    Page,
    decode_html,
    get_attribute,
    is_left_out,
    read_metadata,
    shorten_title,
)

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


def find_target(tag: str) -> str:
    """Return the file that the tag of a link names; empty for other targets."""
    value = get_attribute(tag, "href")
    if not value or value[0] == "#" or _SCHEME.match(value):
        return ""
    return unquote(unescape(value.partition("#")[0].partition("?")[0])).strip()


_TOKEN = re.compile("<([^>]*)>([^<]*)")
"""A tag without its brackets, and the text behind it."""

_ATTRIBUTE = re.compile(' ([a-z]+)="([^"]*)"')
_SCRIPT_TAGS = {"sup": SUPERSCRIPT, "/sup": END, "sub": SUBSCRIPT, "/sub": END}
_LAYOUT = (' role="presentation"', ' role="none"')
_TITLE_CLASS = re.compile(' class="(?:[^"]* )?(?:MsoTitle|title)(?: [^"]*)?"')
_START = re.compile(r' start="(\d{1,6})"')
_LINE_ENDS = frozenset({"br", "/div", "/p", "/li", "/tr"})
_MAX_LINKS = 5_000
_MAX_KNOWN_TAGS = 4_000
_UNKNOWN = object()
_NEVER_SHOWN = frozenset({"colgroup", "head", "rp"})

Action: TypeAlias = Callable[[str, str], bool | None]
"""What a tag does, given the tag and the text behind it; True when it has taken the text."""


class Walker:
    """Writes the content of pages into a builder."""

    def __init__(self, builder: TextBuilder, level: int = 0) -> None:
        """Prepare for a builder; all headings are put `level` levels lower."""
        self.flow = Flow(builder, level)
        self.links: dict[str, None] = {}
        """The targets of the links to other files, each once."""
        self._tokens: Iterator[tuple[str, str]] = iter(())
        self._known: dict[str, Action | None] = {}
        self._actions = self._list_actions()
        self._language = ""

    def walk(self, html: str) -> None:
        """Write the content of serialised HTML."""
        self._tokens = ((one[1], one[2]) for one in _TOKEN.finditer(html))
        inline, known = self.flow.inline, self._known
        for tag, text in self._tokens:
            action = known.get(tag, _UNKNOWN)
            if action is _UNKNOWN:
                action = self._find_action(tag)
            if action is not None and action(tag, text):  # type: ignore[operator]
                continue
            if text and (inline or not text.isspace()):
                inline.append(text)
        self.flow.finish()

    def _find_action(self, tag: str) -> Action | None:
        """Return what a tag does, and remember it for equal tags."""
        name, _, attributes = tag.partition(" ")
        action = self._actions.get(name)
        if attributes and is_left_out(name, tag):
            action = self._skip
        if name == "a" and action is None and ("noteref" in attributes or 'href="#' in attributes):
            action = self._begin_note_mark
        if name == "a" and action is None and len(self.links) < _MAX_LINKS:
            target = find_target(tag)
            if target:
                self.links[target] = None
        if len(self._known) >= _MAX_KNOWN_TAGS:
            self._known.clear()
        self._known[tag] = action
        return action

    def _list_actions(self) -> dict[str, Action]:
        flow = self.flow
        actions: dict[str, Action] = dict.fromkeys(NOT_CONTENT, self._skip)
        for name in BLOCKS:
            actions[name] = actions[f"/{name}"] = flow.end_paragraph
        for level in range(1, 7):
            actions[f"h{level}"] = partial(flow.begin_heading, level)
            actions[f"/h{level}"] = flow.end_heading
        for name, mark in (("br", BREAK), ("q", '"'), ("/q", '"'), *_SCRIPT_TAGS.items()):
            actions[name] = self._write_mark(mark)
        for name in ("code", "tt"):
            actions[name] = actions[f"/{name}"] = self._write_mark(CODE)
        return actions | {
            "pre": self._read_code,
            "div": self._begin_division,
            "p": self._begin_paragraph,
            "/p": self._end_paragraph,
            "ul": partial(flow.begin_list, None),
            "/ul": flow.end_list,
            "ol": lambda tag, _: flow.begin_list(int((_START.search(tag) or "11")[1])),
            "/ol": flow.end_list,
            "li": flow.begin_item,
            "/li": flow.end_paragraph,
            "dl": partial(flow.change_definitions, 1),
            "/dl": partial(flow.change_definitions, -1),
            "dt": lambda tag, _: flow.begin_term(signature=" id=" in tag and 'class="sig' in tag),
            "/dt": flow.end_term,
            "blockquote": flow.begin_quote,
            "/blockquote": flow.end_quote,
            "table": lambda tag, _: flow.begin_table(layout=any(sign in tag for sign in _LAYOUT)),
            "/table": flow.end_table,
            "tr": flow.begin_row,
            "/tr": flow.end_paragraph,
            "td": flow.begin_cell,
            "th": flow.begin_cell,
            "/td": flow.end_cell,
            "/th": flow.end_cell,
            "img": lambda tag, _: flow.inline.append(
                f" {alternative} " if (alternative := find_alternative(tag)) else ""
            ),
            "input": self._add_checkbox,
            **dict.fromkeys(("math", "m:math", "mml:math"), self._read_formula),
            **dict.fromkeys(("svg", "/svg"), flow.end_paragraph),
            **dict.fromkeys(("text", "foreignobject", "foreignObject"), self._write_mark(BREAK)),
            "tspan": lambda tag, _: flow.inline.append(
                " " if " x=" in tag or " dy=" in tag else ""
            ),
            "en-todo": lambda tag, _: flow.inline.append(
                "[x] " if 'checked="true"' in tag else "[ ] "
            ),
            "en-crypt": self._skip,
            "button": self._begin_button,
        }

    def _write_mark(self, mark: str) -> Action:
        return lambda *_: self.flow.inline.append(mark)

    def _skip(self, tag: str, text: str) -> bool:
        name = tag.partition(" ")[0]
        if f"/{name}" in self._actions and name not in {"code", "tt", "q"}:
            self.flow.end_paragraph()
        self.flow.inline.append(self._find_end(tag, text))
        return True

    def _find_end(self, opening: str, inside: str) -> str:
        """Read to the end of an element, and return the text behind it; keep what it shows."""
        name = opening.partition(" ")[0]
        depth, start, end, texts = 1, f"{name} ", f"/{name}", [inside]
        is_known = DROP in opening or name in _NEVER_SHOWN  # of marked elements the page knows
        for tag, text in self._tokens:
            if tag == end:
                depth -= 1
                if not depth:
                    left_out = "" if is_known else clean_line(" ".join(texts))
                    self.flow.leave_out("controls and page furniture", left_out)
                    return text
            texts.append(text)
            if tag == end:
                continue
            if tag == name or tag.startswith(start):
                depth += 1
        return ""

    def _read_code(self, tag: str, text: str) -> bool:
        end, parts, tail = f"/{tag.partition(' ')[0]}", [text], ""
        language, codes = find_code_language(tag), 0
        for inner, behind in self._tokens:
            if inner == end:
                tail = behind
                break
            if inner[:4] == "code":
                language = language or find_code_language(inner)
                codes += 1
            if inner in _SCRIPT_TAGS:
                parts.append(_SCRIPT_TAGS[inner])
            ends_line = inner in _LINE_ENDS or (codes > 1 and inner[:4] == "code")
            if ends_line and (inner == "br" or parts[-1][-1:] != "\n"):
                parts.append("\n")
            action = self._known.get(inner, _UNKNOWN)
            action = self._find_action(inner) if action is _UNKNOWN else action
            is_left_out = action in {self._skip, self._begin_button}
            parts.append(self._find_end(inner, behind) if is_left_out else behind)
        language, self._language = language or self._language, ""
        is_code = bool(codes or language or "class=" in tag)
        code = write_scripts(unescape("".join(parts)).replace("\u00a0", " "))
        self.flow.add_code(code, language, code=is_code)
        self.flow.inline.append(tail)
        return True

    def _begin_note_mark(self, tag: str, text: str) -> bool:
        """Mark a raised link within the page as the mark of a note."""
        inline, is_note = self.flow.inline, "noteref" in tag
        if is_note and text.strip() and inline[-1:] != [SUPERSCRIPT]:
            inline += [SUPERSCRIPT, NOTE, text, END]
            return True
        inline.append(NOTE)
        return False

    def _read_formula(self, tag: str, text: str) -> bool:
        root = Element("math")
        root.text, tail, opened = text, "", [root]
        for inner, behind in self._tokens:
            if inner == f"/{tag.partition(' ')[0]}":
                tail = behind
                break
            if inner.startswith("/"):
                closed = opened.pop() if len(opened) > 1 else root
                closed.tail = unescape(behind)
            else:
                name = inner.partition(" ")[0].rpartition(":")[2]
                child = SubElement(opened[-1], name, dict(_ATTRIBUTE.findall(inner)))
                child.text = unescape(behind)
                if name not in VOID:
                    opened.append(child)
        self.flow.inline += [read_equation(root), tail]
        return True

    def _begin_division(self, tag: str, _text: str) -> None:
        self.flow.end_paragraph()
        if "highlight" in tag or "sourceCode" in tag or "language-" in tag:
            self._language = find_code_language(tag) or self._language

    def _begin_paragraph(self, tag: str, _text: str) -> None:
        self.flow.end_paragraph()
        if _TITLE_CLASS.search(tag):
            self.flow.begin_heading(1)

    def _end_paragraph(self, *_: str) -> None:
        self.flow.end_heading()
        self.flow.end_paragraph()

    def _add_checkbox(self, tag: str, _text: str) -> None:
        if self.flow.lists and ' type="checkbox"' in tag:
            self.flow.inline.append("[x] " if " checked" in tag else "[ ] ")

    def _begin_button(self, tag: str, text: str) -> bool:
        """Skip a button, but for one that is a heading, or that shows the panel that it heads."""
        is_switch = ("aria-expanded" in tag or "aria-controls" in tag) and "haspopup" not in tag
        return not (is_switch or self.flow.heading) and self._skip(tag, text)


class PageParts(NamedTuple):
    """The parts of a page, what its head says, and its links."""

    builder: TextBuilder
    metadata: Metadata
    links: tuple[str, ...]


class HtmlParser:
    """Parses HTML: the content of a page as structured text."""

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document."""
        decoded = decode_html(data)
        try:
            parts = read_parts(decoded.text)
        except ValueError as fault:
            raise build_refusal(f"damaged: {fault}") from fault
        document = parts.builder.build(
            path, parts.metadata, warnings=decoded.warnings, links=parts.links
        )
        return document._replace(encoding=decoded.encoding)


def read_parts(text: str) -> PageParts:
    """Return the content of a page, and what its head says."""
    builder = TextBuilder()
    page = Page(text)
    metadata = read_metadata(page.tree)
    walker = Walker(builder)
    walker.walk(page.extract_content())
    if not builder.length:
        builder = TextBuilder()
        walker = Walker(builder)
        walker.walk(page.extract_body())
    page.leave_out(builder)
    if metadata.title:
        title = shorten_title(metadata.title, [walker.flow.first_heading])
        metadata = metadata._replace(title=title)
    return PageParts(builder, metadata, tuple(walker.links))


def add_fragment(builder: TextBuilder, text: str, level: int = 0, *, hidden: bool = False) -> None:
    """Add all content of a piece of HTML.

    Its headings are put `level` levels lower. With `hidden` elements that a browser does not show
    are added as well.
    """
    page = Page(text)
    Walker(builder, level=level).walk(page.extract_body(hidden=hidden))
    page.leave_out(builder, is_part=True)


def list_anchors(text: str) -> list[tuple[str, str]]:
    """Return the targets and the texts of the links in the first table of contents of a page."""
    nav = Page(text).tree.css_first("nav")
    links = nav.css("a[href]") if nav is not None else []
    return [(node.attributes["href"] or "", " ".join(node.text().split())) for node in links]
