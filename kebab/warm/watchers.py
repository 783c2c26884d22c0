"""Keeps a watcher of files running for each knowledge base whose settings have `watch.auto`.

The warm process has a parent (`kebab.warm.server`), which owns the `Watchers`, and workers, which
run calls. After a call a worker sends its parent a `Demand`: the data folder, flags and environment
of the watcher to run. The parent runs `kebab watch` as a child and reads its events. The child ends
when nobody reads its output any more, so it does not outlive a killed parent.
"""

import json
import math
import os
import selectors
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from kebab.warm.start import spawn_kebab
from kebab.warm.worker import Demand, read_memory_share

MOST_WATCHERS = 4
_NICENESS = 10
_REST_S = 300.0
"""The shortest time between a watcher that gave up and the next one of the same data folder."""
_LONGEST_RETRY_S = 60.0
_MOST_CRASHES = 5
_STABLE_S = 60.0
"""A watcher that ran so long did not crash because of its start."""
_PATIENCE_S = (5.0, 2.0, 1.0)
"""At the end: the time to end a run, the time to unwind, and the time to be killed."""
_CHUNK, _TAIL = 1 << 16, 1 << 14
"""How many bytes of output are read at once, and how many are kept for the last event."""


def spawn_watcher(demand: Demand, output: int) -> int | None:
    """Start `kebab watch` in the background; return its process id.

    Raises:
        OSError: The system starts no process.
    """
    pid = spawn_kebab(["watch", "--stream", *demand.flags], demand.environ, output)
    if pid is not None:
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, pid, _NICENESS)
    return pid


@dataclass
class _Watcher:
    """A watcher that runs, starts at the time `due` (infinite: waits for a call), or is leaving."""

    demand: Demand
    used: float
    due: float = 0.0
    pid: int | None = None
    output: int = -1
    tail: bytes = b""
    started: float = 0.0
    crashes: int = 0
    rests_until: float = 0.0
    error: str | None = None
    leaving: bool = False


