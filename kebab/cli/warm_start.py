"""Starts the warm process at the end of a call that ran cold."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kebab.cli.context import CommandContext
    from kebab.cli.options import Flags


def start_warm_process(context: CommandContext) -> None:
    """Leave a warm process behind for the next call, if the settings of this one allow it.

    The call is over, so nothing that happens here is reported.
    """
    with suppress(OSError, ImportError, KeyboardInterrupt):
        settings = context.find_settings()
        if settings is None or not settings.daemon.auto:
            return
        from kebab.warm.start import start_in_background

        read_only = ["--read-only"] if context.flags.read_only else []
        start_in_background([*list_place_flags(context.flags), *read_only], os.environ)


def list_place_flags(flags: Flags) -> list[str]:
    """Return the flags that name the settings and the knowledge base, with absolute paths."""
    named = (("--config", flags.config), ("--data-dir", flags.data_dir))
    found = [(name, os.path.abspath(value)) for name, value in named if value]  # noqa: PTH100 - keeps links
    return [word for pair in found for word in pair]
