from typing import Any

import pytest

from kebab.app.classify import build_error_reply
from kebab.core.files import ScanRules
from kebab.errors.catalog import IoError, Locked, NotIndexed
from kebab.server.watcher import (
    EVERYTHING,
    WATCHES_RECURSIVELY,
    Changes,
    FolderWatch,
    Obstacle,
    WatchedFolder,
    Watcher,
)
from tests.fakes import replies

IDLE = Changes()
LOOK_S = 2.0
LOCKED = Locked(path="/data/lock", holder_pid=7)
GONE = IoError(path="/notes", op="read", cause="missing")


def changed(*paths):
    return Changes(frozenset(paths))


class Clock:
    def __init__(self):
        self.time = 1000.0

    def monotonic(self):
        return self.time


class Folders:
    """Folders in which scripted changes happen; each look takes a while."""

    def __init__(self, world):
        self.world = world
        self.obstacle = None
        self.opened = 0
        self.closed = False
        self.locations = ["/notes"]

    def open(self):
        self.opened += 1
        return set()

    def close(self):
        self.closed = True

    def has_moved(self):
        moved, self.world.moved = self.world.moved, False
        return moved

    def wait(self):
        self.world.clock.time += LOOK_S
        if not self.world.script:
            self.world.ended = True
            return IDLE
        step = self.world.script.pop(0)
        if callable(step):
            step()
            return IDLE
        return step


class World:
    """A watcher over a script of changes, and over ingests with scripted outcomes."""

    def __init__(self):
        self.clock = Clock()
        self.script = []
        self.outcomes = []
        self.requests = []
        self.events = []
        self.moved = False
        self.ended = False
        self.takes_s = 0.0
        self.folders: Any = Folders(self)

    def ingest(self, request):
        self.requests.append(request)
        self.clock.time += self.takes_s
        outcome = self.outcomes.pop(0) if self.outcomes else _nothing()
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def watch(self, *script, paths=()):
        self.script = list(script)
        return Watcher(
            paths=list(paths),
            ingest=self.ingest,
            ingest_first=self.ingest,
            folders=self.folders,
            clock=self.clock.monotonic,
            describe=lambda signal: build_error_reply(signal, operation="watch"),
            emit=self.events.append,
            is_stopped=lambda: self.ended,
            measure_work=self.clock.monotonic,
        ).run()

    @property
    def runs(self):
        """What each run read: paths, or `everything`."""
        return [list(one.paths) if one.changed else "everything" for one in self.requests]

    @property
    def kinds(self):
        return [event.kind for event in self.events]


def _nothing(**changes):
    return replies.ingest_report(
        new=0,
        embedding=replies.ingest_report().embedding.__class__(
            version=None, embedded=0, reused=0, pending=0, unsupported=0
        ),
        **changes,
    )


@pytest.fixture
def world():
    return World()


def test_the_changes_of_a_run_without_the_lock_are_read_later_and_it_is_said_once(world):
    world.outcomes = [_nothing(), _nothing(), LOCKED, LOCKED, LOCKED, _nothing()]

    report = world.watch(IDLE, changed("/a"), changed("/b"), IDLE, IDLE, IDLE, IDLE, IDLE)

    assert world.runs[-1] == ["/a", "/b"]
    assert world.kinds.count("waiting") == 1
    assert report.failures == 0


def test_another_error_of_the_first_run_ends_the_watcher(world):
    world.outcomes = [GONE]

    with pytest.raises(IoError):
        world.watch(IDLE)
    assert world.folders.closed


def test_a_later_error_is_told_once_and_tried_again_ever_more_rarely(world):
    world.outcomes = [_nothing(), _nothing(), *[GONE] * 8, _nothing()]
    began = world.clock.time

    report = world.watch(IDLE, changed("/a"), *[IDLE] * 60)

    assert world.kinds.count("failed") == 1
    assert report.failures == 8
    assert world.runs[-1] == ["/a"]
    assert world.clock.time - began > 60


def test_a_lost_index_is_built_again_from_everything(world):
    missing = NotIndexed(data_dir="/data", expected="1", found=None)
    world.outcomes = [_nothing(), _nothing(), missing]

    world.watch(IDLE, changed("/a"), IDLE, IDLE)

    assert world.runs[-1] == "everything"


def test_a_replaced_folder_is_watched_anew_and_scanned(world):
    world.watch(IDLE, lambda: setattr(world, "moved", True), IDLE, IDLE)

    assert world.folders.opened == 2
    assert world.runs == ["everything"] * 3


