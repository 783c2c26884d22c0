"""Ids of tests are the same in every process, so that workers agree, and short words."""

import os
import re
import subprocess
import sys

import pytest

from tests.conftest import COLLECTED
from tests.shape.tree import ROOT

LONGEST = 80
WORDS = re.compile(r"[A-Za-z0-9_.+: -]+")
"""Neither bytes nor paths."""

BAD = re.compile(r"0x[0-9a-f]{6}|\d:\d\d", re.IGNORECASE)
"""Addresses and times of the day."""

COLLECT = """
import sys, time
import pytest

now, now_ns = time.time, time.time_ns
time.time, time.time_ns = lambda: now() + 1e8, lambda: now_ns() + 10**17
options = ["--collect-only", "-qq", "-n0", "-p", "no:randomly", "-p", "no:cacheprovider"]

class Printer:
    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items):
        print(*(item.nodeid for item in items), sep="\\n")
        return (yield)

sys.exit(pytest.main([*options, f"--rootdir={sys.argv[1]}", f"-c{sys.argv[1]}/pyproject.toml",
                      f"{sys.argv[1]}/tests"], [Printer()]))
"""
"""Collects all tests below a folder at another time."""


@pytest.fixture(scope="module")
def elsewhere(isolation, tmp_path_factory):
    """The ids that another process collects: at another time, place, and order of sets."""
    folder = tmp_path_factory.mktemp("elsewhere")
    seed = (int(os.environ.get("PYTHONHASHSEED", "0").replace("random", "0")) + 1) % 2**32
    ran = subprocess.run(
        [sys.executable, "-c", COLLECT, str(ROOT)],
        cwd=folder,
        env={**os.environ, "PYTHONHASHSEED": str(seed), "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-2000:]
    return [line for line in ran.stdout.splitlines() if "::" in line]


def group_by_file(ids):
    grouped: dict[str, list[str]] = {}
    for one in ids:
        grouped.setdefault(one.partition("::")[0], []).append(one)
    return grouped


def find_unfit(ids):
    """Return the ids whose parameters are not a few short words."""
    parameters = ((one, one.partition("[")[2].removesuffix("]")) for one in ids if "[" in one)
    return [
        one
        for one, words in parameters
        if len(words) > LONGEST or not WORDS.fullmatch(words) or BAD.search(words)
    ]


@pytest.mark.xdist_group("ids")
@pytest.mark.timeout(900)
def test_every_process_collects_the_same_tests_in_the_same_order(pytestconfig, elsewhere):
    theirs = group_by_file(elsewhere)

    for file, ids in group_by_file(pytestconfig.stash[COLLECTED]).items():
        assert ids == [one for one in theirs[file] if one in {*ids}], file
    assert len(elsewhere) == len({*elsewhere}) > 10_000


@pytest.mark.xdist_group("ids")
@pytest.mark.timeout(900)
def test_ids_are_short_words(elsewhere):
    assert find_unfit(elsewhere) == []


@pytest.mark.parametrize(
    "words",
    [r"\x89PNG", "/srv/notes", "<f at 0x7f00aa11bb22>", "0x7f00aa11bb22", "12:30", "a" * 81, ""],
    ids=["bytes", "path", "object", "address", "time", "long", "empty"],
)
def test_other_ids_are_found(words):
    assert find_unfit([f"test_a.py::test_b[{words}]"])
