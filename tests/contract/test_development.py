"""The page for developers names only what exists."""

import ast
import re
from pathlib import Path

from tests.shape.tree import ROOT, Module, list_modules

PAGE = (ROOT / "docs" / "development.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`([^`\s]+)`", PAGE)))
PATHS = [one for one in NAMED if "/" in one and "NAME" not in one]
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "docs" / "notes").glob("*.md"),
        ROOT / "docs" / "wire-schema" / "README.md",
    ]
    if path.name != "development.md"
)
STEPS = re.findall(r"\| `(kebab/\S+\.py)` \| `([\w.]+)` \|", PAGE)
TESTS = [one for one in NAMED if re.fullmatch(r"test_\w+", one)]


def list_definitions(path: Path) -> set[str]:
    """Return the functions and classes of a module, and methods with their class."""
    found = set()
    for node in Module(path).syntax.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            methods = (one for one in node.body if isinstance(one, ast.FunctionDef))
            found |= {f"{node.name}.{one.name}" for one in methods}
    return found


def test_every_path_exists():
    assert PATHS
    assert [path for path in PATHS if not (ROOT / path).exists()] == []


def test_every_source_path_on_another_page_exists():
    found = re.compile(r"`((?:kebab|tools|tests)/[^`\s]+)`")
    named = {
        (page, one) for page in PAGES for one in found.findall((ROOT / page).read_text("utf-8"))
    }

    assert [(page, one) for page, one in sorted(named) if not (ROOT / one).exists()] == []


def test_every_step_of_a_walk_exists():
    assert len(STEPS) > 30
    assert [step for step in STEPS if step[1] not in list_definitions(ROOT / step[0])] == []


def test_every_test_that_a_recipe_names_exists():
    defined = {name for module in list_modules("tests") for name in list_definitions(module.path)}

    assert TESTS
    assert set(TESTS) <= defined


def test_every_package_is_on_the_map():
    packages = {f"kebab/{one.parent.name}" for one in (ROOT / "kebab").glob("*/__init__.py")}

    assert packages <= set(NAMED)


def test_every_page_that_code_names_exists():
    modules = [module for folder in ("kebab", "tools") for module in list_modules(folder)]
    named = {
        name
        for module in modules
        for name in re.findall(
            r"`(docs/(?:notes/)?[a-z-]+\.md)`", module.path.read_text(encoding="utf-8")
        )
    }

    assert named
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []
