import sys

import pytest

from kebab.core.files import ScanRules
from kebab.server.watcher import EVERYTHING, FolderWatch, WatchedFolder, watch_folders
from tests.fakes.waiting import wait_until
from tests.shape.libraries import list_own_exceptions

SILENCE_MS = 200


def stay():
    return False


def open_reports(*folders, stopped=stay):
    return watch_folders(list(map(str, folders)), stopped, SILENCE_MS)


def test_waiting_stops_when_it_is_asked_to(tmp_path):
    assert list(open_reports(tmp_path, stopped=lambda: True)) == []


def test_a_folder_that_is_gone_is_said(tmp_path):
    with pytest.raises(FileNotFoundError):
        next(open_reports(tmp_path / "nowhere"))


@pytest.fixture
def notes(tmp_path):
    """A watch of a real folder."""
    root = tmp_path / "notes"
    (root / "sub").mkdir(parents=True)
    (root / "node_modules/lib").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    (root / "out").symlink_to(tmp_path / "other")
    found = [WatchedFolder(str(root), ScanRules())]
    watch = FolderWatch(lambda: found, lambda folders: open_reports(*folders))
    watch.open()
    yield root, watch
    watch.close()


def collect(watch, *paths):
    """Return the changes until they have all of these paths."""
    seen = set()

    def look():
        seen.update(watch.wait().paths)
        return {*map(str, paths)} <= seen

    wait_until(look)
    return seen


def test_folders_are_followed_and_ignored_ones_and_links_to_others_are_not(notes):
    root, watch = notes
    (root / "node_modules/lib/x.md").touch()
    (root / "out/y.md").touch()
    (root / "sub/new/deep").mkdir(parents=True)
    collect(watch, root / "sub/new")

    (root / "sub/new/deep/a.md").touch()
    seen = collect(watch, root / "sub/new/deep/a.md")

    assert watch.obstacle is None
    assert not {path for path in seen if "node_modules" in path or "/out/" in path}


@pytest.mark.skipif(sys.platform != "linux", reason="inotify")
@pytest.mark.parametrize(
    ("fault", "reason", "has_hint"),
    [
        (OSError('OS file watch limit reached. about ["/notes"]'), "the system watches", True),
        ("Error creating recommended watcher: Too many open files (os error 24)", "the sys", True),
        (OSError("Input/output error"), "Input/output error", False),
    ],
)
def test_a_system_that_refuses_says_why(tmp_path, fault, reason, has_hint):
    from watchfiles._rust_notify import WatchfilesRustInternalError

    def refuse(_):
        yield from ()
        raise WatchfilesRustInternalError(fault) if isinstance(fault, str) else fault

    watch = FolderWatch(lambda: [WatchedFolder(str(tmp_path), ScanRules())], refuse)
    watch.open()

    assert watch.obstacle
    assert watch.obstacle.reason.startswith(reason)
    assert (watch.obstacle.hint is not None) == has_hint
    assert watch.wait() != EVERYTHING


def test_every_exception_of_the_library_is_one_that_is_caught():
    from watchfiles._rust_notify import WatchfilesRustInternalError

    own = {one.__name__ for one in list_own_exceptions("watchfiles")}

    assert own <= {WatchfilesRustInternalError.__name__}
    assert issubclass(WatchfilesRustInternalError, RuntimeError)
