"""Killed at any instant, the next run finishes the work: nothing lost, doubled or left over."""

import random
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kebab.store.sqlite.reader import KnownFiles, SqliteReader
from tests.e2e.crash_driver import Fuse, dump_library, ingest, reembed

pytestmark = pytest.mark.xdist_group("crash")  # one worker reads the first state

ROOT = Path(__file__).resolve().parents[2]
MOMENTS = 4
SEED = 20


@pytest.fixture(scope="module", autouse=True)
def _every_batch_is_a_step():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kebab.ingest.vectors.FLUSH_INTERVAL_S", 0.0)
        yield


def run_driver(*arguments):
    """Return how a process ended that may have died at a step."""
    command = [sys.executable, "-m", "tests.e2e.crash_driver", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def run_whole(work, *arguments):
    """Do the same work to its end in this process; return the number of steps."""
    fuse = Fuse(0, 0)
    work(*arguments, fuse)
    return fuse.burnt


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
def first(tmp_path_factory):
    """Return notes, and a data directory that was made of them, which is to be copied."""
    folder = tmp_path_factory.mktemp("first")
    root, base = folder / "notes", folder / "base"
    write_first_state(root)
    base.mkdir()
    run_whole(ingest, str(root), base)
    return root, base


@pytest.fixture(scope="module")
def killed(first, tmp_path_factory):
    """Return the notes, a data directory of one clean run, and those of killed runs."""
    folder, (root, base) = tmp_path_factory.mktemp("killed"), first
    clean = folder / "clean"
    write_second_state(root)
    shutil.copytree(base, clean)
    steps = run_whole(ingest, str(root), clean)
    folders = [folder / f"killed-{number}" for number in range(MOMENTS)]

    def kill(data, moment):
        shutil.copytree(base, data)
        return run_driver("ingest", root, *moment, data)

    with ThreadPoolExecutor(max_workers=2) as pool:
        statuses = list(pool.map(kill, folders, choose_moments(steps)))
    assert statuses.count(-signal.SIGKILL) >= MOMENTS - 2, statuses
    return root, clean, folders


def test_after_a_kill_the_next_run_ends_where_a_clean_run_does(killed):
    root, clean, folders = killed

    for data in folders:
        run_whole(ingest, str(root), data)
    expected, *found = map(dump_library, (clean, *folders))

    assert expected["pending"] == expected["strays"] == 0
    assert expected["rows"] == expected["chunk_count"] == len(expected["vectors"]) > 100
    for state in found:
        assert state == expected


@pytest.mark.parametrize("step", [1, 4, 55])
def test_a_killed_first_run_leaves_what_it_has_not_read(tmp_path, step):
    root, data = tmp_path / "notes", tmp_path / "data"
    write_first_state(root)
    data.mkdir()

    assert run_driver("ingest", root, step, 0, data) == -signal.SIGKILL

    with SqliteReader(data) as reader:
        known = KnownFiles(reader)
        extents = known.list_extents()
        counts = [known.count_files(extent) for extent in extents]
    is_listed = [extent.rules for extent in extents] not in ([], [None])
    assert is_listed == (step >= 4)
    assert not is_listed or [one.documents + one.unread for one in counts] == [24]


@pytest.fixture(scope="module")
def changed(first, tmp_path_factory):
    """Return the clean folder and the killed ones."""
    folder, (_, base) = tmp_path_factory.mktemp("change"), first
    clean = folder / "clean"
    shutil.copytree(base, clean)
    steps = run_whole(reembed, clean)
    moments = [(1, 0.0), *choose_moments(steps)[::2]]
    folders = [folder / f"killed-{number}" for number in range(len(moments))]

    def kill(data, moment):
        shutil.copytree(base, data)
        return run_driver("reembed", *moment, data)

    with ThreadPoolExecutor(max_workers=2) as pool:
        statuses = list(pool.map(kill, folders, moments))
    assert -signal.SIGKILL in statuses, statuses
    return clean, folders


def test_the_next_change_of_the_model_ends_where_a_clean_one_does(changed):
    clean, folders = changed

    for data in folders:
        run_whole(reembed, data)
    expected, *found = map(dump_library, (clean, *folders))

    assert expected["files"] == [
        f"hashing-other-384-v1.{end}" for end in ("keys.npy", "lance", "vectors.npy")
    ]
    assert expected["pending"] == expected["strays"] == 0
    for state in found:
        assert state == expected
