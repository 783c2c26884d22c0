"""Asking the person at the terminal before anything is deleted."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from kebab.cli.render.canvas import Canvas, create_canvas
from kebab.errors.catalog import Cancelled, ConfirmationRequired

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kebab.cli.session import Session


def confirm(session: Session, operation: str, plan: Callable[[Canvas], Iterable[str]]) -> None:
    """Show what would go and ask; when nothing would, there is nothing to ask.

    `operation` is the command without `kebab`, as it is to be repeated with `--yes`.

    Raises:
        ConfirmationRequired: There is nobody to ask.
        Cancelled: The answer was no.
    """
    channel = session.channels.err
    person = sys.stdin is not None and sys.stdin.isatty() and channel.terminal
    if session.flags.machine or not person:
        raise ConfirmationRequired(operation=operation)
    lines = list(plan(create_canvas(channel, session.flags.color)))
    if not lines:
        return
    channel.write("\n".join(lines) + "\n")
    channel.write("go on? [y/N] ")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Cancelled(operation=operation)
