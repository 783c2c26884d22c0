import ast

import pytest

from tests.shape.tree import list_modules
from tools.mutate import PACKAGES
from tools.mutation_points import find_mutants

SOURCES = [module for package in PACKAGES for module in list_modules(f"kebab/{package}")]

LINE = b"""
def first(items: list[int], least: int = 1) -> int | None:
    \"\"\"Not a constant: 1.\"\"\"
    if not items or len(items) < least:
        return None
    return sorted(items, reverse=True)[0:2][0] + 1
"""


def test_every_kind_of_change_is_made():
    found = {(one.kind, one.text) for one in find_mutants("x.py", LINE)}

    assert found == {
        ("and/or", "(not items and len(items) < least)"),
        ("arithmetic", "(sorted(items, reverse=True)[0:2][0] - 1)"),
        ("comparison", "len(items) <= least"),
        ("not", "(items)"),
        ("order", "sorted(items)"),
        ("return", "return None"),
        ("slice", "sorted(items, reverse=True)[:2]"),
        ("slice", "sorted(items, reverse=True)[0:]"),
        ("constant", "False"),
        ("constant", "0"),
        ("constant", "1"),
        ("constant", "2"),
        ("constant", "3"),
    }


@pytest.mark.parametrize("module", SOURCES[::27], ids=lambda module: module.name)
def test_a_mutant_is_another_program(module):
    source = module.path.read_bytes()
    original = ast.dump(ast.parse(source))

    for mutant in find_mutants(str(module), source)[::7]:
        assert ast.dump(ast.parse(mutant.apply(source))) != original, mutant