class Watchers:
    """Starts watchers, starts those again that crashed, and ends them.

    The selector tells when a watcher wrote something; its owner then calls the data of the key.
    `spawn` starts a watcher with a descriptor as its output.
    """

    def __init__(
        self,
        selector: selectors.BaseSelector,
        spawn: Callable[[Demand, int], int | None] = spawn_watcher,
        get_now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._selector = selector
        self._spawn = spawn
        self._get_now = get_now
        self._watchers: dict[str, _Watcher] = {}

    @property
    def are_running(self) -> bool:
        """Whether any watcher runs."""
        return any(one.pid is not None for one in self._watchers.values())

    def want(self, demand: Demand) -> None:
        """See to it that this knowledge base has a watcher, unless one gave up just now."""
        now = self._get_now()
        watcher = self._watchers.get(demand.data_dir)
        if watcher is None:
            # The watcher that was called for least recently makes room.
            staying = [one for one in self._watchers.values() if not one.leaving]
            if len(staying) >= MOST_WATCHERS:
                self._dismiss(min(staying, key=lambda one: (one.pid is not None, one.used)))
            watcher = self._watchers[demand.data_dir] = _Watcher(demand, now)
        watcher.used = now
        if watcher.pid is None and watcher.due == math.inf and now >= watcher.rests_until:
            watcher.demand, watcher.due, watcher.crashes = demand, now, 0
        self.keep()

    def keep(self) -> None:
        """Start what is due, and end watchers whose knowledge base is gone."""
        now = self._get_now()
        for watcher in [*self._watchers.values()]:
            if not watcher.demand.has_index():
                self._dismiss(watcher)
            elif watcher.pid is None and watcher.due <= now:
                self._start(watcher)

    def _dismiss(self, watcher: _Watcher) -> None:
        if watcher.pid is None:
            self._watchers.pop(watcher.demand.data_dir, None)
        elif not watcher.leaving:
            watcher.leaving = True
            _send_signal(watcher.pid, signal.SIGTERM)

    def _start(self, watcher: _Watcher) -> None:
        ours, theirs = os.pipe()
        os.set_blocking(ours, False)
        try:
            watcher.pid = self._spawn(watcher.demand, theirs)
        except OSError:
            watcher.pid = None
        finally:
            os.close(theirs)
        watcher.started, watcher.tail = self._get_now(), b""
        if watcher.pid is None:
            os.close(ours)
            self._plan_restart(watcher)
            return
        watcher.output, watcher.error = ours, None
        self._selector.register(ours, selectors.EVENT_READ, partial(self._read, watcher))

    def _read(self, watcher: _Watcher) -> bool:
        """Read what a watcher wrote, so that it never waits; return whether there may be more."""
        try:
            data = os.read(watcher.output, _CHUNK)
        except OSError:  # there is nothing now, or the watcher ended meanwhile
            return False
        watcher.tail = (watcher.tail + data)[-_TAIL:]
        if not data:
            with suppress(KeyError):
                self._selector.unregister(watcher.output)
        return bool(data)

    def note_end(self, pid: int, status: int) -> bool:
        """Plan the next start of a watcher that ended; return whether the process was one."""
        found = [one for one in self._watchers.values() if one.pid == pid]
        for watcher in found:
            while self._read(watcher):
                pass
            self._close(watcher)
            watcher.pid = None
            if watcher.leaving:
                self._dismiss(watcher)
            elif os.WIFSIGNALED(status):
                self._plan_restart(watcher)
            else:
                self._give_up(watcher, _find_error(watcher.tail))
        return bool(found)

    def _plan_restart(self, watcher: _Watcher) -> None:
        """Start a watcher that crashed again, later each time."""
        now = self._get_now()
        watcher.crashes = 1 if now - watcher.started >= _STABLE_S else watcher.crashes + 1
        watcher.due = now + min(_LONGEST_RETRY_S, 2.0 ** (watcher.crashes - 1))
        if watcher.crashes >= _MOST_CRASHES:
            self._give_up(watcher, "internal")

    def _give_up(self, watcher: _Watcher, error: str | None) -> None:
        """Wait for a call after some minutes: a person ended the watcher, or it cannot work."""
        watcher.error, watcher.due = error, math.inf
        watcher.rests_until = self._get_now() + _REST_S

    def describe(self) -> list[dict[str, Any]]:
        """Return the watchers as the fields of the reply."""
        return [
            {
                "data_dir": one.demand.data_dir,
                "pid": one.pid,
                "memory_bytes": read_memory_share(one.pid) if one.pid is not None else 0,
                "error": one.error,
            }
            for one in self._watchers.values()
        ]

    def forget(self) -> None:
        """Close the outputs in a worker after the fork: a watcher ends when no reader is left."""
        for watcher in self._watchers.values():
            if watcher.pid is not None:
                os.close(watcher.output)

    def end(self) -> None:
        """Ask every watcher to end after the document that it reads, wait for it, and insist."""
        for watcher in [*self._watchers.values()]:
            self._dismiss(watcher)
        for number, patience in zip((0, signal.SIGTERM, signal.SIGKILL), _PATIENCE_S, strict=True):
            for watcher in self._watchers.values():
                if number and watcher.pid is not None:
                    _send_signal(watcher.pid, number)
            self._wait(patience)

    def _wait(self, patience: float) -> None:
        deadline = time.monotonic() + patience
        while self._watchers and time.monotonic() < deadline:
            for watcher in [*self._watchers.values()]:
                assert watcher.pid is not None
                self._read(watcher)
                ended, status = os.waitpid(watcher.pid, os.WNOHANG)
                if ended:
                    self.note_end(ended, status)
            time.sleep(0.01)

    def _close(self, watcher: _Watcher) -> None:
        with suppress(KeyError):
            self._selector.unregister(watcher.output)
        os.close(watcher.output)
        watcher.output = -1


def _send_signal(pid: int, number: int) -> None:
    with suppress(OSError):
        os.kill(pid, number)


def _find_error(tail: bytes) -> str | None:
    """Return the code of the error in the last event, None when there is none."""
    try:
        event = json.loads(tail.strip().rpartition(b"\n")[2])
        return str(event["error"]["code"]) if event.get("error") else None
    except (ValueError, AttributeError, TypeError, KeyError):
        return None
