"""The unit tests mirror the package: a module and its test are found from each other."""

import ast

from tests.shape.tree import ROOT, Module, modules

SMALL = 15
TESTED_ELSEWHERE: dict[str, str] = {}
"""Modules whose behaviour has no unit of its own, each with the reason."""

SOURCES = modules("kebab")
TESTS = [test for test in modules("tests/unit") if test.path.name.startswith("test_")]


def twin(module: Module):
    """Return where the unit test of a module stands."""
    folder = module.path.relative_to(ROOT / "kebab").parent
    return ROOT / "tests" / "unit" / folder / f"test_{module.path.stem}.py"


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


def source(test: Module):
    """Return where the module of a unit test stands."""
    folder = test.path.relative_to(ROOT / "tests" / "unit").parent
    return ROOT / "kebab" / folder / test.path.name.removeprefix("test_")


def test_every_module_with_behaviour_has_its_unit_test():
    behave = [one for one in SOURCES if one.lines > SMALL and not only_declares(one)]
    without = {str(module) for module in behave if not twin(module).exists()}

    assert without == set(TESTED_ELSEWHERE)


def test_every_unit_test_has_its_module():
    assert not [str(test) for test in TESTS if not source(test).exists()]


def test_exceptions_name_modules_that_exist_and_give_a_reason():
    assert set(TESTED_ELSEWHERE) <= {str(module) for module in SOURCES}
    assert all(TESTED_ELSEWHERE.values())


def test_declarations_are_told_from_behaviour():
    found = {module.name: only_declares(module) for module in SOURCES}

    assert found["kebab.core.ports"]
    assert not found["kebab.core.ids"]
