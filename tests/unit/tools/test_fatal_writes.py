import os
import signal
from types import SimpleNamespace

from tools.fatal_writes import count_writes


def test_begins_and_ends_are_counted_and_the_chosen_one_kills(monkeypatch):
    sent = []
    monkeypatch.setattr(os, "kill", lambda pid, number: sent.append((pid, number)))
    store = SimpleNamespace(put=lambda value, *, twice: value * twice)

    read_count = count_writes([(store, "put")], dies_at=3)

    assert store.put(2, twice=3) == 6
    assert (read_count(), sent) == (2, [])
    store.put(2, twice=3)
    assert (read_count(), sent) == (4, [(os.getpid(), signal.SIGKILL)])
