"""Each unit test is named after the module that it tests; golden sessions test the rest."""

from collections.abc import Collection
from pathlib import Path

import pytest

from tests.shape.tree import ROOT, Module, list_modules

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


def test_every_unit_test_has_its_module():
    tested = {test for module in [*SOURCES, *PROGRAMS] for test in list_unit_tests(module)}

    assert not [str(test) for test in TESTS if test.path not in tested]


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
