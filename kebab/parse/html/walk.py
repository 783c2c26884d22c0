"""Converts serialised HTML to the parts of a document, in one pass over its tags."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import TypeAlias

from kebab.parse.html.flow import Flow
from kebab.parse.html.links import find_target
from kebab.parse.html.page import slice_tags
from kebab.parse.html.tags import BLOCKS, NOT_CONTENT, is_left_out
from kebab.parse.html.words import (
    BREAK,
    CODE,
    SUPERSCRIPT,
    find_alternative,
    find_code_language,
    unescape,
)
from kebab.parse.text_builder import TextBuilder

_TOKEN = re.compile("<([^>]*)>([^<]*)")
"""A tag without its brackets, and the text behind it."""

_LAYOUT = (' role="presentation"', ' role="none"')
_TITLE_CLASS = re.compile(' class="(?:[^"]* )?(?:MsoTitle|title)(?: [^"]*)?"')
_CLASS = re.compile(' class="([^"]+)"')
_START = re.compile(r' start="(\d{1,6})"')
_LINE_ENDS = frozenset({"br", "/div", "/p", "/li", "/tr"})
_MAX_LINKS = 5_000
_MAX_KNOWN_TAGS = 4_000
_UNKNOWN = object()

Action: TypeAlias = Callable[[str, str], bool | None]
"""What a tag does, given the tag and the text behind it; True when it has taken the text."""


class Walker:
    """Writes the content of pages into a builder."""

    def __init__(
        self,
        builder: TextBuilder,
        heading_classes: Mapping[str, int] | None = None,
        *,
        level: int = 0,
    ) -> None:
        """Prepare for a builder; paragraphs of `heading_classes` are headings of these levels.

        All headings are put `level` levels lower.
        """
        self._flow = Flow(builder, level)
        self._heading_classes = heading_classes or {}
        self._tokens: Iterator[tuple[str, str]] = iter(())
        self._known: dict[str, Action | None] = {}
        self._actions = self._list_actions()
        self._language = ""
        self._links: dict[str, None] = {}

    @property
    def first_heading(self) -> str:
        """The first heading of the content, empty when there is none."""
        return self._flow.first_heading

    @property
    def links(self) -> tuple[str, ...]:
        """The targets of the links to other files, each once."""
        return tuple(self._links)

    def walk(self, html: str) -> None:
        """Write the content of serialised HTML."""
        self._tokens = chain.from_iterable(map(_TOKEN.findall, slice_tags(html)))
        inline, known = self._flow.inline, self._known
        for tag, text in self._tokens:
            action = known.get(tag, _UNKNOWN)
            if action is _UNKNOWN:
                action = self._find_action(tag)
            if action is not None and action(tag, text):  # type: ignore[operator]
                continue
            if text and (inline or not text.isspace()):
                inline.append(text)
        self._flow.finish()

    def _find_action(self, tag: str) -> Action | None:
        """Return what a tag does, and remember it for equal tags."""
        name, _, attributes = tag.partition(" ")
        action = self._actions.get(name)
        if attributes and is_left_out(name, tag):
            action = self._skip
        if name == "a" and "noteref" in attributes:
            action = self._write_mark(SUPERSCRIPT)
        if name == "a" and action is None and len(self._links) < _MAX_LINKS:
            target = find_target(tag)
            if target:
                self._links[target] = None
        if len(self._known) >= _MAX_KNOWN_TAGS:
            self._known.clear()
        self._known[tag] = action
        return action

    def _list_actions(self) -> dict[str, Action]:
        """Return the actions of start tags and end tags by name."""
        flow = self._flow
        actions: dict[str, Action] = dict.fromkeys(NOT_CONTENT, self._skip)
        for name in BLOCKS:
            actions[name] = actions[f"/{name}"] = flow.end_paragraph
        for level in range(1, 7):
            actions[f"h{level}"] = partial(flow.begin_heading, level)
            actions[f"/h{level}"] = flow.end_heading
        for name, mark in (("br", BREAK), ("sup", SUPERSCRIPT), ("q", '"'), ("/q", '"')):
            actions[name] = self._write_mark(mark)
        for name in ("code", "tt"):
            actions[name] = actions[f"/{name}"] = self._write_mark(CODE)
        return actions | self._list_part_actions()

    def _list_part_actions(self) -> dict[str, Action]:
        """Return the actions of the tags that begin and end parts of a document."""
        flow = self._flow
        return {
            "pre": self._read_code,
            "div": self._begin_division,
            "p": self._begin_paragraph,
            "/p": self._end_paragraph,
            "ul": partial(flow.begin_list, None),
            "/ul": flow.end_list,
            "ol": self._begin_ordered_list,
            "/ol": flow.end_list,
            "li": flow.begin_item,
            "/li": flow.end_paragraph,
            "dl": flow.begin_definitions,
            "/dl": flow.end_definitions,
            "dt": self._begin_term,
            "/dt": flow.end_term,
            "blockquote": flow.begin_quote,
            "/blockquote": flow.end_quote,
            "table": self._begin_table,
            "/table": flow.end_table,
            "tr": flow.begin_row,
            "/tr": flow.end_paragraph,
            "td": self._begin_cell,
            "th": self._begin_cell,
            "/td": flow.end_cell,
            "/th": flow.end_cell,
            "img": self._add_image,
            "input": self._add_checkbox,
            "math": self._read_formula,
            "en-todo": self._add_task,
            "en-crypt": self._skip,
            "dialog": self._begin_dialog,
        }

    def _write_mark(self, mark: str) -> Action:
        inline = self._flow.inline

        def write(*_: str) -> None:
            inline.append(mark)

        return write

    def _skip(self, tag: str, text: str) -> bool:
        """Leave out an element."""
        del text
        name = tag.partition(" ")[0]
        if f"/{name}" in self._actions and name not in {"code", "tt", "q"}:
            self._flow.end_paragraph()
        self._flow.inline.append(self._find_end(name))
        return True

    def _find_end(self, name: str) -> str:
        """Read to the end of an element, and return the text behind it."""
        depth, start, end = 1, f"{name} ", f"/{name}"
        for tag, text in self._tokens:
            if tag == end:
                depth -= 1
                if not depth:
                    return text
            elif tag == name or tag.startswith(start):
                depth += 1
        return ""

    def _read_code(self, tag: str, text: str) -> bool:
        """Read preformatted text."""
        end, parts, tail = f"/{tag.partition(' ')[0]}", [text], ""
        language, codes = find_code_language(tag), 0
        for inner, behind in self._tokens:
            if inner == end:
                tail = behind
                break
            if inner[:4] == "code":
                language = language or find_code_language(inner)
                codes += 1
            if inner in _LINE_ENDS or (codes > 1 and inner[:4] == "code"):
                _end_line(parts, always=inner == "br")
            parts.append(self._skip_in_code(inner, behind))
        language, self._language = language or self._language, ""
        is_code = bool(codes or language or "class=" in tag)
        self._flow.add_code(unescape("".join(parts)), language, code=is_code)
        self._flow.inline.append(tail)
        return True

    def _skip_in_code(self, tag: str, text: str) -> str:
        """Return the text behind a tag, or behind the end of an element that is no content."""
        action = self._known.get(tag, _UNKNOWN)
        if action is _UNKNOWN:
            action = self._find_action(tag)
        return self._find_end(tag.partition(" ")[0]) if action == self._skip else text

    def _read_formula(self, tag: str, text: str) -> bool:
        """Read a formula: its TeX where it is given, else its characters."""
        del tag
        texts = [text]
        annotation: list[str] = []
        tail = ""
        for inner, behind in self._tokens:
            if inner == "/math":
                tail = behind
                break
            (annotation if inner.startswith("annotation") else texts).append(behind)
        self._flow.inline += [f"${annotation[0].strip()}$" if annotation else "".join(texts), tail]
        return True

    def _begin_division(self, tag: str, text: str) -> None:
        del text
        self._flow.end_paragraph()
        if "highlight" in tag or "sourceCode" in tag or "language-" in tag:
            self._language = find_code_language(tag) or self._language

    def _begin_paragraph(self, tag: str, text: str) -> None:
        del text
        self._flow.end_paragraph()
        found = _CLASS.search(tag)
        if found:
            title = 1 if _TITLE_CLASS.search(tag) else 0
            levels = (self._heading_classes.get(name, 0) for name in found[1].split())
            level = title or max(levels, default=0)
            if level:
                self._flow.begin_heading(level)

    def _end_paragraph(self, *_: str) -> None:
        self._flow.end_heading()
        self._flow.end_paragraph()

    def _begin_ordered_list(self, tag: str, text: str) -> None:
        del text
        found = _START.search(tag)
        self._flow.begin_list(int(found[1]) if found else 1)

    def _begin_term(self, tag: str, text: str) -> None:
        del text
        self._flow.begin_term(signature=" id=" in tag and 'class="sig' in tag)

    def _begin_table(self, tag: str, text: str) -> None:
        del text
        self._flow.begin_table(layout=any(sign in tag for sign in _LAYOUT))

    def _begin_cell(self, tag: str, text: str) -> None:
        del text
        self._flow.begin_cell(tag)

    def _add_image(self, tag: str, text: str) -> None:
        del text
        alternative = find_alternative(tag)
        if alternative:
            self._flow.inline.append(f" {alternative} ")

    def _add_checkbox(self, tag: str, text: str) -> None:
        del text
        if self._flow.in_list and ' type="checkbox"' in tag:
            self._flow.inline.append("[x] " if " checked" in tag else "[ ] ")

    def _add_task(self, tag: str, text: str) -> None:
        """Add the box of a task of Evernote."""
        del text
        self._flow.inline.append("[x] " if 'checked="true"' in tag else "[ ] ")

    def _begin_dialog(self, tag: str, text: str) -> bool:
        self._flow.end_paragraph()
        return " open" not in tag and self._skip(tag, text)


def _end_line(parts: list[str], *, always: bool) -> None:
    """End a line of preformatted text, unless it is at its begin already."""
    if always or parts[-1][-1:] != "\n":
        parts.append("\n")