def test_without_notifications_everything_is_scanned_often_and_it_is_said_once(world):
    world.folders.obstacle = Obstacle("the system watches no more folders", "sysctl x")

    report = world.watch(*[IDLE] * 30)

    assert world.kinds.count("polling") == 1
    (event,) = [one for one in world.events if one.kind == "polling"]
    assert (event.hint, report.polling) == ("sysctl x", True)
    assert 5 <= len(world.runs) <= 8


def test_a_long_run_is_followed_by_a_rest(world):
    world.takes_s = 2.0

    world.watch(IDLE, changed("/a"), changed("/a"), changed("/a"), changed("/a"), changed("/a"))

    assert len(world.runs) <= 4


def test_a_run_that_was_cut_short_ends_the_watcher(world):
    world.outcomes = [_nothing(), _nothing(), _nothing(cancelled=True)]

    report = world.watch(IDLE, changed("/a"), changed("/b"))

    assert report.interrupted
    assert len(world.runs) == 3


class System:
    """A watch of a folder, with reports that a test pushes."""

    def __init__(self, root):
        self.root = root
        self.changes = []
        self.watched = []
        self.answers = []
        self.fault = None
        self.found = [WatchedFolder(str(root), ScanRules())]
        self.watch = FolderWatch(self.find, self.open)

    def find(self):
        if self.fault:
            raise self.fault
        return self.found

    def open(self, folders):
        answer = self.answers.pop(0) if self.answers else set()
        if isinstance(answer, Exception):
            raise answer
        self.watched.append(folders)
        yield answer
        while True:
            change = self.changes.pop(0) if self.changes else set()
            if isinstance(change, Exception):
                raise change
            yield change

    def wait(self, *names, more=()):
        """Return what comes of changes below the root, and of those while it settles."""
        self.changes = [self.below(names), self.below(more)]
        return self.watch.wait()

    def below(self, names):
        return {f"{self.root}/{name}" if name else str(self.root) for name in names}


@pytest.fixture
def system(tmp_path):
    root = tmp_path / "notes"
    (root / "sub").mkdir(parents=True)
    (root / "venv/lib").mkdir(parents=True)
    system = System(root)
    system.watch.open()
    return system


linux = pytest.mark.skipif(WATCHES_RECURSIVELY, reason="this system watches below folders")


@linux
def test_changes_while_other_folders_are_opened_are_not_lost(system):
    (system.root / "new").mkdir()
    system.changes = [system.below(["new"]), set(), system.below(["late.md"])]
    system.answers = [system.below(["first.md"])]

    assert system.watch.wait().paths == system.below(["new", "first.md", "late.md"])


@linux
def test_a_folder_that_appears_while_others_are_opened_is_watched_soon(system):
    opened = system.open

    def open_slowly(folders):
        (system.root / "more").mkdir(exist_ok=True)
        return opened(folders)

    system.watch._watch = open_slowly
    system.watch.open()

    assert system.watch.has_moved()
    system.watch.open()
    assert str(system.root / "more") in system.watched[-1]
    assert not system.watch.has_moved()


def test_very_many_changes_count_as_everything(system):
    assert system.wait(*(f"{number}.md" for number in range(1_001))) == EVERYTHING


@pytest.mark.parametrize("before", [[], ["a.md"]])
@pytest.mark.parametrize("fault", [OSError("gone"), RuntimeError("limit")])
def test_a_watch_that_fails_is_replaced_and_everything_may_have_changed(system, fault, before):
    system.changes = [system.below(before)] * bool(before) + [fault]

    assert system.watch.wait() == EVERYTHING
    assert len(system.watched) == 2


def test_a_system_that_refuses_is_told(tmp_path):
    system = System(tmp_path)
    system.answers = [OSError("Input/output error")]

    system.watch.open()

    assert system.watch.obstacle == Obstacle("Input/output error")
    assert system.watch.wait().paths == frozenset()


@pytest.mark.parametrize("fault", [FileNotFoundError(), PermissionError()])
def test_folders_that_vanish_while_they_are_opened_are_looked_at_again(tmp_path, fault):
    system = System(tmp_path)
    system.answers = [fault]

    system.watch.open()

    assert system.watch.has_moved()
    system.watch.open()
    assert not system.watch.has_moved()


def test_a_root_that_is_gone_leaves_nothing_to_watch(system):
    system.root.rename(system.root.with_name("old"))

    system.watch.open()

    assert len(system.watched) == 1
    assert system.watch.obstacle is None
    assert system.watch.wait() == IDLE


def test_without_an_index_the_folders_stay_as_they_are(system):
    system.fault = NotIndexed(data_dir="/data", expected="1", found=None)

    assert not system.watch.has_moved()
