"""Brings the index of a folder up to date before a search or a question, for the flag `--in`.

`--refresh` is a field of the requests, so that the facade does it for every interface.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from kebab.cli.options import Count, add_options
from kebab.errors.catalog import Cancelled, Locked, NotIndexed
from kebab.wire.search import IndexRefresh

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kebab.app.facade import Kebab
    from kebab.cli.context import CommandContext
    from kebab.wire.ask import Answer
    from kebab.wire.ingest import IngestReport
    from kebab.wire.search import SearchResponse

F = TypeVar("F", bound="Callable[..., Any]")

WAIT_S = 5
"""The seconds that a search waits for vectors by default."""


def in_options(command: F) -> F:
    """Add the flags `--in`, `--wait` and `--refresh` to a command."""
    return add_options(_OPTIONS, command)


_LONG_WAIT_S = 600
"""The seconds to wait that a page suggests whose vectors are not complete."""

_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--in",
        "folder",
        metavar="DIR|NAMES",
        help="Index this folder first if it changed, and search only there, or in these bases.",
    ),
    click.option(
        "--wait",
        type=Count(0),
        metavar="SECONDS",
        help=f"With `--in`, wait this long for vectors (default {WAIT_S} for the first call).",
    ),
    click.option(
        "--refresh", is_flag=True, help="Index new and changed files of what is searched first."
    ),
)


class InFolder(NamedTuple):
    """The values of `--in` and `--wait`."""

    folder: str | None
    wait: int | None


def refresh_folder(
    context: CommandContext, kebab: Kebab, within: InFolder, queries: Iterable[str]
) -> IndexRefresh | None:
    """Bring the index of a folder up to date; report why that is not possible now.

    Words are indexed completely, vectors as far as the time allows. What an earlier call has left
    is left again unless `--wait` is given, so that only the first call waits. Without `--in`, and
    for empty queries, which are refused later, nothing happens.

    Raises:
        Cancelled: The user interrupted it.
        IoError: There is no such folder.
    """
    from kebab.app.coverage import summarize_report
    from kebab.app.filters import resolve_folder

    folder, wait = within
    if folder is None or not any(map(str.strip, queries)):
        return None
    place = resolve_folder(folder)
    if context.flags.read_only:
        from kebab.errors.system import translate_os_errors

        with translate_os_errors(folder, "read"):
            os.stat(os.path.expanduser(folder))  # noqa: PTH111, PTH116 - a `~` of nobody is a name
        return IndexRefresh(folder=place, refreshed=False, reason="`--read-only`")
    try:
        if wait is None:
            wait = 0 if _count_pending(kebab) else WAIT_S
        report = _ingest(context, kebab, place, wait)
    except Locked as signal:
        return IndexRefresh(folder=place, refreshed=False, reason=signal.format_message())
    return summarize_report(report, folder=place)


def _ingest(context: CommandContext, kebab: Kebab, folder: str, wait: int) -> IngestReport:
    from kebab.cli.progress import run_work
    from kebab.wire.ingest import IngestRequest

    paths = [folder, *_list_sources_below(kebab, folder)]
    request = IngestRequest(paths=paths, vector_seconds=wait)
    report, _ = run_work(context, request, kebab=kebab)
    if report.cancelled:
        raise Cancelled(operation="search")
    return report


def _count_pending(kebab: Kebab) -> int:
    """Return how many passages lack a vector before a folder is read."""
    from kebab.wire.health import SchemaRequest

    return kebab.run(SchemaRequest()).stats.pending_embeddings


def add_refresh_to_page(
    context: CommandContext, reply: SearchResponse, refresh: IndexRefresh | None
) -> SearchResponse:
    """Return a page with how the index was brought up to date.

    It suggests to wait longer where it suggested an ingest.
    """
    if refresh is None:
        return reply
    from msgspec.structs import replace

    from kebab.app.coverage import suggests_ingest

    hint = context.repeat_command("--wait", str(_LONG_WAIT_S), without=("--wait",))
    degraded = [
        replace(one, hint=hint) if suggests_ingest(one.hint) else one for one in reply.degraded
    ]
    return replace(reply, degraded=degraded, refresh=refresh)


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


def add_refresh(reply: Answer, refresh: IndexRefresh | None) -> Answer:
    """Return an answer with how the index was brought up to date."""
    if refresh is None:
        return reply
    import msgspec

    retrieval = msgspec.structs.replace(reply.retrieval, refresh=refresh)
    return msgspec.structs.replace(reply, retrieval=retrieval)


def pop_folder_flags(context: CommandContext, flags: dict[str, Any]) -> InFolder:
    """Return the values of `--in` and `--wait`, and drop `--wait`; `--in` is a filter too.

    Names of published bases, or `local`, that are no folder here become the flag `--base`.

    Raises:
        UsageError: `--wait` is given without `--in`.
    """
    folder, wait = flags.get("folder"), flags.pop("wait")
    if wait is not None and folder is None:
        raise click.UsageError("`--wait` needs `--in DIR`")
    if folder is not None and _names_bases(context, folder):
        flags["base"], flags["folder"] = (*flags.get("base", ()), *folder.split(",")), None
        return InFolder(None, None)
    return InFolder(folder, wait)


def _names_bases(context: CommandContext, text: str) -> bool:
    """Return whether published bases have these names or near ones, and no folder here has.

    A near name is refused later, with that of the base.
    """
    if os.sep in text or os.path.isdir(text):  # noqa: PTH112 - a plain string
        return False
    from kebab.app.names import list_bases

    bases = list_bases(context.load_settings(), context.config_path)
    if not bases:
        return False
    from kebab.search.nearest import find_nearest

    known = {"local", *bases}
    return all(name in known or find_nearest(name, bases, 1) for name in text.split(","))
