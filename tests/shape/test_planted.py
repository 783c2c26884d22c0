"""The tests that guard the error system fail when a fault is planted."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.shape.tree import ROOT

pytestmark = pytest.mark.xdist_group("planted")  # one worker runs the guards for all

_NEEDED = ("kebab", "tools", "tests", "docs", "migrations", "pyproject.toml")
_SMALL = shutil.ignore_patterns("__pycache__", "kept")

PLANTED = {
    "an exception of a library that no table maps": (
        "kebab/llm/http_stream.py",
        "        httpx.ReadError: report_lost_connection,\n",
        "",
        (
            "tests/unit/llm/test_http_stream_errors.py::"
            "test_every_exception_of_httpx_has_its_row_or_is_misuse"
        ),
    ),
    "a missing translation": (
        "kebab/errors/translations/ko.toml",
        'parse_failed = ["파일을 해석할 수 없습니다: {path}: {cause}"]\n',
        "",
        (
            "tests/unit/errors/test_languages.py::"
            "test_every_message_of_a_row_and_its_cases_is_translated_and_nothing_else[ko]"
        ),
    ),
    "a translation that lost a detail": (
        "kebab/errors/translations/ko.toml",
        "할 수 없는 작업입니다: {operation}",
        "할 수 없는 작업입니다",
        (
            "tests/unit/errors/test_languages.py::"
            "test_a_translation_says_as_much_as_the_english_and_fills_in_the_same"
        ),
    ),
    "a token that leaks into the public view": (
        "kebab/app/classify.py",
        "        return _hide_secrets(escape_undecodable(value))\n",
        "        return escape_undecodable(value)\n",
        "tests/unit/app/test_classify.py::test_secrets_are_removed_from_message_hint_and_details",
    ),
}
"""The file, the text that is right, what replaces it, and the test that then fails."""


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """Return what fails in a copy of the checkout, and what fails after faults are planted in it.

    All guards run in one process, because every start of pytest takes seconds.
    """
    copy = tmp_path_factory.mktemp("tree")
    for name in _NEEDED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=_SMALL)
        else:
            shutil.copy(ROOT / name, copy / name)
    before = run_guards(copy)
    for name, right, wrong, _guard in PLANTED.values():
        text = (copy / name).read_text(encoding="utf-8")
        assert text.count(right) == 1
        (copy / name).write_text(text.replace(right, wrong), encoding="utf-8")
    return before, run_guards(copy)


def run_guards(tree):
    """Return which guards pass and which fail in a tree."""
    line = [sys.executable, "-m", "pytest", "-v", "-n", "0", "-p", "no:cacheprovider"]
    ran = subprocess.run(
        [*line, *(guard for *_, guard in PLANTED.values())],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode in (0, 1), ran.stdout + ran.stderr
    return dict(re.findall(r"^(tests/\S+) (PASSED|FAILED)", ran.stdout, re.MULTILINE))


@pytest.mark.parametrize("planted", PLANTED.values(), ids=PLANTED)
def test_a_planted_fault_is_found(outcomes, planted):
    *_, guard = planted

    assert [outcome[guard] for outcome in outcomes] == ["PASSED", "FAILED"]
