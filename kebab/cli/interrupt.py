"""Handles Ctrl-C and SIGTERM: the first one asks the work to stop, the second one leaves at once.

Leaving unwinds the stack, which ends child processes and restores the terminal. When that takes
too long, the process ends without it.
"""

import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType

from kebab.core.progress import Cancel

_LEAVING_COUNT = 2


class Interrupts:
    """Counts interruptions: cancellable work is asked to stop, other work is interrupted."""

    def __init__(self, leave: Callable[[], None]) -> None:
        self._leave = leave
        self._count = 0
        self.terminated = False
        """Whether SIGTERM was received, which ends the process and not only the current work."""
        self._cancel: Cancel | None = None
        self._notice: Callable[[], None] | None = None

    def install(self, signals: Iterable[int] = (signal.SIGINT, signal.SIGTERM)) -> None:
        """Handle these signals for the rest of the process."""
        for number in signals:
            signal.signal(number, self._handle)

    def reset(self) -> None:
        """Count from zero, because new work begins."""
        self._count = 0

    @property
    def repeated(self) -> bool:
        """Whether there was more than one interruption."""
        return self._count >= _LEAVING_COUNT

    @contextmanager
    def cancelling(self, notice: Callable[[], None]) -> Iterator[Cancel]:
        """Yield a flag that the first interruption sets, after which `notice` is called."""
        self._cancel, self._notice = Cancel(), notice
        try:
            yield self._cancel
        finally:
            self._cancel, self._notice = None, None

    def interrupt(self) -> None:
        """Count one interruption; the first may only set a flag, and a third has no effect.

        Raises:
            KeyboardInterrupt: It is the second one, or the work is not cancellable.
        """
        self._count += 1
        if self._count == 1 and self._cancel is not None:
            self._cancel.request()
            if self._notice:
                self._notice()
        elif self._count <= _LEAVING_COUNT:
            if self._count == _LEAVING_COUNT:
                self._leave()
            raise KeyboardInterrupt

    def _handle(self, number: int, frame: FrameType | None) -> None:
        del frame
        self.terminated = self.terminated or number == signal.SIGTERM
        self.interrupt()
