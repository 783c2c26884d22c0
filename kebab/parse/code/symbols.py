"""Declares the syntax of programming languages, and finds the symbols of their source code.

A table of `syntaxes.toml` is one language. The lines of a file are cut into blocks along its
symbols. The library is an extra, and is imported when code is read.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from kebab.core.documents import BlockKind
from kebab.errors.system import translate_import_errors
from kebab.parse.blocks import Span
from kebab.text.normalize import split_names

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser


class Syntax(Struct, frozen=True):
    """The node types of a language that say where its symbols are.

    `grammar` is the module of the grammar and its function. `functions` and `types` are symbols as
    a whole. `containers` are symbols that have further symbols inside. `values` are symbols when
    they are long. `wrappers` belong to the symbol inside them, as `export` and decorators do; the
    symbols inside `blocks` stand beside others, as those of a conditional do. `holders` name a
    function, a class or a value that is assigned to them: the field is that of what is assigned.
    `leads` stand above their symbol: comments, attributes. `names` gives the field of a symbol's
    name where it is not `name`, and `name_nodes` the types of a child that is the name of a symbol
    without such a field. `bodies` are the types of a body that is no field `body`.
    """

    grammar: str
    functions: frozenset[str] = frozenset()
    containers: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()
    wrappers: frozenset[str] = frozenset()
    blocks: frozenset[str] = frozenset()
    holders: Mapping[str, str] = {}
    leads: frozenset[str] = frozenset({"comment"})
    imports: frozenset[str] = frozenset()
    names: Mapping[str, str] = {}
    name_nodes: frozenset[str] = frozenset()
    bodies: frozenset[str] = split_names("class_body enum_class_body function_body block")


SYNTAXES = msgspec.toml.decode(
    Path(__file__).with_name("syntaxes.toml").read_bytes(), type=dict[str, Syntax]
)
"""The syntax of each language, by its name in citations; `tsx` is TypeScript with elements."""
SYNTAXES["tsx"] = replace(SYNTAXES["typescript"], grammar="tree_sitter_typescript.language_tsx")

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
    node: "Node | None"


def load_grammar(language: str) -> "Language":
    """Return the grammar of a language."""
    module, _, function = SYNTAXES[language].grammar.partition(".")
    with translate_import_errors("reading source code", "tree-sitter", "code"):
        from tree_sitter import Language

        grammar: object = getattr(import_module(module), function)()
        return Language(grammar)


@cache
def load_parser(language: str) -> "Parser":
    """Return the parser of a language."""
    grammar = load_grammar(language)
    from tree_sitter import Parser

    return Parser(grammar)


def find_spans(source: bytes, language: str) -> list[Span]:
    """Return the code as spans of lines: a heading for each symbol, and code."""
    root = load_parser(language).parse(source).root_node
    finder = SymbolFinder(SYNTAXES[language], source.split(b"\n"), root)
    return list(finder.cut_scope(root, 1, 0, len(finder.lines)))


class SymbolFinder:
    """Finds the symbols in the syntax tree of a file."""

    def __init__(self, syntax: Syntax, lines: Sequence[bytes], root: "Node") -> None:
        """Search lines of code for the symbols of their tree."""
        self.lines = lines
        self._syntax = syntax
        self._functions = syntax.functions
        self._symbols = syntax.functions.union(
            syntax.containers, syntax.types, syntax.values, syntax.holders
        )
        self._inside = syntax.wrappers | syntax.blocks | {"ERROR"}
        first = last = 0
        for child in root.named_children:
            if child.type in self._syntax.imports:
                first = first if last else child.start_point[0]
                last = self._get_end(child)
            elif last and child.type not in self._syntax.leads:
                break
        self._imports = (first, last) if last - first >= _LONG_IMPORTS else (0, 0)

    def cut_scope(self, node: "Node", level: int, first: int, last: int) -> Iterator[Span]:
        """Yield the spans of the lines of a scope, whose symbols get headings of a level."""
        done = first
        for symbol in self._find_symbols(self._list_members(node), 0):
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

    def _find_symbols(self, nodes: "Iterable[Node]", depth: int) -> Iterator[Symbol]:
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
            if node.type in self._symbols:
                symbol = self._build_symbol(node, start, end)
            if symbol is not None:
                yield symbol
            elif depth < _DEEPEST_BLOCK and (
                node.type in self._inside
                or node.type in self._syntax.holders
                or (node.type in self._functions and node.child_by_field_name("name") is None)
            ):
                found = list(self._find_symbols(self._list_members(node), depth + 1))
                if self._is_wrapper(node):
                    found = _wrap(found, start, end)
                elif found and found[0].first == first:
                    found[0] = found[0]._replace(first=start)
                yield from found

    def _is_wrapper(self, node: "Node") -> bool:
        """Return whether the lines of a node belong to the symbols right inside it."""
        wrappers = self._syntax.wrappers
        kinds = {child.type for child in node.named_children} if node.type in wrappers else set()
        return not kinds.isdisjoint(self._symbols | wrappers)

    def _build_symbol(self, node: "Node", first: int, last: int) -> Symbol | None:
        syntax, value = self._syntax, node
        if node.type in syntax.holders:
            value = node.child_by_field_name(syntax.holders[node.type]) or node
        name = self._find_name(node)
        own = node.start_point[0]
        if name is None or last - own < self._find_least_lines(value):
            return None
        body = max(own + 1, min(self._find_body(value), last))
        return Symbol(name, first, body, last, value if value.type in syntax.containers else None)

    def _find_least_lines(self, node: "Node") -> int:
        """Return how many lines a symbol has at least; shorter ones stay in their group."""
        if node.type in self._syntax.functions or node.type in self._syntax.containers:
            return 1 if self._find_body_node(node) is not None else _LONG_TYPE
        return _LONG_TYPE if node.type in self._syntax.types else _LONG_VALUE

    def _find_body(self, node: "Node") -> int:
        """Return the line on which the body below the signature begins, or the comments above."""
        body = self._find_body_node(node)
        if body is None:
            return node.start_point[0] + 1
        row, column = self._find_comment_above(node, body) or body.start_point
        line = self.lines[row]
        on_line_above = line[:column].strip() or line.strip().startswith(b"{")
        return row + 1 if on_line_above else row

    def _find_comment_above(self, node: "Node", body: "Node") -> tuple[int, int] | None:
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

    def _find_name(self, node: "Node") -> str | None:
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

    def _list_members(self, node: "Node") -> "list[Node]":
        """Return the children of a node, with those of its body in place of the body."""
        body = self._find_body_node(node)
        members = []
        for child in node.named_children:
            inner = body is not None and child.id == body.id and child.type not in self._symbols
            members += child.named_children if inner else [child]
        return members

    def _find_body_node(self, node: "Node") -> "Node | None":
        return node.child_by_field_name("body") or _find_child(node, self._syntax.bodies)

    def _get_end(self, node: "Node") -> int:
        """Return the line behind a node. Some grammars end a node where the next one begins."""
        row, column = node.end_point
        if self.lines[row][:column].strip():
            return row + 1
        while row > node.start_point[0] + 1 and not self.lines[row - 1].strip():
            row -= 1
        return row


def _wrap(symbols: list[Symbol], first: int, last: int) -> list[Symbol]:
    """Return symbols, of which the first and the last also have the outer lines of a wrapper."""
    if symbols:
        symbols[0] = symbols[0]._replace(first=first)
        symbols[-1] = symbols[-1]._replace(last=last)
    return symbols


def _find_child(node: "Node", kinds: Collection[str]) -> "Node | None":
    return next((child for child in node.named_children if child.type in kinds), None)


def _find_declarator(node: "Node") -> "Node | None":
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


def _find_receiver(node: "Node") -> str:
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
