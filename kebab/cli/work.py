"""Long work: shown while it runs, stopped by Ctrl-C, reported in the form that was asked for."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from kebab.cli.ticker import Display, Ticker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kebab.cli.session import Session
    from kebab.core.cancel import Cancel


@contextmanager
def working(session: Session, *, stream: bool = False) -> Iterator[tuple[Ticker, Cancel]]:
    """Yield where progress goes, and the flag that an interruption sets."""
    with display(session, stream=stream) as shown, Ticker(shown) as ticker:
        session.on_leave = shown.leave
        with session.interrupts.cancelling(shown.stopping) as cancel:
            yield ticker, cancel


def display(session: Session, *, stream: bool) -> Display:
    """Return what shows progress: events, a bar, or plain lines."""
    if session.flags.machine:
        from kebab.cli.events import Events

        return Events(session.line if stream else session.aside, always_ends=stream)
    from kebab.cli.render.canvas import create_canvas
    from kebab.cli.render.progress import Bar, Lines

    canvas = create_canvas(session.channels.err, session.flags.color)
    return Bar(session.channels.err, canvas) if canvas.live else Lines(session.channels.err)
