"""Ctrl-C and SIGTERM: once asks the work to stop, twice leaves at once.

Leaving unwinds, so that child processes are ended and the terminal is tidied; what takes longer
than a moment is abandoned.
"""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from kebab.core.cancel import Cancel

_PATIENCE = 2


class Interrupts:
    """Counts interruptions. Work that can stop cleanly says so; other work is cut off."""

    def __init__(self, leave: Callable[[], None]) -> None:
        self._leave = leave
        self._count = 0
        self.terminated = False
        """Whether one of them came from a program, which wants all to end and not one work."""
        self._cancel: Cancel | None = None
        self._notice: Callable[[], None] = _say_nothing

    def install(self) -> None:
        """Take over SIGINT and SIGTERM for the rest of the process."""
        signal.signal(signal.SIGINT, self._handle)
        signal.signal(signal.SIGTERM, self._handle)

    def renew(self) -> None:
        """Count anew: other work begins."""
        self._count = 0

    @property
    def insisted(self) -> bool:
        """Whether there was more than one."""
        return self._count >= _PATIENCE

    @contextmanager
    def cancelling(self, notice: Callable[[], None]) -> Iterator[Cancel]:
        """Yield a flag that the first interruption sets, after which `notice` is called."""
        self._cancel, self._notice = Cancel(), notice
        try:
            yield self._cancel
        finally:
            self._cancel, self._notice = None, _say_nothing

    def interrupt(self) -> None:
        """Count one interruption; the first may only ask, and all after the second add nothing.

        Raises:
            KeyboardInterrupt: It is the second, or the work under way cannot stop by itself.
        """
        self._count += 1
        if self._count == 1 and self._cancel is not None:
            self._cancel.request()
            self._notice()
        elif self._count <= _PATIENCE:
            if self._count == _PATIENCE:
                self._leave()
            raise KeyboardInterrupt

    def _handle(self, number: int, frame: FrameType | None) -> None:
        del frame
        self.terminated = self.terminated or number == signal.SIGTERM
        self.interrupt()


def _say_nothing() -> None:
    """Take no notice."""
