"""Reads the explicit markup of reStructuredText: directives, notes, targets and comments."""

import re

from kebab.core.documents import BlockKind
from kebab.parse.blocks import Span
from kebab.parse.markup.rst_blocks import FIELD, BlockScanner
from kebab.parse.markup.rst_labels import to_signature_label
from kebab.parse.text_builder import MAX_HEADING_LEVEL

_MAX_DEPTH = 24
_DIRECTIVE = re.compile(r"\.\.\s+([A-Za-z0-9](?:[\w:+.-]*[A-Za-z0-9])?) ?::(?:\s+(.*)|\Z)")
_NOTE = re.compile(r"\.\.\s+\[[^\]]+\](?:\s|\Z)")
_FILE_ENTRY = re.compile(r"(?:.*<([^<>]+)>|([^<>]+))\Z")

_OMITTED = frozenset(
    {
        "codeauthor",
        "contents",
        "currentmodule",
        "default-domain",
        "default-role",
        "highlight",
        "include",
        "index",
        "meta",
        "py:currentmodule",
        "raw",
        "role",
        "sectionauthor",
        "sectnum",
        "tabularcolumns",
        "toctree",
    }
)
_CODE = frozenset(
    {
        "code",
        "code-block",
        "console",
        "digraph",
        "doctest",
        "graph",
        "graphviz",
        "highlightlang",
        "ipython",
        "literalinclude",
        "math",
        "mermaid",
        "parsed-literal",
        "plantuml",
        "productionlist",
        "prompt",
        "sourcecode",
        "testcleanup",
        "testcode",
        "testoutput",
        "testsetup",
        "uml",
    }
)
_TABLE = frozenset({"csv-table", "flat-table", "list-table", "table"})
_TRANSPARENT = frozenset({"container", "ifconfig", "only", "rst-class"})
_FILES = frozenset({"figure", "image", "include", "literalinclude"})
_OBJECTS = frozenset(
    {
        "attribute",
        "class",
        "classmethod",
        "cmdoption",
        "confval",
        "data",
        "decorator",
        "decoratormethod",
        "describe",
        "django-admin",
        "envvar",
        "event",
        "exception",
        "fieldlookup",
        "function",
        "macro",
        "member",
        "method",
        "object",
        "opcode",
        "option",
        "property",
        "rst:directive",
        "rst:directive:option",
        "rst:role",
        "setting",
        "staticmethod",
        "struct",
        "templatefilter",
        "templatetag",
        "type",
        "var",
    }
)
_DOMAINS = frozenset({"c", "cpp", "http", "js", "py", "std"})


class RstScanner(BlockScanner):
    """Collects the blocks, fields and links of a text; call `scan` once."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.links: list[str] = []

    def _read_explicit(self, number: int, last: int, indent: int, depth: int) -> int:
        """Read a directive, a footnote, a target or a comment."""
        bare = self._lines.text[number]
        end = self._lines.find_dedent(number + 1, last, indent + 1)
        match = _DIRECTIVE.match(bare)
        if match is not None:
            return self._read_directive(match, number, end, indent, depth)
        if _NOTE.match(bare):
            return self._add(BlockKind.PARAGRAPH, number, end, indent)
        if bare == ".." and self._is_blank(number + 1, last):
            end = number + 1
        return self._omit(number, end)

    def _read_directive(
        self, match: re.Match[str], number: int, end: int, indent: int, depth: int
    ) -> int:
        name, argument = match[1].lower(), (match[2] or "").strip()
        self._collect_links(name, argument, number, end)
        if name in _OMITTED:
            return self._omit(number, end)
        kind = _get_kind(name)
        if kind is not None or depth >= _MAX_DEPTH:
            return self._add(kind or BlockKind.PARAGRAPH, number, end, indent)
        start = len(self.spans)
        if _is_object(name, argument):
            head = self._add_object(argument, number, end, indent)
        elif name in _TRANSPARENT or (name == "class" and argument):
            head = self._omit(number, self._skip_options(number + 1, end))
        else:
            head = self._skip_options(number + 1, end)
            self._add(BlockKind.PARAGRAPH, number, head, indent)
        self._scan_body(head, end, depth)
        self._join_head(start)
        return end

    def _skip_options(self, number: int, end: int) -> int:
        """Return the line behind the options of a directive."""
        while number < end and FIELD.match(self._lines.text[number]):
            number += 1
        return number

    def _scan_body(self, first: int, end: int, depth: int) -> None:
        """Read the content of a directive at its own indent."""
        indents = [indent for indent in self._lines.indents[first:end] if indent >= 0]
        if indents:
            self._scan_range(first, end, min(indents), depth + 1)

    def _join_head(self, start: int) -> None:
        """Join the line of a directive with the paragraph that begins its content."""
        if len(self.spans) < start + 2:
            return
        head, body = self.spans[start : start + 2]
        if head.kind is body.kind is BlockKind.PARAGRAPH:
            self.spans[start] = Span(None, head.first, head.first)
            self.spans[start + 1] = body._replace(first=head.first)

    def _add_object(self, signature: str, number: int, end: int, indent: int) -> int:
        """Add the signature of an object as a heading below the open section and objects."""
        head = self._lines.find_blank(number + 1, end)
        while self._objects and self._objects[-1][0] >= indent:
            self._objects.pop()
        level = min(self._level + len(self._objects) + 1, MAX_HEADING_LEVEL)
        self._objects.append((indent, len(self.spans)))
        label = to_signature_label(signature)
        self.spans.append(Span(BlockKind.HEADING, number, head, level, label))
        return head

    def _collect_links(self, name: str, argument: str, number: int, end: int) -> None:
        """Record the files that a directive names."""
        if name in _FILES and argument and "://" not in argument:
            self.links.append(argument)
        if name == "toctree":
            for entry in self._lines.text[number + 1 : end]:
                match = _FILE_ENTRY.match(entry)
                target = (match[1] or match[2]).strip() if match else ""
                if target and not FIELD.match(entry) and target != "self" and "://" not in target:
                    self.links.append(target)


def _get_kind(name: str) -> BlockKind | None:
    """Return the kind of a directive whose content has no blocks of its own."""
    if name in _CODE:
        return BlockKind.CODE
    return BlockKind.TABLE if name in _TABLE else None


def _is_object(name: str, signature: str) -> bool:
    """Return whether a directive describes an object, e.g. a function or an option.

    Without a domain `class` is a style when its argument looks like no name of a class.
    """
    domain, _, base = name.rpartition(":")
    known = name in _OBJECTS or (domain in _DOMAINS and base in _OBJECTS)
    if not known or not signature:
        return False
    return name != "class" or not signature.islower() or "(" in signature or "." in signature
