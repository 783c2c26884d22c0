"""Brings the index of a folder up to date before a search or a question, for the flag `--in`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from kebab.errors.catalog import Cancelled, Locked, NotIndexed
from kebab.wire.search import DegradedChannel

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kebab.app.facade import Kebab
    from kebab.cli.context import CommandContext

_WAIT_S = 5
"""The seconds that the first search of a folder waits for vectors."""

in_option = click.option(
    "--in",
    "folder",
    metavar="DIR",
    help="Index this folder first if it changed, and search only there.",
)


def refresh_folder(
    context: CommandContext, kebab: Kebab, folder: str | None, queries: Iterable[str]
) -> list[DegradedChannel]:
    """Bring the index of a folder up to date; return why that is not possible now.

    Words are indexed completely, vectors as far as the time allows. What an earlier call has left
    is left again, so that only the first call waits. Without `--in`, and for empty queries, which
    are refused later, nothing happens.

    Raises:
        Cancelled: The user interrupted it.
        IoError: There is no such folder.
    """
    from kebab.app.filters import resolve_folder

    if folder is None or not any(map(str.strip, queries)):
        return []
    place, reason = resolve_folder(folder), "`--read-only`"
    if context.flags.read_only:
        from kebab.errors.system import translate_os_errors

        with translate_os_errors(folder, "read"):
            os.stat(os.path.expanduser(folder))  # noqa: PTH111, PTH116 - a `~` of nobody is a name
    else:
        try:
            _ingest(context, kebab, place)
        except Locked as signal:
            reason = signal.format_message()
        else:
            return []
    return [DegradedChannel(channel="index", reason=reason, hint=None)]


def _ingest(context: CommandContext, kebab: Kebab, folder: str) -> None:
    from kebab.cli.progress import run_work
    from kebab.wire.health import SchemaRequest
    from kebab.wire.ingest import IngestRequest

    paths = [folder, *_list_sources_below(kebab, folder)]
    pending = kebab.run(SchemaRequest()).stats.pending_embeddings
    request = IngestRequest(paths=paths, vector_seconds=0 if pending else _WAIT_S)
    report, _ = run_work(context, request, kebab=kebab)
    if report.cancelled:
        raise Cancelled(operation="search")


def _list_sources_below(kebab: Kebab, folder: str) -> list[str]:
    """Return the folders of the sources below a folder, which its own source leaves out."""
    from kebab.wire.library import SourceListRequest

    try:
        sources = kebab.run(SourceListRequest()).sources
    except NotIndexed:
        return []
    start = f"{folder.rstrip('/')}/"
    below = [one for one in sources if one.folder.startswith(start) and one.kind == "folder"]
    return [one.folder for one in below if one.state == "present"]
