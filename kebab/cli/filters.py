"""The flags that say which documents may answer, shared by `search` and `list`."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def filter_options(command: F) -> F:
    """Add the filters to a command; all must hold, repeated values of one are alternatives."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option("--tag", multiple=True, metavar="TAG", help="Only this tag (repeatable)."),
    click.option("--lang", multiple=True, metavar="CODE", help="Only this language (repeatable)."),
    click.option("--media", multiple=True, metavar="TYPE", help="Only this medium (repeatable)."),
    click.option("--source", multiple=True, metavar="NAME", help="Only this source (repeatable)."),
    click.option(
        "--path", "path_glob", metavar="GLOB", help="Only paths that match, `**` across folders."
    ),
    click.option("--doc-id", metavar="ID", help="Only this document."),
    click.option("--since", metavar="WHEN", help="Only files changed since: a date, or `7d`."),
    click.option("--until", metavar="WHEN", help="Only files changed before."),
)
