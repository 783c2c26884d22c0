"""The size of the code base has a ceiling, as a whole and for each package.

A change that needs more raises it in its own commit, with the reason beside it. It is the present
size, rounded up to the next 100 lines; who makes the code smaller lowers it.
"""

import tomllib
from importlib import metadata

import pytest
from packaging.requirements import Requirement

from tests.shape.tree import ROOT, list_modules

MOST_LINES = {
    "kebab": 78_200,
    "tests": 67_800,
    "kebab/app": 8_300,
    "kebab/chunk": 1_200,
    "kebab/cli": 9_500,
    "kebab/cluster": 300,
    "kebab/config": 800,
    "kebab/core": 2_500,
    "kebab/doctor": 900,
    "kebab/embed": 2_100,
    "kebab/errors": 1_700,
    "kebab/ingest": 3_400,
    "kebab/limits": 700,
    "kebab/llm": 2_100,
    "kebab/parse": 14_000,
    "kebab/rag": 3_600,
    "kebab/review": 4_700,
    "kebab/search": 5_200,
    "kebab/server": 4_100,
    "kebab/source": 1_300,
    "kebab/store": 4_800,
    "kebab/text": 2_700,
    "kebab/wire": 4_000,
}
MOST_MODULES = {"kebab": 310}
MOST_INSTALLED = 700 * 2**20
"""How many bytes all that `kebab[all]` needs may have; on a disk it is about 25 MB more."""


@pytest.mark.parametrize("folder", MOST_LINES)
def test_the_lines_stay_below_their_ceiling(folder):
    assert sum(module.lines for module in list_modules(folder)) <= MOST_LINES[folder]


@pytest.mark.parametrize("folder", MOST_MODULES)
def test_the_modules_stay_below_their_ceiling(folder):
    assert len(list_modules(folder)) <= MOST_MODULES[folder]


def test_every_package_has_a_ceiling():
    packages = {f"kebab/{one.parent.name}" for one in (ROOT / "kebab").glob("*/__init__.py")}

    assert packages == {folder for folder in MOST_LINES if folder.startswith("kebab/")}


def list_direct_requirements():
    """Return what `pyproject.toml` declares for `kebab[all]`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    lines = [one for name in Requirement(*extras["all"]).extras for one in extras[name]]
    return list(map(Requirement, [*project["dependencies"], *lines]))


def list_needed_packages():
    """Return the names of the packages that `kebab[all]` needs here, directly or not."""
    waiting = list_direct_requirements()
    found: set[tuple[str, str]] = set()
    while waiting:
        one = waiting.pop()
        for name, extra in {(one.name.lower(), extra) for extra in ("", *one.extras)} - found:
            found.add((name, extra))
            needed = map(Requirement, metadata.requires(name) or ())
            waiting += [x for x in needed if not x.marker or x.marker.evaluate({"extra": extra})]
    return {name for name, _ in found}


def test_the_installed_versions_are_those_that_the_caps_allow():
    """Where others are installed, as beside newer engines, the next test fails too."""
    found = {one: metadata.version(one.name) for one in list_direct_requirements()}

    assert [f"{one} is {found[one]}" for one in found if found[one] not in one.specifier] == []


def test_an_installation_with_all_extras_stays_below_its_ceiling():
    sizes = {
        name: sum(file.size or 0 for file in metadata.files(name) or () if file.suffix != ".pyc")
        for name in list_needed_packages()
    }

    assert sum(sizes.values()) <= MOST_INSTALLED, sorted(sizes, key=sizes.__getitem__)[-5:]
