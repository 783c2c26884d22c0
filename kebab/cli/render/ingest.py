"""Renders the report of an ingest run, the events of `kebab watch`, and why files are indexed."""

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence

from kebab.cli.render.canvas import (
    Canvas,
    clean,
    format_bytes,
    format_duration,
    measure_width,
    pad,
    pluralize,
    render_fields,
    truncate,
)
from kebab.errors.catalog import DependencyMissing, ParseFailed
from kebab.wire.error import ErrorReply
from kebab.wire.ingest import EmbeddingSummary, IngestReport, UnreadKind
from kebab.wire.sources import PathExplanation, PathExplanations, SkipRule
from kebab.wire.stream import WatchEvent, WatchReport

_FEW = 10
_FEW_KINDS = 6
_MAX_NAMED_PATHS = 3
_EXTRA = "kebab["
"""A part of every command that installs an extra of kebab."""
_WIDEST_LABEL = 40
_NO_BREAK_SPACE = "\u00a0"
_REASONS = {
    "unsupported": "of formats that kebab does not read",
    "ignored": "named in `.gitignore` or `.kebabignore`",
    "excluded": "in folders of programs, or excluded in the settings",
    "hidden": "hidden",
    "ocr_off": "images",
    "over_limit": "larger than `ingest.max_file_bytes`",
    "unreadable": "without permission to read",
    "duplicate": "links to files that are read anyway",
    "symlink_broken": "links that lead nowhere",
    "symlink_outside": "links that lead out of the folder",
    "symlink_loop": "links in a circle",
    "special_file": "no ordinary files",
    "other_source": "in another folder of the knowledge base",
    "undecodable_name": "with a name that is not UTF-8",
}
"""What a person reads for each reason; others are shown as they are."""


def render_ingest_report(
    reply: IngestReport, canvas: Canvas, *, verbose: bool = False
) -> Iterator[str]:
    """Yield the counts, skipped and failed files, and the state of the vectors."""
    yield canvas.strong(_format_headline(reply))
    yield from render_fields(_list_counts(reply, canvas), canvas, "  ")
    yield from _render_kinds(reply, canvas)
    yield from _render_skipped(reply, canvas, verbose=verbose)
    yield from _render_remedies(reply, canvas, verbose=verbose)
    yield from _render_failures(reply, canvas, verbose=verbose)
    yield from _render_warnings(reply, canvas, verbose=verbose)
    yield from _render_vectors(reply, canvas)
    if verbose and reply.slowest:
        yield canvas.strong("slowest files")
        for file in reply.slowest:
            yield f"  {file.duration_ms / 1000:>6.2f} s  {clean(file.doc_path)}"


def _format_headline(reply: IngestReport) -> str:
    seconds = format_duration(reply.duration_ms / 1000)
    if reply.cancelled:
        rest = f", {pluralize(reply.not_read, 'file')} not read yet" if reply.not_read else ""
        return f"interrupted after {seconds}; completed work is kept{rest}"
    files = pluralize(reply.documents, "document")
    if reply.scanned != reply.documents:
        files = f"{files}, {pluralize(reply.scanned, 'file')} found"
    return f"{files}, in {seconds}" + ("; nothing was written" if reply.dry_run else "")


def _list_counts(reply: IngestReport, canvas: Canvas) -> list[tuple[str, str]]:
    names = ("new", "updated", "moved", "removed", "unchanged", "skipped", "errors")
    counts = {name: int(getattr(reply, name)) for name in names}
    widest = max(len(f"{count:,}") for count in counts.values())
    paint = {"errors": canvas.error, "new": canvas.success, "updated": canvas.success}
    return [
        (name, paint.get(name, str)(f"{count:>{widest},}"))
        for name, count in counts.items()
        if count or name in ("new", "unchanged")
    ]


def _render_kinds(reply: IngestReport, canvas: Canvas) -> Iterator[str]:
    """Yield the readable files by format, the most first."""
    if not reply.media:
        return
    shown = list(reply.media.items())[:_FEW]
    rest = len(reply.media) - len(shown)
    names = [f"{count:,} {clean(label)}" for label, count in shown]
    more = [pluralize(rest, "other format")] if rest else []
    text = _join_names([*names, *more])
    lines = canvas.wrap_with_label("  kinds    ", text, str)
    yield from (line.replace(_NO_BREAK_SPACE, " ") for line in lines)


def _join_names(names: Sequence[str]) -> str:
    """Return names with commas; lines break behind these only."""
    return ", ".join(name.replace(" ", _NO_BREAK_SPACE) for name in names)


