"""The unit tests mirror the package and the developer programs, in both directions."""

import ast

from tests.shape.tree import ROOT, Module, modules

SMALL = 15
TESTED_ELSEWHERE: dict[str, str] = {}
"""Modules whose behaviour has no unit of its own, each with the reason."""

SOURCES = [*modules("kebab"), *modules("tools")]
TESTS = [test for test in modules("tests/unit") if test.path.name.startswith("test_")]


def unit_folder(module: Module):
    """Return the folder of the unit tests of a module; those of `tools` lie in `tools`."""
    folder = module.path.parent.relative_to(ROOT)
    inside = folder.relative_to("kebab") if folder.is_relative_to("kebab") else folder
    return ROOT / "tests" / "unit" / inside


def unit_tests(module: Module):
    """Return the unit tests of a module: `test_<module>.py` and `test_<module>_<topic>.py`."""
    folder, stem = unit_folder(module), f"test_{module.path.stem}"
    return [*folder.glob(f"{stem}.py"), *folder.glob(f"{stem}_*.py")]


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


TESTED = {test for module in SOURCES for test in unit_tests(module)}


def test_every_module_with_behaviour_has_its_unit_test():
    behave = [one for one in SOURCES if one.lines > SMALL and not only_declares(one)]
    without = {str(module) for module in behave if not unit_tests(module)}

    assert without == set(TESTED_ELSEWHERE)


def test_every_unit_test_has_its_module():
    assert not [str(test) for test in TESTS if test.path not in TESTED]


def test_exceptions_name_modules_that_exist_and_give_a_reason():
    assert set(TESTED_ELSEWHERE) <= {str(module) for module in SOURCES}
    assert all(TESTED_ELSEWHERE.values())


def test_declarations_are_told_from_behaviour():
    found = {module.name: only_declares(module) for module in SOURCES}

    assert found["kebab.core.ports"]
    assert not found["kebab.core.ids"]
