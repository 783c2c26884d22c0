"""From a field of a request to what stands for it on the command line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterable

_FIRST = re.compile(r"\$\.(\w+)")


def as_typed(field: str, params: Iterable[click.Parameter]) -> str:
    """Return the flag or argument that a JSON path means; what no flag stands for stays."""
    found = _FIRST.match(field)
    return next((spelled(one) for one in params if found and one.name == found[1]), field)


def spelled(param: click.Parameter) -> str:
    """Return how help spells a flag or argument, without the signs for how often it may stand."""
    if isinstance(param, click.Option):
        return max(param.opts, key=len)
    return param.human_readable_name.strip("[]…")
