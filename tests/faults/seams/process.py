"""What a process has: its clocks, its memory, its channels, and a person who may press Ctrl-C."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

import kebab
from kebab.cli.channels import OutputChannel
from tests.faults.seams import files
from tests.faults.world import Fault, World, build_raising_fault

_PACKAGE = f"{Path(kebab.__file__).parent}{os.sep}"
COSTLY = ("memory", "interrupt")
"""The points that every call of a function passes."""

_EDGE = ("run_reporting_errors", "_report_safely")
_HUNGRY = ("parse", "chunk", "embed")
_DAY = 86_400.0
_JUMPS = {
    "clock.time": {"day": _DAY, "back": -_DAY, "epoch": -1e10, "future": 4e9},
    "clock.monotonic": {"hour": 3_600.0, "month": 30 * _DAY, "back": -3_600.0},
}


class Clocks:
    """The clocks of the machine; a jump lasts until the next run."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._shift: dict[str, float] = {}

    def reset(self) -> None:
        """Set both right."""
        self._shift = {}

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Stand between kebab and the clocks."""
        patch.setattr(time, "time", self._clock("clock.time", time.time))
        patch.setattr(time, "monotonic", self._clock("clock.monotonic", time.monotonic))

    def faults(self, point: str) -> list[Fault]:
        """Return the jumps of a clock."""
        return [self._jump(point, name, by) for name, by in _JUMPS[point].items()]

    def _clock(self, point: str, real: Callable[[], float]) -> Callable[[], float]:
        def now() -> float:
            if self._world.at_rest:
                return real()
            # One thread's calls are counted, but a clock is the same for all of them.
            read: float = self._world.call(point, real)
            shifted = read + self._shift.get(point, 0.0)
            return max(0.0, shifted) if point == "clock.time" else shifted

        return now

    def _jump(self, point: str, name: str, by: float) -> Fault:
        def act(real: Callable[[], float]) -> float:
            self._shift[point] = by
            return real()

        return Fault(name, act)


def install_channels(world: World, patch: pytest.MonkeyPatch) -> None:
    """Stand between kebab and who reads its channels."""
    real = OutputChannel._write_some

    def written(channel: OutputChannel, data: memoryview) -> int:
        point = "channel.out" if channel.name == "<stdout>" else "channel.err"
        with _descriptor(world, point):
            return real(channel, data)

    patch.setattr(OutputChannel, "_write_some", written)


@contextmanager
def _descriptor(world: World, point: str) -> Iterator[None]:
    """Let the next write of a descriptor be a call of a channel."""
    before = os.write
    os.write = lambda number, data: world.anywhere(point, before, number, data)
    try:
        yield
    finally:
        os.write = before


def list_channel_faults(point: str) -> list[Fault]:
    """Return all that can go wrong in writing to a channel."""
    del point
    return [files.build_refusal(name) for name in ("ENOSPC", "EIO", "EPIPE")]


@contextmanager
def profile_calls(world: World) -> Iterator[None]:
    """Make each call of a function of ours a call of the seams `memory` and `interrupt`.

    Before the edge of the process is entered nothing is ours to handle.
    """
    hungry = tuple(f"{_PACKAGE}{name}{os.sep}" for name in _HUNGRY)
    passed: dict[CodeType, tuple[str, ...]] = {}
    begun = False

    def seen(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal begun
        del argument
        code = frame.f_code
        if event != "call" or not world.armed:
            return
        if code.co_name in _EDGE:
            begun = True
            return
        if code not in passed:
            name = code.co_filename
            most = COSTLY if name.startswith(hungry) else ("interrupt",)
            passed[code] = most if name.startswith(_PACKAGE) else ()
        if begun:
            for point in passed[code]:
                world.call(point, _do_nothing)

    sys.setprofile(seen)
    try:
        yield
    finally:
        sys.setprofile(None)


def _do_nothing() -> None:
    """Stand for a call of which only the refusal matters."""


def list_profile_faults(point: str) -> list[Fault]:
    """Return what can happen at any call of a function."""
    kind = MemoryError if point == "memory" else KeyboardInterrupt
    return [build_raising_fault(kind.__name__, kind)]
