"""The world as kebab calls it: every call of a seam is counted, and one of them can fail."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any


@dataclass(frozen=True, slots=True)
class Fault:
    """How a call goes wrong: `act` gets the real function and its arguments."""

    name: str
    act: Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Injection:
    """Call number `index` of a point fails; with `lasting` so does each one after it."""

    point: str
    index: int
    fault: Fault
    lasting: bool = False

    def __str__(self) -> str:
        rest = "…" if self.lasting else ""
        return f"{self.point}[{self.index}]{rest} {self.fault.name}"

    @property
    def family(self) -> str:
        """The port that fails."""
        return self.point.partition(".")[0]

    def hits(self, point: str, number: int) -> bool:
        """Return whether this call is to fail."""
        if point != self.point:
            return False
        return number == self.index or (self.lasting and number > self.index)


class World:
    """What all seams share: the count of calls, and the one that is to fail."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.fired = 0
        self._injection: Injection | None = None
        self._armed = False
        self._main = threading.get_ident()

    @contextmanager
    def at_work(self, injection: Injection | None = None) -> Iterator[None]:
        """Count the calls within, from zero, and let the one fail."""
        self.calls = Counter()
        self.fired = 0
        self._injection = injection
        self._armed = True
        try:
            yield
        finally:
            self._armed = False
            self._injection = None

    @property
    def armed(self) -> bool:
        """Whether calls of this thread count."""
        return self._armed and threading.get_ident() == self._main

    @property
    def at_rest(self) -> bool:
        """Whether nothing counts."""
        return not self._armed

    def call(self, point: str, real: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Make a call of the main thread, or fail."""
        if not self.armed:
            return real(*args, **options)
        return self.anywhere(point, real, *args, **options)

    def anywhere(self, point: str, real: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Make a call of any thread, or fail."""
        if not self._armed:
            return real(*args, **options)
        number = self.calls[point]
        self.calls[point] += 1
        injection = self._injection
        if injection is None or not injection.hits(point, number):
            return real(*args, **options)
        self.fired += 1
        return injection.fault.act(real, *args, **options)


def is_injected(trace: TracebackType | None) -> bool:
    """Return whether an exception came from here."""
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_code.co_filename == __file__


def build_raising_fault(name: str, make: Callable[[], BaseException]) -> Fault:
    """Return the fault of a call that raises and does nothing."""

    def act(real: Callable[..., Any], *args: Any, **options: Any) -> Any:
        del real, args, options
        raise make()

    return Fault(name, act)
