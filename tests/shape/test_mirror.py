"""The unit tests mirror the package; of the developer programs only a few have tests."""

import ast
from collections.abc import Collection
from pathlib import Path

import pytest

from tests.shape.tree import ROOT, Module, list_modules

SMALL = 15
SOURCES = list_modules("kebab")
PROGRAMS = list_modules("tools")
TESTS = [test for test in list_modules("tests/unit") if test.path.name.startswith("test_")]


def get_unit_folder(module: Module) -> Path:
    """Return the folder of the unit tests of a module; those of `tools` lie in `tools`."""
    folder = module.path.parent.relative_to(ROOT)
    inside = folder.relative_to("kebab") if folder.is_relative_to("kebab") else folder
    return ROOT / "tests" / "unit" / inside


def find_owner(test: Path, names: Collection[str]) -> str | None:
    """Return the name of the module that a test file belongs to.

    The file is `test_<module>.py` or `test_<module>_<topic>.py`; of several modules it belongs to
    the one with the longest name.

    Args:
        test: The test file.
        names: The names of the modules in the folder that it mirrors.
    """
    stem = test.stem.removeprefix("test_")
    fitting = [name for name in names if stem == name or stem.startswith(f"{name}_")]
    return max(fitting, key=len, default=None)


def list_unit_tests(module: Module) -> list[Path]:
    """Return the unit tests of a module."""
    names = {path.stem for path in module.path.parent.glob("*.py")}
    files = get_unit_folder(module).glob("test_*.py")
    return sorted(path for path in files if find_owner(path, names) == module.path.stem)


def only_declares(module: Module) -> bool:
    """Return whether no function of a module has a body beyond its docstring."""
    functions = (
        node
        for node in ast.walk(module.syntax)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    )
    return all(
        isinstance(function, ast.FunctionDef)
        and all(
            isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            for statement in function.body
        )
        for function in functions
    )


def test_every_module_with_behaviour_has_its_unit_test():
    behave = [one for one in SOURCES if one.lines > SMALL and not only_declares(one)]
    without = {str(module) for module in behave if not list_unit_tests(module)}

    assert not without


def test_every_unit_test_has_its_module():
    tested = {test for module in [*SOURCES, *PROGRAMS] for test in list_unit_tests(module)}

    assert not [str(test) for test in TESTS if test.path not in tested]


def test_declarations_are_told_from_behaviour():
    found = {module.name: only_declares(module) for module in SOURCES}

    assert found["kebab.wire.evals"]
    assert not found["kebab.core.ids"]


@pytest.mark.parametrize(
    ("file", "owner"),
    [
        ("test_scan.py", "scan"),
        ("test_scan_scopes.py", "scan"),
        ("test_scan_errors.py", "scan_errors"),
        ("test_scan_errors_of_files.py", "scan_errors"),
        ("test_scanner.py", None),
        ("test_other.py", None),
    ],
)
def test_a_file_belongs_to_the_module_with_the_longest_name(file, owner):
    assert find_owner(Path(file), {"scan", "scan_errors"}) == owner
