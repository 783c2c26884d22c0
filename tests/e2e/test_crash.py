"""Killed at any instant, the next run finishes the work: nothing lost, doubled or left over."""

import json
import random
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kebab.store.sqlite.documents import KnownFiles
from kebab.store.sqlite.reader import SqliteReader

ROOT = Path(__file__).resolve().parents[2]
MOMENTS = 4
SEED = 20


def run_driver(*arguments):
    command = [sys.executable, "-m", "tests.e2e.crash_driver", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def write_note(number, extra=""):
    sections = "".join(
        f"## Section {part}\n\nnote{number} on garden {part}, bed {number * part}{extra}.\n\n"
        for part in range(1, 4)
    )
    return f"# Note {number}\n\n{sections}"


def write_first_state(root):
    for number in range(24):
        path = root / f"f{number % 4}" / f"{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(write_note(number), encoding="utf-8")


def write_second_state(root):
    """Edit, move, swap, delete, copy and add, and rename a whole folder."""
    for number in (0, 4, 8):
        (root / "f0" / f"{number}.md").write_text(write_note(number, " edited"), encoding="utf-8")
    (root / "f0/12.md").rename(root / "f0/moved.md")
    (root / "f0/16.md").rename(root / "swap")
    (root / "f0/20.md").rename(root / "f0/16.md")
    (root / "swap").rename(root / "f0/20.md")
    (root / "f1/1.md").unlink()
    (root / "f1/5.md").unlink()
    shutil.copy(root / "f1/9.md", root / "f1/twin.md")
    (root / "f2").rename(root / "renamed")
    for number in range(24, 40):
        (root / "f3" / f"{number}.md").write_text(write_note(number), encoding="utf-8")


def choose_moments(steps):
    """Return fixed (step, delay): mostly between two calls, some in the middle of one."""
    chance = random.Random(SEED)
    step = [1 + chance.randrange(steps) for _ in range(MOMENTS)]
    delay = [0.0 if index % 3 else chance.uniform(0.0005, 0.03) for index in range(MOMENTS)]
    return sorted(zip(step, delay, strict=True))


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """Return the notes, a data directory of one clean run, and those of killed runs."""
    folder = tmp_path_factory.mktemp("crash")
    root, base, clean = folder / "notes", folder / "base", folder / "clean"
    write_first_state(root)
    base.mkdir()
    assert run_driver("ingest", root, 0, 0, base).returncode == 0
    write_second_state(root)
    shutil.copytree(base, clean)
    steps = int(run_driver("ingest", root, 0, 0, clean).stdout)
    folders = [folder / f"killed-{number}" for number in range(MOMENTS)]

    def kill(data, moment):
        shutil.copytree(base, data)
        return run_driver("ingest", root, *moment, data).returncode

    with ThreadPoolExecutor(max_workers=2) as pool:
        statuses = list(pool.map(kill, folders, choose_moments(steps)))
    assert statuses.count(-signal.SIGKILL) >= MOMENTS - 2, statuses
    return root, clean, folders


def test_after_a_kill_the_next_run_ends_where_a_clean_run_does(killed):
    root, clean, folders = killed

    again = run_driver("ingest", root, 0, 0, *folders)
    assert again.returncode == 0, again.stderr
    expected, *found = json.loads(run_driver("dump", clean, *folders).stdout)

    assert expected["pending"] == expected["strays"] == 0
    assert expected["rows"] == expected["chunk_count"] == len(expected["vectors"]) > 100
    for state in found:
        assert state == expected


@pytest.mark.parametrize("step", [1, 4, 55])
def test_a_killed_first_run_leaves_what_it_has_not_read(tmp_path, step):
    root, data = tmp_path / "notes", tmp_path / "data"
    write_first_state(root)
    data.mkdir()

    assert run_driver("ingest", root, step, 0, data).returncode == -signal.SIGKILL

    with SqliteReader(data) as reader:
        known = KnownFiles(reader)
        extents = known.list_extents()
        counts = [known.count_files(extent) for extent in extents]
    is_listed = [extent.rules for extent in extents] not in ([], [None])
    assert is_listed == (step >= 4)
    assert not is_listed or [one.documents + one.unread for one in counts] == [24]


@pytest.fixture(scope="module")
def changed(tmp_path_factory):
    """Return the clean folder and the killed ones."""
    folder = tmp_path_factory.mktemp("change")
    root, base, clean = folder / "notes", folder / "base", folder / "clean"
    write_first_state(root)
    base.mkdir()
    assert run_driver("ingest", root, 0, 0, base).returncode == 0
    shutil.copytree(base, clean)
    steps = int(run_driver("reembed", 0, 0, clean).stdout)
    moments = [(1, 0.0), *choose_moments(steps)[::2]]
    folders = [folder / f"killed-{number}" for number in range(len(moments))]

    def kill(data, moment):
        shutil.copytree(base, data)
        return run_driver("reembed", *moment, data).returncode

    with ThreadPoolExecutor(max_workers=2) as pool:
        statuses = list(pool.map(kill, folders, moments))
    assert -signal.SIGKILL in statuses, statuses
    return clean, folders


@pytest.mark.xdist_group("changed")
def test_the_next_change_of_the_model_ends_where_a_clean_one_does(changed):
    clean, folders = changed

    again = run_driver("reembed", 0, 0, *folders)
    assert again.returncode == 0, again.stderr
    expected, *found = json.loads(run_driver("dump", clean, *folders).stdout)

    assert expected["files"] == [
        f"hashing-other-384-v1.{end}" for end in ("keys.npy", "lance", "vectors.npy")
    ]
    assert expected["pending"] == expected["strays"] == 0
    for state in found:
        assert state == expected
