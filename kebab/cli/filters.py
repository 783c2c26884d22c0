"""The flags that say which documents may answer, shared by commands that look at many."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def filter_options(command: F) -> F:
    """Add the filters to a command; all must hold, repeated values of one are alternatives."""
    return _with(_OPTIONS, command)


def neighbour_options(command: F) -> F:
    """Add the filters that can hold for more than one document."""
    return _with([one for one in _OPTIONS if one is not _ONE], command)


def _with(options: Sequence[Callable[[Any], Any]], command: F) -> F:
    for option in reversed(options):
        command = option(command)
    return command


_ONE = click.option("--doc-id", metavar="ID", help="Only this document.")
_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option("--tag", multiple=True, metavar="TAG", help="Only this tag (repeatable)."),
    click.option("--lang", multiple=True, metavar="CODE", help="Only this language (repeatable)."),
    click.option("--media", multiple=True, metavar="TYPE", help="Only this medium (repeatable)."),
    click.option("--source", multiple=True, metavar="NAME", help="Only this source (repeatable)."),
    click.option(
        "--path", "path_glob", metavar="GLOB", help="Only paths that match, `**` across folders."
    ),
    _ONE,
    click.option("--since", metavar="WHEN", help="Only files changed since: a date, or `7d`."),
    click.option("--until", metavar="WHEN", help="Only files changed before."),
)