def _render_skipped(reply: IngestReport, canvas: Canvas, *, verbose: bool = False) -> Iterator[str]:
    """Yield what was left out by reason, and the formats that kebab does not read."""
    if not reply.skipped_by_reason:
        return
    yield canvas.strong("left out")
    ordered = sorted(reply.skipped_by_reason.items(), key=lambda item: (-item[1], item[0]))
    width = max(5, *(len(f"{count:,}") for _, count in ordered))
    for reason, count in ordered:
        words = _REASONS.get(reason, reason.replace("_", " "))
        examples = reply.skip_examples.get(reason, [])
        if reason == "unsupported" and reply.unread:
            examples = []
        more = ", …" if count > len(examples) else ""
        listed = clean(", ".join(examples)) + more if examples else ""
        start = f"  {count:>{width},}  {words}" + ("  " if listed else "")
        yield f"{start}{canvas.dim(canvas.fit(listed, len(start)))}".rstrip()
        if reason == "unsupported":
            unread = sorted(
                (kind for kind in reply.unread if kind.reason == "unsupported"),
                key=lambda kind: -kind.count,
            )
            shown = unread if verbose else unread[:_FEW_KINDS]
            names = [f"{clean(kind.label)} {kind.count:,}" for kind in shown]
            if len(unread) > len(shown):
                names.append(f"and {pluralize(len(unread) - len(shown), 'more kind')}")
            indent = " " * (width + 4)
            for line in canvas.wrap(_join_names(names), indent) if names else []:
                yield canvas.dim(line.replace(_NO_BREAK_SPACE, " "))


def _render_remedies(reply: IngestReport, canvas: Canvas, *, verbose: bool) -> Iterator[str]:
    """Yield what would make files readable: one command, and a line for each other kind."""
    if any(kind.hint for kind in reply.unread):
        yield canvas.strong("to read them too")
    lacking = [kind for kind in reply.unread if _EXTRA in (kind.hint or "") and reply.install]
    if lacking:
        yield from _render_install(lacking, reply.install or "", canvas, verbose=verbose)
    helped = [kind for kind in reply.unread if kind.hint and kind not in lacking]
    if not helped:
        return
    shown = helped if verbose else helped[:_FEW_KINDS]
    labels = [f"{kind.count:>5,}  {clean(kind.label)}" for kind in shown]
    width = min(_WIDEST_LABEL, max(map(measure_width, labels)))
    for kind, label in zip(shown, labels, strict=True):
        yield f"  {pad(truncate(label, width), width)}  {canvas.success(clean(kind.hint or ''))}"
    if len(helped) > len(shown):
        yield canvas.dim(f"  and {len(helped) - len(shown)} more; --verbose lists them all")


def _render_install(
    kinds: Sequence[UnreadKind], install: str, canvas: Canvas, *, verbose: bool
) -> Iterator[str]:
    """Yield the formats that one command makes readable, and the command."""
    shown = kinds if verbose else kinds[:_FEW_KINDS]
    names = [f"{kind.count:,} {clean(kind.label)}" for kind in shown]
    if len(kinds) > len(shown):
        names.append(pluralize(len(kinds) - len(shown), "other format"))
    for line in canvas.wrap(_join_names(names), "  "):
        yield line.replace(_NO_BREAK_SPACE, " ")
    yield f"    {canvas.success(clean(install))}"


def _render_failures(reply: IngestReport, canvas: Canvas, *, verbose: bool) -> Iterator[str]:
    """Yield the files that failed, those with one cause together.

    Files that only lack a library are among what would make files readable.
    """
    lacking = any(kind.reason == "library_missing" for kind in reply.unread)
    shown_above = DependencyMissing.meaning.code if lacking else ""
    failed = [
        (item.doc_path, item.error)
        for item in reply.items
        if item.error is not None and item.error.code != shown_above
    ]
    if not failed:
        return
    yield canvas.error("could not be indexed")
    groups: defaultdict[tuple[str, str], list[tuple[str, ErrorReply]]] = defaultdict(list)
    for path, error in failed:
        groups[error.code, str(error.details.get("cause", path))].append((path, error))
    ordered = sorted(groups.items(), key=lambda group: -len(group[1]))
    shown = ordered if verbose else ordered[:_FEW]
    for (_, cause), members in shown:
        if verbose or len(members) == 1:
            for path, error in members:
                reason = error.message
                if error.code == ParseFailed.meaning.code:  # its message has the path again
                    reason = str(error.details.get("cause", reason))
                yield from canvas.hang(f"{clean(path)}: {clean(reason)}", "  ")
                if error.hint:
                    yield f"    {canvas.success('hint:')} {clean(error.hint)}"
        else:
            yield from _render_group(cause, [path for path, _ in members], canvas)
    if len(ordered) > len(shown):
        rest = sum(len(members) for _, members in ordered[len(shown) :])
        yield canvas.dim(f"  and {rest:,} more; --verbose lists them all")


def _render_group(cause: str, paths: Sequence[str], canvas: Canvas) -> Iterator[str]:
    """Yield a cause with the number of its files and a few of their names."""
    yield from canvas.hang(f"{pluralize(len(paths), 'file')}: {clean(cause)}", "  ")
    more = ", …" if len(paths) > _MAX_NAMED_PATHS else ""
    names = clean(", ".join(paths[:_MAX_NAMED_PATHS])) + more
    yield "    " + canvas.dim(canvas.fit(names, 4))


