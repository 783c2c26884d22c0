"""Renders the events and the summary of `kebab watch`, one calm line for each."""

import time
from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas, format_duration, pluralize
from kebab.cli.render.width import clean
from kebab.wire.ingest import IngestReport
from kebab.wire.watch import WatchEvent, WatchReport

_NAMED = 2
"""The most files that a line names; of more it gives the numbers."""


def render_watch_event(event: WatchEvent, canvas: Canvas) -> Iterator[str]:
    """Yield the line of an event; an `indexed` run names its files when they are few."""
    if event.report:
        yield f"{_format_time(canvas)}  {canvas.fit(format_run(event.report), 10)}"
        yield from _render_faults(event.report, canvas)
    elif event.kind == "started":
        folders = [clean(folder) for folder in event.folders]
        place = folders[0] if len(folders) == 1 else pluralize(len(folders), "folder")
        yield f"{_format_time(canvas)}  watching {place}; Ctrl-C ends"
    elif event.error:
        what = "waiting" if event.kind == "waiting" else "will be tried again"
        yield from _render_warning(f"{event.error.message}; {what}", canvas)
        if event.error.hint and event.kind == "failed":
            yield from canvas.hint(event.error.hint)
    elif event.message:
        yield from _render_warning(event.message, canvas)
        if event.hint:
            yield from canvas.hint(event.hint)


def render_watch_report(reply: WatchReport, canvas: Canvas) -> Iterator[str]:
    """Yield the summary."""
    del canvas
    totals = reply.totals
    counts = {name: getattr(totals, name) for name in totals.__struct_fields__}
    words = _join_counts(counts) or "nothing changed"
    ended = "interrupted" if reply.interrupted else "ended"
    yield f"{ended} after {format_duration(reply.duration_ms / 1000)}; {words}"


def format_run(report: IngestReport) -> str:
    """Return what a run did, e.g. `notes/a.md updated, 3 passages, 0.2 s`."""
    names = ("new", "updated", "moved", "removed", "errors")
    counts = {name: getattr(report, name) for name in names}
    changed = [item for item in report.items if not item.error]
    if not any(counts.values()):
        words = f"up to date, {pluralize(report.documents, 'document')}"
    elif len(report.items) <= _NAMED and changed:
        words = ", ".join(f"{clean(item.doc_path)} {item.kind}" for item in report.items)
    else:
        words = _join_counts(counts)
    parts = [words]
    passages = sum(item.chunk_count for item in changed)
    if passages:
        parts.append(pluralize(passages, "passage"))
    return ", ".join([*parts, format_duration(report.duration_ms / 1000)])


def _join_counts(counts: dict[str, int]) -> str:
    words = {"errors": "not readable"}
    return ", ".join(
        f"{count:,} {words.get(name, name)}" for name, count in counts.items() if count
    )


def _render_faults(report: IngestReport, canvas: Canvas) -> Iterator[str]:
    faulty = [item for item in report.items if item.error]
    for item in faulty[:_NAMED]:
        if item.error:
            yield f"  {canvas.error('error:')} {clean(item.error.message)}"


def _render_warning(text: str, canvas: Canvas) -> list[str]:
    return canvas.wrap_with_label("warning:", clean(text), canvas.warning)


def _format_time(canvas: Canvas) -> str:
    return canvas.dim(time.strftime("%H:%M:%S"))
