"""Says which names of the standard library a system lacks, by the stubs that mypy comes with.

The stubs declare a name below `if sys.platform == ...`, so that two readings of one file, for Linux
and for another system, differ by what only Linux has.
"""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

SYSTEMS = ("win32", "darwin")


@cache
def list_missing_names(module: str, system: str) -> frozenset[str]:
    """Return the names of a module that Linux has and the other system has not."""
    return _read_names(module, "linux") - _read_names(module, system)


def is_missing(module: str, system: str) -> bool:
    """Return whether a module is empty on the other system, which means that it is not there."""
    return bool(_read_names(module, "linux")) and not _read_names(module, system)


@cache
def _read_names(module: str, system: str) -> frozenset[str]:
    stub = _find_stub(module)
    text = "" if stub is None else stub.read_text(encoding="utf-8")
    # Most modules are the same everywhere.
    return frozenset(_list_names(ast.parse(text).body, system) if "sys.platform" in text else ())


def _find_stub(module: str) -> Path | None:
    if module.partition(".")[0] not in sys.stdlib_module_names:
        return None
    spec = find_spec("mypy")
    assert spec is not None
    assert spec.origin is not None
    place = Path(spec.origin).parent / "typeshed" / "stdlib" / module.replace(".", "/")
    found = (place.with_suffix(".pyi"), place / "__init__.pyi")
    return next((path for path in found if path.is_file()), None)


def _list_names(body: list[ast.stmt], system: str) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.If):
            yield from _list_names(node.body if _holds(node.test, system) else node.orelse, system)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.ImportFrom):
            # A stub that exports an imported name says so with `as`.
            yield from (alias.asname for alias in node.names if alias.asname)


def _holds(test: ast.expr, system: str) -> bool:
    """Return whether a condition of a stub holds for a system and this version of Python."""
    if isinstance(test, ast.BoolOp):
        found = [_holds(one, system) for one in test.values]
        return all(found) if isinstance(test.op, ast.And) else any(found)
    if isinstance(test, ast.UnaryOp):
        return not _holds(test.operand, system)
    values: dict[str, Any] = {"sys.platform": system, "sys.version_info": tuple(sys.version_info)}
    if isinstance(test, ast.Compare) and ast.unparse(test.left) in values:
        left, right = values[ast.unparse(test.left)], ast.literal_eval(test.comparators[0])
        results = {
            ast.Eq: left == right,
            ast.NotEq: left != right,
            ast.GtE: left >= right,
            ast.Lt: left < right,
        }
        return bool(results[type(test.ops[0])])
    return True
