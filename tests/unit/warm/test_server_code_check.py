import os

import pytest

from kebab.warm.server import CodeCheck


def test_code_that_was_not_touched_is_current():
    check = CodeCheck()
    check._EVERY_S = 0.0

    assert check.is_current()


@pytest.mark.parametrize("folder", ["site-packages/kebab", "work/kebab"])
@pytest.mark.parametrize("change", ["touch", "replace", "remove"])
def test_code_that_an_installer_replaced_or_removed_is_not_current(tmp_path, folder, change):
    first = tmp_path / folder / "__init__.py"
    first.parent.mkdir(parents=True)
    first.write_text("")
    check = CodeCheck(str(first.parent))
    check._EVERY_S = 0.0
    assert check.is_current()
    if change == "touch":
        os.utime(first, (1, 1))
    else:
        first.unlink()
    if change == "replace":
        first.write_text("new")

    assert not check.is_current()
