"""The tests that guard the error system fail when a fault is planted."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.shape.tree import ROOT

_NEEDED = ("kebab", "tools", "tests", "docs", "migrations", "pyproject.toml")
_SMALL = shutil.ignore_patterns("__pycache__", "kept")

PLANTED = {
    "an exception of a library that no table maps": (
        "kebab/llm/http_stream.py",
        "        httpx.ReadError: report_lost_connection,\n",
        "",
        "tests/unit/llm/test_http_stream_errors.py",
    ),
    "a missing translation": (
        "kebab/errors/translations/ko.py",
        '    "parse_failed": Wording("파일을 해석할 수 없습니다: {path}: {cause}"),\n',
        "",
        "tests/unit/errors/translations",
    ),
    "a translation that lost a detail": (
        "kebab/errors/translations/ko.py",
        "할 수 없는 작업입니다: {operation}",
        "할 수 없는 작업입니다",
        "tests/unit/errors/translations",
    ),
    "a token that leaks into the public view": (
        "kebab/app/classify.py",
        "        text = _hide_secrets(escape_undecodable(value))\n",
        "        text = escape_undecodable(value)\n",
        "tests/unit/app/test_classify.py",
    ),
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the checkout in which faults are planted."""
    copy = tmp_path_factory.mktemp("tree")
    for name in _NEEDED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=_SMALL)
        else:
            shutil.copy(ROOT / name, copy / name)
    return copy


def passes_guard(tree, guard):
    """Return whether a test file passes in a tree."""
    line = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", guard]
    environ = {**os.environ, "PYTHONPATH": str(tree)}
    ran = subprocess.run(line, cwd=tree, env=environ, capture_output=True, check=False)
    assert ran.returncode in (0, 1), (ran.stdout + ran.stderr).decode(errors="replace")
    return ran.returncode == 0


@pytest.mark.parametrize("planted", PLANTED.values(), ids=PLANTED)
def test_a_planted_fault_is_found(tree, planted):
    name, right, wrong, guard = planted
    file = tree / name
    text = file.read_text(encoding="utf-8")
    assert text.count(right) == 1

    assert passes_guard(tree, guard)
    file.write_text(text.replace(right, wrong), encoding="utf-8")
    try:
        assert not passes_guard(tree, guard)
    finally:
        file.write_text(text, encoding="utf-8")
