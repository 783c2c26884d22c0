"""Finds the symbols of source code, and cuts its lines into blocks along them.

One row of the table of languages is one language. The names of nodes are those of its tree-sitter
grammar. The library is an extra, so this module is imported only when such code is read.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from itertools import pairwise
from typing import NamedTuple

from kebab.core.documents import BlockKind
from kebab.errors.system import translate_import_errors
from kebab.parse.blocks import Span
from kebab.text.normalize import split_names


class Syntax(NamedTuple):
    """The node types of a language that say where its symbols are.

    `functions` and `types` are symbols as a whole. `containers` are symbols that have further
    symbols inside. `values` are symbols when they are long. `wrappers` belong to the symbol inside
    them, as `export` and decorators do; the symbols inside `blocks` stand beside others, as those
    of a conditional do. `holders` name a function, a class or a value that is assigned to them:
    the field is that of what is assigned. `leads` stand above their symbol: comments, attributes.
    `names` gives the field of a symbol's name where it is not `name`, and `name_nodes` the types
    of a child that is the name of a symbol without such a field.
    """

    grammar: Callable[[], object]
    functions: frozenset[str]
    containers: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()
    wrappers: frozenset[str] = frozenset()
    blocks: frozenset[str] = frozenset()
    holders: Mapping[str, str] = {}
    leads: frozenset[str] = frozenset({"comment"})
    imports: frozenset[str] = frozenset()
    names: Mapping[str, str] = {}
    name_nodes: tuple[str, ...] = ()


_JAVASCRIPT = Syntax(
    lambda: import_module("tree_sitter_javascript").language(),
    functions=split_names(
        "function_declaration generator_function_declaration method_definition"
        " function_expression generator_function arrow_function"
    ),
    containers=split_names("class_declaration class"),
    wrappers=split_names("export_statement lexical_declaration variable_declaration"),
    blocks=split_names(
        "expression_statement call_expression parenthesized_expression arguments unary_expression"
        " object pair if_statement statement_block else_clause"
    ),
    holders={
        "variable_declarator": "value",
        "assignment_expression": "right",
        "field_definition": "value",
        "pair": "value",
    },
    leads=split_names("comment decorator"),
    imports=split_names("import_statement"),
    names={
        "assignment_expression": "left",
        "field_definition": "property",
        "pair": "key",
    },
)
_TYPESCRIPT = _JAVASCRIPT._replace(
    grammar=lambda: import_module("tree_sitter_typescript").language_typescript(),
    containers=_JAVASCRIPT.containers
    | split_names("abstract_class_declaration internal_module module"),
    types=split_names("interface_declaration type_alias_declaration enum_declaration"),
    wrappers=_JAVASCRIPT.wrappers | split_names("ambient_declaration"),
    holders={
        "variable_declarator": "value",
        "assignment_expression": "right",
        "public_field_definition": "value",
        "pair": "value",
    },
    names={"assignment_expression": "left", "pair": "key"},
)
_C = Syntax(
    lambda: import_module("tree_sitter_c").language(),
    functions=split_names("function_definition"),
    types=split_names("struct_specifier union_specifier enum_specifier type_definition"),
    values=split_names("preproc_function_def preproc_def declaration"),
    blocks=split_names(
        "preproc_if preproc_ifdef preproc_else preproc_elif preproc_elifdef linkage_specification"
        " declaration_list"
    ),
    imports=split_names("preproc_include"),
    names={
        "function_definition": "declarator",
        "type_definition": "declarator",
        "declaration": "declarator",
    },
)

SYNTAXES: Mapping[str, Syntax] = {
    "bash": Syntax(
        lambda: import_module("tree_sitter_bash").language(),
        functions=split_names("function_definition"),
        blocks=split_names("if_statement else_clause"),
    ),
    "c": _C,
    "c#": Syntax(
        lambda: import_module("tree_sitter_c_sharp").language(),
        functions=split_names(
            "method_declaration constructor_declaration destructor_declaration"
            " operator_declaration conversion_operator_declaration local_function_statement"
        ),
        containers=split_names(
            "namespace_declaration class_declaration struct_declaration interface_declaration"
            " record_declaration"
        ),
        types=split_names("enum_declaration delegate_declaration property_declaration"),
        values=split_names("field_declaration"),
        wrappers=split_names("global_statement"),
        blocks=split_names("preproc_if preproc_else preproc_elif preproc_region"),
        imports=split_names("using_directive file_scoped_namespace_declaration"),
        names={"operator_declaration": "operator", "conversion_operator_declaration": "type"},
    ),
    "c++": _C._replace(
        grammar=lambda: import_module("tree_sitter_cpp").language(),
        containers=split_names("class_specifier struct_specifier namespace_definition"),
        types=split_names("union_specifier enum_specifier type_definition concept_definition"),
        wrappers=split_names("template_declaration"),
        blocks=_C.blocks | {"field_declaration"},
        leads=split_names("comment access_specifier"),
    ),
    "go": Syntax(
        lambda: import_module("tree_sitter_go").language(),
        functions=split_names("function_declaration method_declaration"),
        types=split_names("type_spec type_alias"),
        values=split_names("const_spec var_spec"),
        wrappers=split_names("type_declaration const_declaration var_declaration"),
        imports=split_names("package_clause import_declaration"),
    ),
    "java": Syntax(
        lambda: import_module("tree_sitter_java").language(),
        functions=split_names(
            "method_declaration constructor_declaration compact_constructor_declaration"
        ),
        containers=split_names(
            "class_declaration interface_declaration enum_declaration record_declaration"
            " annotation_type_declaration"
        ),
        values=split_names("field_declaration"),
        blocks=split_names("enum_body_declarations"),
        leads=split_names("line_comment block_comment"),
        imports=split_names("package_declaration import_declaration"),
        names={"field_declaration": "declarator"},
    ),
    "javascript": _JAVASCRIPT,
    "kotlin": Syntax(
        lambda: import_module("tree_sitter_kotlin").language(),
        functions=split_names("function_declaration"),
        containers=split_names("class_declaration object_declaration"),
        values=split_names("property_declaration"),
        blocks=split_names("companion_object class_body enum_class_body"),
        leads=split_names("line_comment block_comment"),
        imports=split_names("package_header import"),
        name_nodes=("variable_declaration",),
    ),
    "python": Syntax(
        lambda: import_module("tree_sitter_python").language(),
        functions=split_names("function_definition"),
        containers=split_names("class_definition"),
        values=split_names("assignment type_alias_statement"),
        wrappers=split_names("decorated_definition expression_statement"),
        blocks=split_names(
            "if_statement else_clause elif_clause try_statement except_clause block"
        ),
        imports=split_names("import_statement import_from_statement future_import_statement"),
        names={"assignment": "left", "type_alias_statement": "left"},
    ),
    "ruby": Syntax(
        lambda: import_module("tree_sitter_ruby").language(),
        functions=split_names("method singleton_method"),
        containers=split_names("class module"),
        values=split_names("assignment"),
        blocks=split_names("call argument_list do_block body_statement if then singleton_class"),
        names={"assignment": "left"},
    ),
    "rust": Syntax(
        lambda: import_module("tree_sitter_rust").language(),
        functions=split_names("function_item function_signature_item macro_definition"),
        containers=split_names("impl_item trait_item mod_item"),
        types=split_names("struct_item enum_item union_item type_item"),
        values=split_names("const_item static_item"),
        blocks=split_names("foreign_mod_item declaration_list"),
        leads=split_names("line_comment block_comment attribute_item"),
        imports=split_names("use_declaration extern_crate_declaration"),
        names={"impl_item": "type"},
    ),
    "sql": Syntax(
        lambda: import_module("tree_sitter_sql").language(),
        functions=split_names("create_function create_procedure create_trigger"),
        types=split_names(
            "create_table create_view create_materialized_view create_index create_type"
            " create_schema create_sequence"
        ),
        wrappers=split_names("statement"),
        blocks=split_names("transaction block"),
        leads=split_names("comment marginalia"),
        name_nodes=("object_reference", "identifier"),
    ),
    "tsx": _TYPESCRIPT._replace(
        grammar=lambda: import_module("tree_sitter_typescript").language_tsx()
    ),
    "typescript": _TYPESCRIPT,
}
"""The syntax of each language, by its name in citations; `tsx` is TypeScript with elements."""


FEATURE = "reading source code"
PACKAGE = "tree-sitter"
EXTRA = "code"

with translate_import_errors(FEATURE, PACKAGE, EXTRA):
    from tree_sitter import Language, Node, Parser

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


@cache
def load_parser(language: str) -> Parser:
    """Return the parser of a language.

    Raises:
        DependencyMissing: Its grammar is not installed.
    """
    with translate_import_errors(FEATURE, PACKAGE, EXTRA):
        grammar = SYNTAXES[language].grammar()
    return Parser(Language(grammar))


def find_spans(source: bytes, language: str) -> list[Span]:
    """Return the code as spans of lines: a heading for each symbol, and code."""
    root = load_parser(language).parse(source).root_node
    syntax = SYNTAXES[language]
    finder = SymbolFinder(syntax, source.split(b"\n"), _find_imports(root, syntax))
    return list(finder.cut_scope(root, 1, 0, len(finder.lines)))


class SymbolFinder:
    """Finds the symbols in the syntax tree of a file."""

    def __init__(
        self, syntax: Syntax, lines: Sequence[bytes], imports: tuple[int, int] = (0, 0)
    ) -> None:
        """Search lines of code; `imports` are the lines of the imports at the top."""
        self.lines = lines
        self._imports = imports
        self._syntax = syntax
        self._functions = syntax.functions
        self._symbols = syntax.functions.union(
            syntax.containers, syntax.types, syntax.values, syntax.holders
        )
        self._inside = syntax.wrappers | syntax.blocks | {"ERROR"}

    def cut_scope(self, node: Node, level: int, first: int, last: int) -> Iterator[Span]:
        """Yield the spans of the lines of a scope, whose symbols get headings of a level."""
        done = first
        for symbol in self._find_symbols(_list_members(node), 0):
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

    def _find_symbols(self, nodes: Iterable[Node], depth: int) -> Iterator[Symbol]:
        """Yield the symbols among nodes and in their blocks, each with the comments above it."""
        lead, above = -1, -1
        for node in nodes:
            first, end = node.start_point[0], _get_end(node)
            if node.type in self._syntax.leads:
                if lead < 0 or first > above:
                    lead = first if first >= above else -1
                above = end
                continue
            start = lead if lead >= 0 and first == above else first
            lead, above = -1, end
            symbol = self._build_symbol(node, start, end) if node.type in self._symbols else None
            if symbol is not None:
                yield symbol
            elif depth < _DEEPEST_BLOCK and self._is_searched(node):
                found = self._find_symbols(_list_members(node), depth + 1)
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

    def _find_least_lines(self, node: Node) -> int:
        """Return how many lines a symbol has at least; shorter ones stay in their group."""
        if node.type in self._syntax.functions or node.type in self._syntax.containers:
            return 1 if _find_body_node(node) is not None else _LONG_TYPE
        return _LONG_TYPE if node.type in self._syntax.types else _LONG_VALUE

    def _find_body(self, node: Node) -> int:
        """Return the line on which the body below the signature begins, or the comments above."""
        body = _find_body_node(node)
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


def _wrap(symbols: list[Symbol], first: int, last: int) -> Iterator[Symbol]:
    """Yield symbols, of which the first and the last also have the outer lines of a wrapper."""
    for number, symbol in enumerate(symbols):
        start = first if number == 0 else symbol.first
        end = last if number == len(symbols) - 1 else symbol.last
        yield symbol._replace(first=start, last=end)


def _find_imports(root: Node, syntax: Syntax) -> tuple[int, int]:
    """Return the lines [first, last) of the first run of imports when it is long."""
    first = last = 0
    for child in root.named_children:
        if child.type in syntax.imports:
            first = first if last else child.start_point[0]
            last = _get_end(child)
        elif last and child.type not in syntax.leads:
            break
    return (first, last) if last - first >= _LONG_IMPORTS else (0, 0)


def _list_members(node: Node) -> list[Node]:
    """Return the children of a node, with those of its body in place of the body."""
    body = _find_body_node(node)
    members = []
    for child in node.named_children:
        members += child.named_children if body is not None and child.id == body.id else [child]
    return members


_BODIES = ("class_body", "enum_class_body", "function_body", "block")


def _find_body_node(node: Node) -> Node | None:
    return node.child_by_field_name("body") or _find_child(node, _BODIES)


def _find_child(node: Node, kinds: Sequence[str]) -> Node | None:
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


def _get_end(node: Node) -> int:
    """Return the line behind a node."""
    row, column = node.end_point
    return row + 1 if column else row


def _closes_only(line: bytes) -> bool:
    """Return whether a line is blank or only closes what is open."""
    return not line.strip() or (
        len(line) < _MAX_NAME_CHARS
        and line.lstrip()[:1] in b"])}>;,e#ft"
        and _CLOSERS.fullmatch(line.decode("utf-8", "replace").strip()) is not None
    )
