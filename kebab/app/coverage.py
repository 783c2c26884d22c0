"""Measures what the index does not cover, on this machine or at the publisher of a base."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from kebab.app.context import UNUSABLE, AppContext
from kebab.config.settings import OBJECTS
from kebab.core.documents import check_freshness
from kebab.core.queries import Filters, StoredChunk
from kebab.doctor.survey import DiskChanges, DiskSurvey, Tick
from kebab.search.citations import build_file_path
from kebab.wire.coverage import (
    COUNTS,
    INDEXING_UNITS,
    MOST_NAMED,
    Coverage,
    Indexing,
    LeftOutText,
    format_indexing,
    format_left,
    merge_left_out,
)
from kebab.wire.record import fill_record, format_timestamp

if TYPE_CHECKING:
    from kebab.app.object_sources import MirrorState
    from kebab.core.documents import Extent
    from kebab.core.files import ScanResult, SeenFiles
    from kebab.store.sqlite.reader import SqliteReader
    from kebab.wire.record import Freshness
    from kebab.wire.search import DegradedChannel

_NOTHING: dict[str, Any] = dict.fromkeys(COUNTS, 0)
QUICK_S = 0.005
"""The time for looking at folders and files when there are results."""
THOROUGH_S = 0.05
"""The time when the reply says that something is not there."""


def measure_coverage(
    context: AppContext,
    reader: "SqliteReader",
    filters: Filters,
    *,
    seconds: float | None = QUICK_S,
    chunks: Iterable[StoredChunk] = (),
    indexing: Indexing | None = None,
) -> Coverage:
    """Return what the index covers of the sources that filters name.

    `seconds` is the time for looking at the disk, None means no limit. The files of `chunks`
    are compared too, and `indexing` is the ingest that runs now.
    """
    if context.published is not None:
        return _describe_published(context, reader)
    survey = _build_survey(context, reader, filters)
    changes = survey.compare(seconds)
    coverage = _build_coverage(context, reader, survey, changes, chunks, indexing)
    left_out = merge_left_out(
        LeftOutText(reason=reason, documents=count, words=words)
        for extent in survey.extents
        for reason, count, words in survey.known.list_omissions(extent)
    )
    return replace(coverage, left_out=left_out)


def compare_contents(context: AppContext, reader: "SqliteReader") -> tuple[Coverage, DiskChanges]:
    """Compare the content of every file with what was indexed, whatever its time says."""
    survey = _build_survey(context, reader, Filters())
    changes = survey.compare(None, contents=True)
    return _build_coverage(context, reader, survey, changes, (), find_indexing(context)), changes


def _build_survey(context: AppContext, reader: "SqliteReader", filters: Filters) -> DiskSurvey:
    """Return what compares the disk with a snapshot under the rules of a scan."""
    from kebab.store.sqlite.reader import KnownFiles

    rules = context.build_scan_rules()

    def scan_again(
        survey: DiskSurvey, extent: "Extent", seen: "SeenFiles", tick: Tick
    ) -> "ScanResult":
        from kebab.ingest.plan import find_claimed_paths
        from kebab.source.walk import FolderScanner

        extents = {one.source.name: one for one in survey.sources}
        claimed = find_claimed_paths(
            extent.source,
            (one.source for one in survey.sources),
            lambda name: survey.known.list_in("documents", extents[name], ""),
            context.private_folders,
        )
        root = extent.source.root
        return FolderScanner().scan_again(root, rules, seen, claimed=claimed, tick=tick)

    return DiskSurvey(KnownFiles(reader), filters, rules, scan_again)


def _build_coverage(
    context: AppContext,
    reader: "SqliteReader",
    survey: DiskSurvey,
    changes: DiskChanges,
    chunks: Iterable[StoredChunk],
    indexing: Indexing | None,
) -> Coverage:
    states: Mapping[Freshness, set[str]] = {"changed": changes.changed, "gone": changes.gone}
    shown = set[str]()
    for chunk in chunks:
        shown.add(chunk.path)
        file, freshness = build_file_path(chunk), check_freshness(chunk)
        if freshness in ("fresh", "published") or file is None or file in changes.touched:
            continue
        if not survey.is_unread(file):
            states[freshness].add(file)
    counts, is_whole = survey.counts, survey.extents == survey.sources
    pending = reader.count_pending() if is_whole else survey.known.count_pending(survey.extents)
    unread = (survey.known.list_unread(one) for one in survey.extents if counts.failed)
    failed = (path for one in unread for path, reason in one.items() if reason is not None)
    partial = [found for one in survey.extents for found in survey.known.list_partial(one)]
    mirrors = [*filter(None, (find_mirror(extent.source.root) for extent in survey.extents))]
    absent = sum(one.missing for one in mirrors)
    missing = (counts.unread, counts.failed, pending, len(partial), len(survey.unlisted), absent)
    differing = (len(changes.changed), len(changes.new), len(changes.gone))
    is_checked = changes.checked == counts.documents - counts.indexed
    return Coverage(
        complete=is_checked
        and bool(survey.sources)
        and not any((*missing, *differing, changes.unchecked_folders, indexing)),
        files=counts.files + absent,
        unread=counts.unread + absent,
        failed=counts.failed,
        failed_examples=sorted(failed, key=lambda path: (path not in shown, path))[:MOST_NAMED],
        changed=len(changes.changed),
        new=len(changes.new),
        gone=len(changes.gone),
        checked=changes.checked,
        # Only the mirror of a store is compared here, so it is as old as the last listing.
        checked_at=format_timestamp(
            min([context.clock.now(), *(one.synced_at for one in mirrors)])
        ),
        unchecked_folders=changes.unchecked_folders,
        unlisted=survey.unlisted,
        pending_vectors=pending,
        partial=len(partial),
        partial_examples=[path for path, _ in partial[:MOST_NAMED]],
        partial_reasons=[reason for _, reason in partial[:MOST_NAMED]],
        indexing=indexing,
    )


def find_mirror(root: str) -> "MirrorState | None":
    """Return what is known of a mirror of object storage; None for the root of another source."""
    if Path(root).parent.name != OBJECTS:
        return None
    from kebab.app.object_sources import read_state

    return read_state(Path(root))


def _describe_published(context: AppContext, reader: "SqliteReader") -> Coverage:
    """Return what the index of the publisher covered: nothing here tells about its files.

    A copy that may be old is not complete.
    """
    state = context.published.state if context.published else None
    known = state.manifest.coverage if state else None
    pending = reader.count_pending()
    if state is None or known is None:
        known = Coverage(
            complete=False,
            checked_at=state.manifest.created_at if state else format_timestamp(0),
            unlisted=[],
            indexing=None,
            **_NOTHING,
        )
    is_complete = known.complete and not pending and state is not None and not state.problem
    return replace(known, complete=is_complete, pending_vectors=pending, indexing=None)


def find_indexing(context: AppContext) -> Indexing | None:
    """Return the ingest that is running now."""
    from kebab.store.sqlite.lock import read_writer

    writer = read_writer(context.paths.data)
    if writer is None or writer.ingest is None:
        return None
    return fill_record(
        Indexing,
        writer.ingest,
        pid=writer.pid,
        started_at=format_timestamp(writer.ingest.started),
        unit=INDEXING_UNITS.get(writer.ingest.unit),
        per_second=writer.ingest.rate,
        seconds_left=writer.ingest.left,
    )


def explain_degraded(
    channels: "Iterable[DegradedChannel]", indexing: Indexing | None, *, published: bool = False
) -> "list[DegradedChannel]":
    """Return degraded channels, of which none suggests an ingest that runs, or is not ours to run.

    Only the publisher of a `published` base can ingest.
    """
    if indexing is None and not published:
        return list(channels)
    state = f"; indexing: {format_indexing(indexing)}" if indexing else ""
    if indexing and indexing.unit == "passages" and indexing.seconds_left is not None:
        state = f", about {format_left(indexing.seconds_left)} left"
    return [
        replace(channel, reason=f"{channel.reason}{state}", hint=None)
        if suggests_ingest(channel.hint)
        else channel
        for channel in channels
    ]


def suggests_ingest(hint: str | None) -> bool:
    """Return whether a hint is to run an ingest."""
    words = (hint or "").split()
    return words[:1] == ["kebab"] and "ingest" in words


def measure_stored_coverage(
    context: AppContext, *, seconds: float | None = QUICK_S
) -> Coverage | None:
    """Return what the index covers of all sources; None without an index that can be read."""
    try:
        with context.open_reader() as reader:
            indexing = find_indexing(context)
            return measure_coverage(context, reader, Filters(), seconds=seconds, indexing=indexing)
    except UNUSABLE:
        return None
