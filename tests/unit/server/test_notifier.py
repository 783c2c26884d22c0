import sys
import time
from typing import Any

import pytest

from kebab.server.notifier import FileNotifier, NoNotifier, open_notifier
from tests.shape.libraries import list_own_exceptions

DEADLINE_S = 10.0


def stay():
    return False


def watch(folder, stopped=stay):
    opened: Any = open_notifier([str(folder)], stopped)
    return opened


def test_silence_ends_after_its_time(tmp_path):
    opened = watch(tmp_path)
    began = time.monotonic()

    assert opened.wait(0.2) == set()
    assert time.monotonic() - began < DEADLINE_S
    opened.close()


def test_waiting_stops_when_it_is_asked_to(tmp_path):
    opened = watch(tmp_path, lambda: True)
    began = time.monotonic()

    assert opened.wait(60.0) == set()
    assert time.monotonic() - began < DEADLINE_S
    opened.close()


def test_a_folder_that_is_gone_is_said(tmp_path):
    with pytest.raises(FileNotFoundError):
        open_notifier([str(tmp_path / "nowhere")], stay)


@pytest.mark.skipif(sys.platform != "linux", reason="inotify")
@pytest.mark.parametrize(
    ("fault", "reason", "has_hint"),
    [
        (OSError('OS file watch limit reached. about ["/notes"]'), "the system watches", True),
        ("Error creating recommended watcher: Too many open files (os error 24)", "the sys", True),
        (OSError("Input/output error"), "Input/output error", False),
    ],
)
def test_a_system_that_refuses_says_why(monkeypatch, tmp_path, fault, reason, has_hint):
    from watchfiles import _rust_notify

    error = _rust_notify.WatchfilesRustInternalError(fault) if isinstance(fault, str) else fault

    def refuse(*_):
        raise error

    monkeypatch.setattr(_rust_notify, "RustNotify", refuse)
    opened = open_notifier([str(tmp_path)], stay)

    assert isinstance(opened, NoNotifier)
    assert opened.reason.startswith(reason)
    assert (opened.hint is not None) == has_hint


class Broken:
    def __init__(self, outcome):
        self.outcome = outcome

    def watch(self, *_):
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


def open_broken(outcome):
    watcher: Any = Broken(outcome)
    return FileNotifier(watcher, stay)


def test_a_notifier_that_breaks_is_told_apart_from_silence():
    from watchfiles._rust_notify import WatchfilesRustInternalError

    for fault in (OSError("gone"), WatchfilesRustInternalError("limit")):
        assert open_broken(fault).wait(1.0) is None
    assert open_broken("timeout").wait(1.0) == set()
    with pytest.raises(KeyboardInterrupt):
        open_broken("signal").wait(1.0)


def test_every_exception_of_the_library_is_one_that_is_caught():
    from watchfiles._rust_notify import WatchfilesRustInternalError

    own = {one.__name__ for one in list_own_exceptions("watchfiles")}

    assert own <= {WatchfilesRustInternalError.__name__}
    assert issubclass(WatchfilesRustInternalError, RuntimeError)
