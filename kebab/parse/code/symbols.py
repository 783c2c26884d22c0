"""Finds the symbols of source code, and cuts its lines into blocks along them.

The library is an extra, so this module is imported only when such code is read.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from kebab.core.documents import BlockKind
from kebab.errors.system import translate_import_errors
from kebab.parse.blocks import Span
from kebab.parse.code.languages import SYNTAXES, Syntax

FEATURE = "reading source code"
PACKAGE = "tree-sitter"
EXTRA = "code"

with translate_import_errors(FEATURE, PACKAGE, EXTRA):
    from tree_sitter import Language, Node, Parser, Query, QueryCursor

_DEEPEST_HEADING = 6
_DEEPEST_BLOCK = 40
"""How deep blocks of blocks are searched; deeper code is part of the symbol around it."""
_LONG_VALUE = 4
_LONG_TYPE = 2
_LONG_IMPORTS = 3
_MAX_NAME_CHARS = 80
_NAME = re.compile(r"[\w$~@.:<>,*&\[\]() +=!/?\"'-]+")
_CLOSERS = re.compile(
    r"(?:[\])}>;,{:\s]|\b(?:end(?:if)?|fi|else|try|finally)\b|# *(?:endif|else))+(?:(?://|/\*|#|--).*)?"
)


class Symbol(NamedTuple):
    """A named part of the code, on the lines [first, last), 0-based.

    The lines to `body` are comments, attributes and the signature. `node` is the syntax of a
    symbol with further symbols inside, else None.
    """

    name: str
    first: int
    body: int
    last: int
    node: Node | None


class Tag(NamedTuple):
    """What the query of a language says of a node: its name, the kind of symbol, its last node."""

    name: str
    kind: str
    end: Node


def load_grammar(language: str) -> Language:
    """Return the grammar of a language.

    Raises:
        DependencyMissing: It is not installed.
    """
    module, _, function = SYNTAXES[language].grammar.partition(".")
    with translate_import_errors(FEATURE, PACKAGE, EXTRA):
        grammar: object = getattr(import_module(module), function)()
        return Language(grammar)


@cache
def load_parser(language: str) -> tuple[Parser, Query | None]:
    """Return the parser of a language, and the query of its symbols if it has one.

    Raises:
        DependencyMissing: Its grammar is not installed.
    """
    grammar = load_grammar(language)
    tags = Path(__file__).with_name("tags") / f"{language}.scm"
    return Parser(grammar), Query(grammar, tags.read_text("utf-8")) if tags.exists() else None


def find_spans(source: bytes, language: str) -> list[Span]:
    """Return the code as spans of lines: a heading for each symbol, and code."""
    parser, query = load_parser(language)
    root = parser.parse(source).root_node
    tags = _find_tags(root, query) if query else {}
    finder = SymbolFinder(SYNTAXES[language], source.split(b"\n"), root, tags)
    return list(finder.cut_scope(root, 1, 0, len(finder.lines)))


_KINDS = ("container", "function", "value")
"""The captures of a symbol; the first that a node has counts."""
_TAG_NAME = re.compile(r"[^\s({<]+")


def _find_tags(root: Node, query: Query) -> dict[int, Tag]:
    """Return what a query says of the nodes of a tree, by their ids.

    A name that is a whole signature ends where its parameters begin. Several names, such as those
    of a block of Terraform, are joined by dots.
    """
    tags: dict[int, Tag] = {}
    for _, captures in QueryCursor(query).matches(root):
        kind = next(kind for kind in _KINDS if kind in captures)
        node = captures[kind][0]
        texts = [(one.text or b"").decode("utf-8", "replace") for one in captures["name"]]
        bare = [text.strip("\"'") for text in texts]
        found = [_TAG_NAME.match(text) for text in bare]
        name = ".".join(one[0] for one in found if one)
        if len(texts) == 1 and texts[0][:1] in "\"'":
            name = bare[0]  # the description of a test, with its blanks
        known = tags.get(node.id)
        if known is None or _KINDS.index(kind) < _KINDS.index(known.kind):
            tags[node.id] = Tag(name, kind, captures.get("end", [node])[-1])
    return tags


class SymbolFinder:
    """Finds the symbols in the syntax tree of a file."""

    def __init__(
        self, syntax: Syntax, lines: Sequence[bytes], root: Node, tags: Mapping[int, Tag]
    ) -> None:
        """Search lines of code, whose tree has tags by the ids of its nodes."""
        self.lines = lines
        self._syntax = syntax
        self._tags = tags
        self._functions = syntax.functions
        self._symbols = syntax.functions.union(
            syntax.containers, syntax.types, syntax.values, syntax.holders
        )
        self._inside = syntax.wrappers | syntax.blocks | {"ERROR"}
        self._imports = self._find_imports(root)

    def cut_scope(self, node: Node, level: int, first: int, last: int) -> Iterator[Span]:
        """Yield the spans of the lines of a scope, whose symbols get headings of a level."""
        done = first
        for symbol in self._list_symbols(node):
            if symbol.first < done or symbol.last > last:
                continue  # it shares a line with what is before it
            yield from self._cut_rest(level, done, symbol.first)
            whole = level if symbol.body == symbol.last else 0
            yield Span(BlockKind.HEADING, symbol.first, symbol.body, level, symbol.name, whole)
            if symbol.node is not None and level < _DEEPEST_HEADING:
                yield from self.cut_scope(symbol.node, level + 1, symbol.body, symbol.last)
            elif symbol.body < symbol.last:
                yield Span(BlockKind.CODE, symbol.body, symbol.last)
            done = symbol.last
        yield from self._cut_rest(level, done, last)

    def _list_symbols(self, scope: Node) -> list[Symbol]:
        """Return the symbols of a scope; the clauses of one name are one symbol."""
        found: list[Symbol] = []
        for symbol in self._find_symbols(self._list_members(scope), 0):
            before = found[-1] if found and self._syntax.has_clauses else None
            if before and before.name == symbol.name and not (before.node or symbol.node):
                found[-1] = before._replace(last=symbol.last)
            else:
                found.append(symbol)
        return found

    def _cut_rest(self, level: int, first: int, last: int) -> Iterator[Span]:
        """Yield lines that belong to no symbol inside the scope; imports are a span of their own.

        Lines that only close something are left out.
        """
        while first < last and _closes_only(self.lines[first]):
            first += 1
        while first < last and _closes_only(self.lines[last - 1]):
            last -= 1
        marks = sorted({first, last, *(mark for mark in self._imports if first < mark < last)})
        for start, end in pairwise(marks):
            yield Span(BlockKind.CODE, start, end, ends=level)

    def _find_symbols(self, nodes: Iterable[Node], depth: int) -> Iterator[Symbol]:
        """Yield the symbols among nodes and in their blocks, each with the comments above it."""
        lead, above = -1, -1
        for node in nodes:
            first, end = node.start_point[0], self._get_end(node)
            if node.type in self._syntax.leads:
                if lead < 0 or first > above:
                    lead = first if first >= above else -1
                above = end
                continue
            start = lead if lead >= 0 and first == above else first
            lead, above = -1, end
            symbol = None
            if node.id in self._tags:
                symbol = self._build_tagged(node, self._tags[node.id], start)
            elif node.type in self._symbols:
                symbol = self._build_symbol(node, start, end)
            if symbol is not None:
                yield symbol
            elif depth < _DEEPEST_BLOCK and self._is_searched(node):
                found = self._find_symbols(self._list_members(node), depth + 1)
                yield from _wrap(list(found), start, end) if self._is_wrapper(node) else found

    def _is_wrapper(self, node: Node) -> bool:
        """Return whether the lines of a node belong to the symbols right inside it."""
        wrappers = self._syntax.wrappers
        kinds = {child.type for child in node.named_children} if node.type in wrappers else set()
        return not kinds.isdisjoint(self._symbols | wrappers)

    def _is_searched(self, node: Node) -> bool:
        """Return whether there may be symbols inside a node that is none itself."""
        kind = node.type
        anonymous = kind in self._functions and node.child_by_field_name("name") is None
        return kind in self._inside or kind in self._syntax.holders or anonymous

    def _build_symbol(self, node: Node, first: int, last: int) -> Symbol | None:
        syntax, value = self._syntax, node
        if node.type in syntax.holders:
            value = node.child_by_field_name(syntax.holders[node.type]) or node
        name = self._find_name(node)
        own = node.start_point[0]
        if name is None or last - own < self._find_least_lines(value):
            return None
        body = max(own + 1, min(self._find_body(value), last))
        return Symbol(name, first, body, last, value if value.type in syntax.containers else None)

    def _build_tagged(self, node: Node, tag: Tag, first: int) -> Symbol | None:
        """Return the symbol of a node that the query of the language names."""
        own, last = node.start_point[0], self._get_end(tag.end)
        least = _LONG_VALUE if tag.kind == "value" else 1
        if last - own < least or not _NAME.fullmatch(tag.name[:_MAX_NAME_CHARS]):
            return None
        members = (self._find_body_node(node) or node) if tag.kind == "container" else None
        body = self._find_body(node) if tag.end.id == node.id else tag.end.start_point[0] + 1
        name = tag.name[:_MAX_NAME_CHARS]
        return Symbol(name, first, max(own + 1, min(body, last)), last, members)

    def _find_least_lines(self, node: Node) -> int:
        """Return how many lines a symbol has at least; shorter ones stay in their group."""
        if node.type in self._syntax.functions or node.type in self._syntax.containers:
            return 1 if self._find_body_node(node) is not None else _LONG_TYPE
        return _LONG_TYPE if node.type in self._syntax.types else _LONG_VALUE

    def _find_body(self, node: Node) -> int:
        """Return the line on which the body below the signature begins, or the comments above."""
        body = self._find_body_node(node)
        if body is None:
            return node.start_point[0] + 1
        row, column = self._find_comment_above(node, body) or body.start_point
        line = self.lines[row]
        on_line_above = line[:column].strip() or line.strip().startswith(b"{")
        return row + 1 if on_line_above else row

    def _find_comment_above(self, node: Node, body: Node) -> tuple[int, int] | None:
        """Return where the comments between a signature and its body begin."""
        row, name = node.start_point[0], node.child_by_field_name("name")
        if name is None:
            return None
        for child in node.named_children:
            if child.start_byte >= body.start_byte:
                break
            if child.type in self._syntax.leads and child.start_byte > name.start_byte:
                if child.start_point[0] > row:
                    return child.start_point
            else:
                row = child.end_point[0]
        return None

    def _find_name(self, node: Node) -> str | None:
        """Return the name of a symbol; None when it has none, or one that is a whole pattern."""
        found = node.child_by_field_name(self._syntax.names.get(node.type, "name"))
        if found is None:
            found = _find_child(node, self._syntax.name_nodes)
        while found is not None and (inner := _find_declarator(found)) is not None:
            found = inner
        if found is None or found.text is None or found.type.endswith("_pattern"):
            return None
        name = " ".join(found.text.decode("utf-8", "replace").split()).strip("\"'")
        owner = _find_receiver(node)
        name = f"{owner}.{name}" if owner else name
        return name if _NAME.fullmatch(name) and len(name) <= _MAX_NAME_CHARS else None

    def _find_imports(self, root: Node) -> tuple[int, int]:
        """Return the lines [first, last) of the first run of imports when it is long."""
        first = last = 0
        for child in root.named_children:
            if child.type in self._syntax.imports:
                first = first if last else child.start_point[0]
                last = self._get_end(child)
            elif last and child.type not in self._syntax.leads:
                break
        return (first, last) if last - first >= _LONG_IMPORTS else (0, 0)

    def _list_members(self, node: Node) -> list[Node]:
        """Return the children of a node, with those of its body in place of the body."""
        body = self._find_body_node(node)
        members = []
        for child in node.named_children:
            inner = body is not None and child.id == body.id and child.type not in self._symbols
            members += child.named_children if inner else [child]
        return members

    def _find_body_node(self, node: Node) -> Node | None:
        return node.child_by_field_name("body") or _find_child(node, self._syntax.bodies)

    def _get_end(self, node: Node) -> int:
        """Return the line behind a node. Some grammars end a node where the next one begins."""
        row, column = node.end_point
        if self.lines[row][:column].strip():
            return row + 1
        while row > node.start_point[0] + 1 and not self.lines[row - 1].strip():
            row -= 1
        return row


def _wrap(symbols: list[Symbol], first: int, last: int) -> Iterator[Symbol]:
    """Yield symbols, of which the first and the last also have the outer lines of a wrapper."""
    for number, symbol in enumerate(symbols):
        start = first if number == 0 else symbol.first
        end = last if number == len(symbols) - 1 else symbol.last
        yield symbol._replace(first=start, last=end)


def _find_child(node: Node, kinds: Collection[str]) -> Node | None:
    return next((child for child in node.named_children if child.type in kinds), None)


def _find_declarator(node: Node) -> Node | None:
    """Return the part of a declarator or a generic type that is the name."""
    if node.type == "variable_declaration":
        return _find_child(node, ("identifier",))
    if node.type == "generic_type":
        return node.child_by_field_name("type")
    if not node.type.endswith("declarator"):
        return None
    inner = node.child_by_field_name("declarator") or node.child_by_field_name("name")
    return inner or next(
        (child for child in node.named_children if child.type.endswith("declarator")), None
    )


def _find_receiver(node: Node) -> str:
    """Return the type of the receiver of a method in Go, else an empty string."""
    receiver = node.child_by_field_name("receiver")
    if receiver is None or receiver.text is None or node.type != "method_declaration":
        return ""
    words = re.findall(r"\w+", receiver.text.decode("utf-8", "replace").partition("[")[0])
    return words[-1] if words else ""


def _closes_only(line: bytes) -> bool:
    """Return whether a line is blank or only closes what is open."""
    return not line.strip() or (
        len(line) < _MAX_NAME_CHARS
        and line.lstrip()[:1] in b"])}>;,e#ft"
        and _CLOSERS.fullmatch(line.decode("utf-8", "replace").strip()) is not None
    )
