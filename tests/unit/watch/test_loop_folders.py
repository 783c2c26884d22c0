import pytest

from kebab.app.watched import WATCHES_RECURSIVELY, WatchedFolder
from kebab.core.files import ScanRules
from kebab.errors.catalog import NotIndexed
from kebab.watch.loop import EVERYTHING, FolderWatch, NoNotifier

LIMIT = NoNotifier("no more", "sysctl")


class Notifier:
    """A notifier whose changes a test pushes."""

    def __init__(self, system, watched):
        self.system = system
        self.watched = watched
        self.is_open = True

    def wait(self, seconds):
        del seconds
        return self.system.changes.pop(0) if self.system.changes else set()

    def close(self):
        self.is_open = False


class System:
    def __init__(self, root):
        self.root = root
        self.changes = []
        self.notifiers = []
        self.answers = []
        self.fault = None
        self.found = [WatchedFolder(str(root), ScanRules())]
        self.watch = FolderWatch(self.find, self.open, lambda: False)

    def find(self):
        if self.fault:
            raise self.fault
        return self.found

    def open(self, watched):
        answer = self.answers.pop(0) if self.answers else None
        if isinstance(answer, Exception):
            raise answer
        if answer:
            return answer
        self.notifiers.append(Notifier(self, list(watched)))
        return self.notifiers[-1]

    def wait(self, *names, more=()):
        """Return what comes of changes below the root, and of those while it settles."""
        self.changes = [self.below(names), self.below(more)]
        return self.watch.wait(0.0, 0.0)

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
def test_folders_that_a_scan_leaves_out_are_not_watched(system):
    assert system.notifiers[0].watched == sorted(system.below(["", "sub"]))


def test_a_change_is_handed_over_with_those_that_follow_it(system):
    assert system.wait("a.md", more=["b.md"]).paths == system.below(["a.md", "b.md"])


def test_ignored_files_wake_nobody(system):
    assert system.wait(".a.md.swp", "venv/lib/x.md").paths == frozenset()


def test_an_ignored_file_beside_another_is_left_out(system):
    assert system.wait("a.md", more=[".b.swp"]).paths == system.below(["a.md"])


@linux
@pytest.mark.parametrize("name", ["new", ".gitignore"])
def test_a_change_of_folders_is_followed(system, name):
    (system.root / "new").mkdir()

    assert system.wait(name).paths == system.below([name])
    assert system.notifiers[-1].watched == sorted(system.below(["", "new", "sub"]))
    assert [one.is_open for one in system.notifiers] == [False, True]


@linux
def test_a_folder_that_is_gone_is_no_longer_watched(system):
    (system.root / "sub").rmdir()

    system.wait("sub")

    assert system.notifiers[-1].watched == [str(system.root)]


@linux
def test_changes_that_the_replaced_notifier_still_had_are_not_lost(system):
    (system.root / "new").mkdir()
    system.changes = [system.below(["new"]), set(), system.below(["late.md"])]

    assert system.watch.wait(0.0, 0.0).paths == system.below(["new", "late.md"])


@linux
def test_folders_that_appear_while_others_are_opened_are_watched_too(system, monkeypatch):
    opened = system.open

    def open_slowly(watched):
        (system.root / f"more{len(system.notifiers)}").mkdir(exist_ok=len(system.notifiers) > 2)
        return opened(watched)

    monkeypatch.setattr(system.watch, "_open_notifier", open_slowly)
    (system.root / "new").mkdir()
    system.wait("new")

    assert str(system.root / "more1") in system.notifiers[-1].watched


def test_very_many_changes_count_as_everything(system):
    assert system.wait(*(f"{number}.md" for number in range(1_001))) == EVERYTHING


def test_a_notifier_that_fails_is_replaced_and_everything_may_have_changed(system):
    system.changes = [None]

    assert system.watch.wait(0.0, 0.0) == EVERYTHING
    assert [one.is_open for one in system.notifiers] == [False, True]


def test_a_notifier_that_fails_while_files_settle_is_replaced(system):
    system.changes = [system.below(["a.md"]), None]

    assert system.watch.wait(0.0, 0.0) == EVERYTHING


def test_a_system_that_refuses_is_told(tmp_path):
    system = System(tmp_path)
    system.answers = [LIMIT]

    system.watch.open()

    assert system.watch.obstacle == LIMIT
    assert system.watch.wait(0.0, 0.0).paths == frozenset()


@pytest.mark.parametrize("fault", [FileNotFoundError(), PermissionError()])
def test_a_folder_that_vanishes_while_it_is_opened_is_listed_again(tmp_path, fault):
    system = System(tmp_path)
    system.answers = [fault]

    system.watch.open()

    assert len(system.notifiers) == 1
    assert not system.watch.has_moved()


def test_folders_that_never_come_to_rest_are_looked_at_again(tmp_path):
    system = System(tmp_path)
    system.answers = [FileNotFoundError()] * 9

    system.watch.open()

    assert system.watch.has_moved()


def test_a_root_that_was_replaced_has_moved(system):
    assert not system.watch.has_moved()

    system.root.rename(system.root.with_name("old"))
    assert system.watch.has_moved()
    system.root.mkdir()
    assert system.watch.has_moved()

    system.watch.open()
    assert not system.watch.has_moved()


def test_a_root_that_is_gone_leaves_nothing_to_watch(system):
    system.root.rename(system.root.with_name("old"))

    system.watch.open()

    assert not system.notifiers[-1].is_open
    assert system.watch.obstacle is None


def test_a_new_source_has_moved(system, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    system.found = [*system.found, WatchedFolder(str(other), ScanRules())]

    assert system.watch.has_moved()
    system.watch.open()
    assert system.watch.locations == sorted([str(system.root), str(other)])


def test_without_an_index_the_folders_stay_as_they_are(system):
    system.fault = NotIndexed(data_dir="/data", expected=1, found=None)

    assert not system.watch.has_moved()
