"""Renders the report of an ingest run, and the events of `kebab watch`."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kebab.cli.render.canvas import Canvas, clean, format_bytes, format_duration
from kebab.core.documents import is_cut
from kebab.core.files import IMAGE, OCR_SETTING
from kebab.core.media import detect_media_type, get_media_type
from kebab.errors.catalog import DependencyMissing
from kebab.errors.hints import build_variable_name
from kebab.source.content import describe_unsupported
from kebab.wire.coverage import pluralize
from kebab.wire.ingest import EmbeddingSummary, IngestReport, ObjectSync

if TYPE_CHECKING:
    from kebab.wire.stream import WatchEvent, WatchReport

_MAX_NAMED_PATHS = 3

_REASONS = {
    "unsupported": "of formats that kebab does not read",
    "ignored": "named in `.gitignore` or `.kebabignore`",
    "excluded": "in folders of programs, or excluded in the settings",
    "secret": "usually with keys or passwords",
    "generated": "written by build tools",
    "ocr_off": "images",
    "over_limit": "larger than `ingest.max_file_bytes`",
    "expansion": "more than a mailbox or an archive may hold",
    "nested": "too deep within other files",
    "unreadable": "without permission to read",
    "symlink": "links within the folder",
    "symlink_broken": "links that lead nowhere",
    "symlink_outside": "links that lead out of the folder",
    "special_file": "no ordinary files",
    "other_source": "in another folder of the knowledge base",
    "undecodable_name": "with a name that is not UTF-8",
    "unsafe_name": "with a name that cannot be that of a file",
}
"""What a person reads for each reason; others are shown as they are."""

_LOSSES = ("over_limit", "expansion", "nested", "unreadable", "undecodable_name", "unsafe_name")
"""The reasons for which files are left out that somebody may miss."""


def render_ingest_report(
    reply: IngestReport, canvas: Canvas, *, verbose: bool = False, is_first: bool = False
) -> Iterator[str]:
    """Yield the counts, what could not be read, the state of the vectors, and what next.

    With `verbose` every file is named. The first report names what to try next, on a terminal.
    """
    counts = _list_counts(reply, ("updated", "moved", "removed", "unchanged", "skipped", "errors"))
    headline = f"{_format_headline(reply)}: {', '.join([f'{reply.new:,} new', *counts])}"
    yield from map(canvas.strong, canvas.wrap(headline))
    for sync in reply.objects:
        yield from _render_objects(sync, canvas, dry_run=reply.dry_run)
    losses = _list_losses(reply, canvas)
    if verbose:
        yield from _render_details(reply, losses, canvas)
    else:
        yield from _render_unread(losses, canvas)
    for fault in reply.plugin_faults:
        yield from canvas.note(f"plugin {fault}")
    for failure in reply.pictures:
        count = pluralize(failure.count, "document")
        text = f"pictures of {count} are not searched: {failure.error.message}"
        yield from canvas.note(text, failure.error.hint)
    if not reply.dry_run:
        yield from _render_vectors(reply.embedding, canvas)
    if is_first and canvas.is_terminal and not reply.dry_run:
        if reply.documents:
            yield canvas.step("next", "kebab search WORDS")
        else:
            yield canvas.step("nothing to search in; read another folder", "kebab ingest FOLDER")


Losses = dict[str, dict[str, str]]
"""What is not searched as a whole, by what became of it: its name with the reason or the remedy."""


def _list_losses(reply: IngestReport, canvas: Canvas) -> Losses:
    """Return the files that are not searched as a whole; formats are counted, with what helps."""
    titles = (
        "not read",
        "formats not read",
        "left out",
        "read in part",
        "with warnings",
        "without text",
    )
    losses: Losses = {title: {} for title in titles}
    unread = losses["not read"]
    formats: Counter[tuple[str, str]] = Counter()
    for suffix, count in reply.skipped_by_extension.items():
        known = describe_unsupported(suffix)
        usual = f"{suffix} file" if suffix else "file without an extension"
        images = get_media_type(IMAGE).label
        # What is read as an image is counted apart from other images.
        named = known if known and known.label != images else None
        label, remedy = (named.label, named.hint) if named else (usual, "")
        if detect_media_type(f"name{suffix}") == IMAGE:
            label = images
            remedy = f"export {build_variable_name(OCR_SETTING)}=true"
        formats[label, remedy] += count
    for item in reply.items:
        path, error = clean(item.doc_path), item.error
        if error and error.code == DependencyMissing.code:
            media = detect_media_type(item.doc_path)
            label = get_media_type(media).label if media else "other"
            formats[label, str(error.details["install"])] += 1
        elif error:
            cause = str(error.details.get("cause", error.message))
            unread[path] = clean(f"{cause}; {canvas.complete(error.hint)}" if error.hint else cause)
        if item.no_passages:
            rows = losses["without text"] if item.no_passages == "no text" else unread
            rows[path] = clean(item.no_passages)
        else:
            for warning in item.warnings:
                rows = losses["read in part" if is_cut(warning) else "with warnings"]
                rows[path] = "; ".join(filter(None, (rows.get(path), clean(warning))))
    for (label, remedy), count in formats.most_common():
        losses["formats not read"][f"{clean(label)} ({count:,})"] = remedy
    for reason, count in reply.skipped_by_reason.items():
        if reason in _LOSSES:
            losses["left out"][f"{count:,} {_REASONS[reason]}"] = ""
    return losses


def _render_unread(losses: Losses, canvas: Canvas) -> Iterator[str]:
    """Yield what is not searched although it should be: few by name, the others by number."""
    texts = []
    for title, rows in losses.items():
        names = [f"{name} ({why})" for name, why in rows.items()]
        shown = (names if title == "not read" else [*rows])[:_MAX_NAMED_PATHS]
        more = [f"{len(rows) - len(shown):,} more"] if len(rows) > len(shown) else []
        texts += [f"{title}: {', '.join([*shown, *more])}"] if rows else []
    flag = canvas.name_flag("--verbose")
    if text := "; ".join(texts):
        yield from canvas.wrap(f"{text}; {flag} says more" if flag else text)


def _render_details(reply: IngestReport, losses: Losses, canvas: Canvas) -> Iterator[str]:
    """Yield why files are left out, and every file that is not read as a whole."""
    reasons = {}
    for reason, count in sorted(reply.skipped_by_reason.items(), key=lambda one: -one[1]):
        words = _REASONS.get(reason, reason.replace("_", " "))
        examples = reply.skip_examples.get(reason, [])
        more = ", …" if count > len(examples) else ""
        reasons[f"{count:,} {words}"] = clean(", ".join(examples)) + more if examples else ""
    slowest = {clean(one.doc_path): f"{one.duration_ms / 1000:.2f} s" for one in reply.slowest}
    for title, rows in {**losses, "left out": reasons, "slowest files": slowest}.items():
        if rows:
            yield canvas.strong(title)
        for name, text in rows.items():
            yield from canvas.wrap(f"{name}: {text}" if text else name, "  - ")


def _render_objects(sync: ObjectSync, canvas: Canvas, *, dry_run: bool) -> Iterator[str]:
    """Yield what was downloaded from object storage, and why the rest was not."""
    yield f"  {canvas.location(clean(sync.address))}"
    if sync.listed:
        done = "to download" if dry_run else "downloaded"
        files = f"{sync.downloaded:,} {done} ({format_bytes(sync.bytes)})"
        counts = {"removed": sync.removed, "missing": sync.missing, **sync.skipped_by_reason}
        rest = [f"{count:,} {_REASONS.get(what, what)}" for what, count in counts.items() if count]
        parts = [pluralize(sync.listed, "object"), files, *rest]
        yield from canvas.wrap(", ".join(parts), "    ")
    if sync.error:
        yield from canvas.note(sync.error.message)
        if not sync.listed:
            yield from canvas.note("the files that were downloaded before stay in the index")


def _format_headline(reply: IngestReport) -> str:
    seconds = format_duration(reply.duration_ms / 1000)
    if reply.cancelled:
        rest = f", {pluralize(reply.not_read, 'file')} not read yet" if reply.not_read else ""
        return f"interrupted after {seconds}; completed work is kept{rest}"
    files = pluralize(reply.documents, "document")
    if reply.scanned != reply.documents:
        files = f"{files}, {pluralize(reply.scanned, 'file')} found"
    return f"{files}, in {seconds}" + ("; nothing was written" if reply.dry_run else "")


def _render_vectors(vectors: EmbeddingSummary, canvas: Canvas) -> Iterator[str]:
    from kebab.embed import registry

    if vectors.version:
        done = pluralize(vectors.embedded, "new passage")
        done += f", and {vectors.reused:,} whose text had a vector" if vectors.reused else ""
        row = registry.find_named(vectors.version)
        text = f"{done}, with {row.key if row else vectors.version}"
        yield from canvas.wrap(text, f"{canvas.strong('embedded')}  ")
    if vectors.lost:
        lost = pluralize(vectors.lost, "vector")
        again = "" if vectors.pending else "; their passages were embedded again"
        yield from canvas.note(f"{lost} lost or damaged{again}")
    if vectors.unsupported:
        passages = pluralize(vectors.unsupported, "passage")
        yield from canvas.note(f"{passages} in a script the model does not know; words find them")
    if not vectors.pending:
        return
    pending = f"{pluralize(vectors.pending, 'passage')} not embedded"
    why, hint = vectors.unavailable, "kebab doctor" if vectors.version else "kebab model list"
    if why is None and vectors.version:
        yield from canvas.note(f"{pending} yet", "kebab ingest")
        return
    reason = why or "no model is available"
    yield from canvas.note(f"{pending}, words find them: {reason}", vectors.hint or hint)


_MAX_NAMED_FILES = 2
"""The most files that a line names; of more it gives the numbers."""


def render_watch_event(event: "WatchEvent", canvas: Canvas) -> Iterator[str]:
    """Yield the line of an event; an `indexed` run names its files when they are few."""
    now = canvas.dim(time.strftime("%H:%M:%S"))
    message, hint = event.message, event.hint
    if event.report:
        yield from canvas.wrap(format_run(event.report), f"{now}  ")
        faults = [item.error.message for item in event.report.items if item.error]
        for fault in faults[:_MAX_NAMED_FILES]:
            yield f"  {canvas.error('error:')} {clean(fault)}"
        return
    if event.kind == "started":
        folders = [clean(folder) for folder in event.folders]
        place = folders[0] if len(folders) == 1 else pluralize(len(folders), "folder")
        yield f"{now}  watching {place}; Ctrl-C ends"
        return
    if event.error:
        what = "waiting" if event.kind == "waiting" else "will be tried again"
        message = f"{event.error.message}; {what}"
        hint = event.error.hint if event.kind == "failed" else None
    if message:
        yield from canvas.wrap(clean(message), f"{canvas.warning('warning:')} ")
        yield from canvas.hint(hint or "")


def render_watch_report(reply: "WatchReport", canvas: Canvas) -> Iterator[str]:
    """Yield the summary."""
    ended = "interrupted" if reply.interrupted else "ended"
    runs = pluralize(reply.runs, "run")
    yield f"{ended} after {format_duration(reply.duration_ms / 1000)}, {runs} with changes"


def format_run(report: IngestReport) -> str:
    """Return what a run did, e.g. `notes/a.md updated, 3 passages, 0.2 s`."""
    counts = _list_counts(report, ("new", "updated", "moved", "removed", "errors"))
    changed = [item for item in report.items if not item.error]
    if not counts:
        words = f"up to date, {pluralize(report.documents, 'document')}"
    elif len(report.items) <= _MAX_NAMED_FILES and changed:
        words = ", ".join(f"{clean(item.doc_path)} {item.kind}" for item in report.items)
    else:
        words = ", ".join(counts)
    passages = sum(item.chunk_count for item in changed)
    more = f", {pluralize(passages, 'passage')}" if passages else ""
    return f"{words}{more}, {format_duration(report.duration_ms / 1000)}"


def _list_counts(report: IngestReport, names: Sequence[str]) -> list[str]:
    words = {"skipped": "left out", "errors": "not readable"}
    counts = ((words.get(name, name), getattr(report, name)) for name in names)
    return [f"{count:,} {name}" for name, count in counts if count]
