"""Cancellation: a flag that a surface sets and long work looks at between steps."""


class Cancel:
    """Set once, never cleared; safe to set from a signal handler or another thread."""

    def __init__(self) -> None:
        self._requested = False

    def request(self) -> None:
        """Ask the work to stop after its current step."""
        self._requested = True

    @property
    def requested(self) -> bool:
        """Whether the work was asked to stop."""
        return self._requested
