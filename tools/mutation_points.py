"""Finds the places of a source file that can be mutated, and what to put there."""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
}
_ORDERING = ("key", "reverse")
_DECLARING = ("frozen", "kw_only", "slots", "strict")
"""Keywords that hold programmers to their word; no program that works depends on them."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one file; `start` and `end` are offsets into its bytes."""

    file: str
    kind: str
    line: int
    start: int
    end: int
    text: str

    def apply(self, source: bytes) -> bytes:
        """Return the source with the change."""
        return source[: self.start] + self.text.encode() + source[self.end :]


def find_mutants(file: str, source: bytes) -> list[Mutant]:
    """Return every mutant of a source file, in a stable order."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    for node in _code(ast.parse(source)):
        for kind, changed in _changes(node):
            start = starts[node.lineno - 1] + node.col_offset
            end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
            text = ast.unparse(changed)
            if isinstance(changed, ast.expr) and _needs_brackets(node, changed):
                text = f"({text})"
            found.append(Mutant(file, kind, node.lineno, start, end, text))
    return sorted(found, key=lambda one: (one.start, one.end, one.kind, one.text))


def _needs_brackets(node: ast.AST, changed: ast.expr) -> bool:
    """Return whether an expression may bind looser than the one that it replaces."""
    return isinstance(node, ast.BoolOp | ast.BinOp) or type(node) is not type(changed)


def _code(node: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    """Yield what runs: everything but annotations, docstrings and parts of format strings."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "type_params") or isinstance(node, ast.JoinedStr):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or _is_for_types(child):
                continue
            if isinstance(child, ast.expr | ast.stmt):
                yield child
            yield from _code(child)


def _is_for_types(node: ast.AST) -> bool:
    """Return whether a part is there for type checkers or readers."""
    if isinstance(node, ast.keyword):
        return node.arg in _DECLARING
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    if isinstance(node, ast.AnnAssign):
        return ast.unparse(node.annotation) == "TypeAlias"
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield what can be put in place of a node, each with the kind of the change."""
    match node:
        case ast.Compare() | ast.BoolOp() | ast.BinOp() | ast.UnaryOp(op=ast.Not()):
            yield from _operator_changes(node)
        case ast.Constant(value=bool() as value):
            yield "constant", ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            yield "constant", ast.Constant(value + 1)
            if value:
                yield "constant", ast.Constant(value - 1)
        case ast.Return(value=ast.expr() as value) if not _is_none(value):
            yield "return", ast.Return(ast.Constant(None))
        case ast.Call() | ast.Subscript():
            yield from _order_changes(node)
        case _:
            pass


def _operator_changes(
    node: ast.Compare | ast.BoolOp | ast.BinOp | ast.UnaryOp,
) -> Iterator[tuple[str, ast.AST]]:
    """Yield an operation with another operator, or without its `not`."""
    match node:
        case ast.Compare(ops=operators):
            for index, operator in enumerate(operators):
                changed = copy.deepcopy(node)
                changed.ops[index] = _COMPARISONS[type(operator)]()
                yield "comparison", changed
        case ast.BoolOp(op=joined, values=values):
            other = ast.Or() if isinstance(joined, ast.And) else ast.And()
            yield "and/or", ast.BoolOp(other, values)
        case ast.BinOp(left=left, op=binary, right=right):
            replacement = _ARITHMETIC.get(type(binary))
            if replacement and not _is_text(left, right):
                yield "arithmetic", ast.BinOp(left, replacement(), right)
        case ast.UnaryOp(operand=operand):
            yield "not", operand


def _order_changes(node: ast.Call | ast.Subscript) -> Iterator[tuple[str, ast.AST]]:
    """Yield a call without one of its orders, or a slice without one of its bounds."""
    if isinstance(node, ast.Call):
        for index, keyword in enumerate(node.keywords):
            if keyword.arg in _ORDERING:
                kept = [*node.keywords[:index], *node.keywords[index + 1 :]]
                yield "order", ast.Call(node.func, node.args, kept)
    elif isinstance(bounds := node.slice, ast.Slice):
        for name in ("lower", "upper"):
            if getattr(bounds, name) is not None:
                parts = {one: getattr(bounds, one) for one in ("lower", "upper", "step")}
                yield "slice", ast.Subscript(node.value, ast.Slice(**parts | {name: None}))


def _is_text(*operands: ast.expr) -> bool:
    """Return whether an operand is a text or a list, which only knows `+`."""
    texts = (ast.JoinedStr, ast.List, ast.Tuple)
    return any(
        isinstance(one, texts) or (isinstance(one, ast.Constant) and isinstance(one.value, str))
        for one in operands
    )


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