def _render_warnings(reply: IngestReport, canvas: Canvas, *, verbose: bool) -> Iterator[str]:
    warned = [item for item in reply.items if item.warnings]
    if warned and not verbose:
        yield canvas.dim(f"{pluralize(len(warned), 'file')} with warnings; --verbose shows them")
        return
    for item in warned:
        for text in item.warnings:
            yield from canvas.hang(f"{clean(item.doc_path)}: {clean(text)}", "  ")


def _render_vectors(reply: IngestReport, canvas: Canvas) -> Iterator[str]:
    if reply.dry_run:
        return
    vectors = reply.embedding
    done = f"{vectors.embedded:,} computed, {vectors.reused:,} reused"
    model = f" with {vectors.version}" if vectors.version else ""
    yield f"{canvas.strong('vectors')}  {done}{model}"
    if vectors.reason:
        yield from canvas.note(f"this model was chosen because {clean(vectors.reason)}")
    if vectors.advice:
        yield from canvas.note(clean(vectors.advice))
        yield from canvas.hint(vectors.hint or "kebab model list")
    if vectors.lost:
        lost = pluralize(vectors.lost, "vector")
        again = "" if vectors.pending else "; their passages were embedded again"
        yield from canvas.note(f"{lost} lost or damaged{again}")
    if vectors.unsupported:
        passages = pluralize(vectors.unsupported, "passage")
        yield from canvas.note(f"{passages} in a script the model does not know; words find them")
    if not vectors.pending:
        return
    pending = pluralize(vectors.pending, "passage")
    if vectors.version is None:
        yield from canvas.note(f"{pending} without a vector, because no model is available")
        yield from canvas.hint("words are searched; `kebab model list` shows the models")
    elif vectors.unavailable:
        yield from canvas.note(f"{pending} without a vector: {clean(vectors.unavailable)}")
        yield from canvas.hint(vectors.hint or "kebab doctor")
    else:
        yield from canvas.note(f"{pending} still without a vector")
        yield from canvas.hint("kebab ingest")


def render_path_explanations(reply: PathExplanations, canvas: Canvas) -> Iterator[str]:
    """Yield for each path whether it is read, why, and what can be done."""
    for number, found in enumerate(reply.paths):
        if number:
            yield ""
        state = canvas.success("in") if found.included else canvas.warning("out")
        yield f"{canvas.location(clean(found.path))}  {state}"
        yield from canvas.hang(clean(found.message), "  ")
        yield from render_fields(_list_fields(found), canvas, "  ")
        for warning in found.indexed.warnings if found.indexed else []:
            yield from canvas.note(clean(warning))
        if found.hint:
            yield from canvas.hint(clean(found.hint))


def _list_fields(found: PathExplanation) -> list[tuple[str, str]]:
    indexed = found.indexed
    label = found.label or ""
    return [
        ("rule", _format_rule(found.rule) if found.rule else ""),
        ("source", clean(found.source or "")),
        ("format", f"{label} ({found.media})" if found.media else label),
        ("parser", found.parser or ""),
        ("size", "" if found.size is None else format_bytes(found.size)),
        ("document", f"{indexed.doc_id}  {clean(indexed.title)}" if indexed else ""),
        ("passages", f"{indexed.chunk_count:,}" if indexed else ""),
        ("indexed", f"{indexed.indexed_at} ({indexed.freshness})" if indexed else ""),
    ]


def _format_rule(rule: SkipRule) -> str:
    """Return a rule as `FILE:LINE: PATTERN`, or the setting with its pattern."""
    pattern = f"  {clean(rule.pattern)}" if rule.pattern else ""
    if rule.file is not None:
        return f"{clean(rule.file)}:{rule.line}{pattern}"
    if rule.setting:
        return f"{rule.setting}{pattern}"
    return f"built in  {clean(rule.path.rpartition('/')[2])}"


_MAX_NAMED_FILES = 2
"""The most files that a line names; of more it gives the numbers."""


def render_watch_event(event: WatchEvent, canvas: Canvas) -> Iterator[str]:
    """Yield the line of an event; an `indexed` run names its files when they are few."""
    if event.report:
        yield f"{_format_time(canvas)}  {canvas.fit(format_run(event.report), 10)}"
        faulty = [item for item in event.report.items if item.error]
        for item in faulty[:_MAX_NAMED_FILES]:
            if item.error:
                yield f"  {canvas.error('error:')} {clean(item.error.message)}"
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
    elif len(report.items) <= _MAX_NAMED_FILES and changed:
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


def _render_warning(text: str, canvas: Canvas) -> list[str]:
    return canvas.wrap_with_label("warning:", clean(text), canvas.warning)


def _format_time(canvas: Canvas) -> str:
    return canvas.dim(time.strftime("%H:%M:%S"))
