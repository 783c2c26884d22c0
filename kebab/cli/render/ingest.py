"""Renders the report of an ingest run, the events of `kebab watch`, and why files are indexed."""

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kebab.cli.render.canvas import (
    Canvas,
    Column,
    clean,
    format_bytes,
    format_duration,
    glue,
    measure_width,
    pluralize,
    render_columns,
    render_fields,
)
from kebab.core.documents import is_cut
from kebab.core.pictures import UNREAD_PICTURE
from kebab.errors.catalog import DependencyMissing, ParseFailed
from kebab.wire.ingest import EmbeddingSummary, IngestReport, ObjectSync
from kebab.wire.library import PathExplanations, SkipRule
from kebab.wire.stream import WatchEvent, WatchReport

if TYPE_CHECKING:
    from kebab.wire.error import ErrorReply

_FEW = 10
_FEW_KINDS = 6
_MAX_NAMED_PATHS = 3
_EXTRA = "kebab["
"""A part of every command that installs an extra of kebab."""
_WIDEST_LABEL = 40

_REASONS = {
    "unsupported": "of formats that kebab does not read",
    "ignored": "named in `.gitignore` or `.kebabignore`",
    "excluded": "in folders of programs, or excluded in the settings",
    "hidden": "hidden",
    "secret": "usually with keys or passwords",
    "generated": "written by build tools",
    "ocr_off": "images",
    "over_limit": "larger than `ingest.max_file_bytes`",
    "expansion": "more than a mailbox or an archive may hold",
    "nested": "too deep within other files",
    "unreadable": "without permission to read",
    "duplicate": "links to files that are read anyway",
    "symlink_broken": "links that lead nowhere",
    "symlink_outside": "links that lead out of the folder",
    "symlink_loop": "links in a circle",
    "special_file": "no ordinary files",
    "other_source": "in another folder of the knowledge base",
    "undecodable_name": "with a name that is not UTF-8",
    "unsafe_name": "with a name that cannot be that of a file",
}
"""What a person reads for each reason; others are shown as they are."""


def render_ingest_report(
    reply: IngestReport, canvas: Canvas, *, verbose: bool = False, is_first: bool = False
) -> Iterator[str]:
    """Yield the counts, skipped and failed files, and the state of the vectors.

    The first report names what to try next, on a terminal.
    """
    yield canvas.strong(_format_headline(reply))
    names = ("new", "updated", "moved", "removed", "unchanged", "skipped", "errors")
    counts = {name: f"{getattr(reply, name):,}" for name in names}
    widest = max(map(len, counts.values()))
    paint = {"errors": canvas.error, "new": canvas.success, "updated": canvas.success}
    rows = [
        (name, paint.get(name, str)(f"{count:>{widest}}"))
        for name, count in counts.items()
        if count != "0" or name in ("new", "unchanged")
    ]
    yield from render_fields(rows, canvas, "  ")
    if reply.media:
        kinds = [f"{count:,} {clean(label)}" for label, count in reply.media.items()]
        text = _join_some(kinds, _FEW, "other format")
        yield from canvas.wrap_with_label("  kinds    ", text, str)
    for sync in reply.objects:
        yield from _render_objects(sync, canvas, dry_run=reply.dry_run)
    yield from _render_skipped(reply, canvas, verbose=verbose)
    yield from _render_remedies(reply, canvas, verbose=verbose)
    yield from _render_failures(reply, canvas, verbose=verbose)
    for fault in reply.plugin_faults:
        yield from canvas.note(clean(f"plugin {fault}"))
    for failure in reply.pictures:
        count = pluralize(failure.count, "document")
        text = f"pictures of {count} are not searched: {clean(failure.error.message)}"
        yield from canvas.note(text)
        if failure.error.hint:
            yield from canvas.hint(clean(failure.error.hint))
    yield from _render_losses(reply, canvas, verbose=verbose)
    if not reply.dry_run:
        yield from _render_vectors(reply.embedding, canvas)
    if verbose and reply.slowest:
        yield canvas.strong("slowest files")
        for file in reply.slowest:
            yield f"  {file.duration_ms / 1000:>6.2f} s  {clean(file.doc_path)}"
    if is_first and canvas.is_terminal and not reply.dry_run:
        yield ""
        if not reply.documents:
            yield canvas.step("nothing to search in; read another folder", "kebab ingest FOLDER")
            return
        yield canvas.step("search", "kebab search WORDS")
        yield canvas.step("search while you type", "kebab search")
        yield canvas.step("see what is in it", "kebab schema")


def _render_objects(sync: ObjectSync, canvas: Canvas, *, dry_run: bool) -> Iterator[str]:
    """Yield what was downloaded from object storage, and why the rest was not."""
    yield f"  {canvas.location(clean(sync.address))}"
    if sync.listed:
        done = "to download" if dry_run else "downloaded"
        parts = [
            pluralize(sync.listed, "object"),
            f"{sync.downloaded:,} {done} ({format_bytes(sync.bytes)})",
            *([f"{sync.removed:,} removed"] if sync.removed else []),
            *([f"{sync.missing:,} missing"] if sync.missing else []),
            *(
                f"{count:,} {_REASONS.get(reason, reason)}"
                for reason, count in sync.skipped_by_reason.items()
            ),
        ]
        yield from canvas.hang(", ".join(parts), "    ", 4)
    if sync.error:
        yield from canvas.note(clean(sync.error.message))
        if not sync.listed:
            yield from canvas.note("the files that were downloaded before stay in the index")


def _render_losses(reply: IngestReport, canvas: Canvas, *, verbose: bool) -> Iterator[str]:
    """Yield the documents without a passage, those that are read in part, and other warnings."""
    empty = [(item.doc_path, item.no_passages) for item in reply.items if item.no_passages]
    warned = [
        (item.doc_path, warning)
        for item in reply.items
        if not item.no_passages
        for warning in item.warnings
    ]
    if not verbose:  # the reasons are shown once
        empty, warned = (
            [one for one in pairs if UNREAD_PICTURE not in one[1]] for pairs in (empty, warned)
        )
    cut = [pair for pair in warned if is_cut(pair[1])]
    others = [pair for pair in warned if not is_cut(pair[1])]
    shown = [("found by name only", empty), ("searched in part", cut)]
    for title, pairs in [*shown, ("warnings", others)] if verbose else shown:
        if pairs:
            yield canvas.strong(title)
        for path, warning in pairs if verbose else pairs[:_FEW]:
            yield from canvas.hang(f"{clean(path)}: {clean(warning)}", "  ", 4)
        if len(pairs) > _FEW and not verbose:
            yield _note_verbose(f"  and {len(pairs) - _FEW:,} more", canvas)
    if others and not verbose:
        files = pluralize(len({path for path, _ in others}), "file")
        yield _note_verbose(f"{files} with warnings", canvas)


def _note_verbose(text: str, canvas: Canvas) -> str:
    """Return a line on what is left out, with the flag that lists it where there are flags."""
    flag = canvas.name_flag("--verbose")
    return canvas.dim(f"{text}; {flag} lists them all" if flag else text)


def _format_headline(reply: IngestReport) -> str:
    seconds = format_duration(reply.duration_ms / 1000)
    if reply.cancelled:
        rest = f", {pluralize(reply.not_read, 'file')} not read yet" if reply.not_read else ""
        return f"interrupted after {seconds}; completed work is kept{rest}"
    files = pluralize(reply.documents, "document")
    if reply.scanned != reply.documents:
        files = f"{files}, {pluralize(reply.scanned, 'file')} found"
    return f"{files}, in {seconds}" + ("; nothing was written" if reply.dry_run else "")


def _join_some(names: Sequence[str], most: int | None, rest: str, lead: str = "") -> str:
    """Return at most `most` names and the number of the others; lines break behind commas only."""
    shown = [*names[:most]]
    if len(names) > len(shown):
        shown.append(lead + pluralize(len(names) - len(shown), rest))
    return ", ".join(map(glue, shown))


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
            kinds = [f"{clean(kind.label)} {kind.count:,}" for kind in unread]
            text = _join_some(kinds, None if verbose else _FEW_KINDS, "more kind", "and ")
            yield from map(canvas.dim, canvas.wrap(text, " " * (width + 4)) if text else [])


def _render_remedies(reply: IngestReport, canvas: Canvas, *, verbose: bool) -> Iterator[str]:
    """Yield what would make files readable: one command, and a line for each other kind."""
    if any(kind.hint for kind in reply.unread):
        yield canvas.strong("to read them too")
    lacking = [kind for kind in reply.unread if _EXTRA in (kind.hint or "") and reply.install]
    if lacking:
        kinds = [f"{kind.count:,} {clean(kind.label)}" for kind in lacking]
        text = _join_some(kinds, None if verbose else _FEW_KINDS, "other format")
        yield from canvas.wrap(text, "  ")
        yield f"    {canvas.success(clean(reply.install or ''))}"
    helped = [kind for kind in reply.unread if kind.hint and kind not in lacking]
    if not helped:
        return
    shown = helped if verbose else helped[:_FEW_KINDS]
    rows = [(f"{kind.count:>5,}  {clean(kind.label)}", clean(kind.hint or "")) for kind in shown]
    width = min(_WIDEST_LABEL, max(measure_width(label) for label, _ in rows))
    columns = (Column(width=width), Column("", canvas.success))
    yield from render_columns(columns, rows, canvas, "  ")
    if len(helped) > len(shown):
        yield _note_verbose(f"  and {len(helped) - len(shown)} more", canvas)


def _render_failures(reply: IngestReport, canvas: Canvas, *, verbose: bool) -> Iterator[str]:
    """Yield the files that failed, those with one cause together.

    Files that only lack a library are among what would make files readable.
    """
    lacking = any(kind.reason == "library_missing" for kind in reply.unread)
    shown_above = DependencyMissing.code if lacking else ""
    groups: defaultdict[tuple[str, str], list[tuple[str, ErrorReply]]] = defaultdict(list)
    for item in reply.items:
        if (error := item.error) and error.code != shown_above:
            cause = str(error.details.get("cause", item.doc_path))
            groups[error.code, cause].append((item.doc_path, error))
    if not groups:
        return
    yield canvas.error("could not be indexed")
    ordered = sorted(groups.items(), key=lambda group: -len(group[1]))
    shown = ordered if verbose else ordered[:_FEW]
    for (_, cause), members in shown:
        if verbose or len(members) == 1:
            for path, error in members:
                reason = error.message
                if error.code == ParseFailed.code:  # its message has the path again
                    reason = str(error.details.get("cause", reason))
                yield from canvas.hang(f"{clean(path)}: {clean(reason)}", "  ", 4)
                if error.hint:
                    yield f"    {canvas.success('hint:')} {clean(error.hint)}"
        else:
            count = pluralize(len(members), "file")
            yield from canvas.hang(f"{count}: {clean(cause)}", "  ", 4)
            more = ", …" if len(members) > _MAX_NAMED_PATHS else ""
            names = clean(", ".join(path for path, _ in members[:_MAX_NAMED_PATHS])) + more
            yield "    " + canvas.dim(canvas.fit(names, 4))
    if len(ordered) > len(shown):
        rest = sum(len(members) for _, members in ordered[len(shown) :])
        yield _note_verbose(f"  and {rest:,} more", canvas)


def _render_vectors(vectors: EmbeddingSummary, canvas: Canvas) -> Iterator[str]:
    from kebab.embed import registry

    if vectors.version:
        done = f"{pluralize(vectors.embedded, 'new passage')}, {vectors.reused:,} as before"
        row = registry.find_named(vectors.version, registry.MODELS)
        because = f" because {clean(vectors.reason)}" if vectors.reason else ""
        text = f"{done}, with {row.key if row else vectors.version}{because}"
        yield from canvas.hang(text, f"{canvas.strong('embedded')}  ", 10)
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
        yield from canvas.note(f"{pending} not embedded, because no model is available")
        yield from canvas.hint("words are searched; `kebab model list` shows the models")
    elif vectors.unavailable:
        yield from canvas.note(f"{pending} not embedded: {clean(vectors.unavailable)}")
        yield from canvas.hint(vectors.hint or "kebab doctor")
    else:
        yield from canvas.note(f"{pending} not embedded yet")
        yield from canvas.hint("kebab ingest")


def render_path_explanations(reply: PathExplanations, canvas: Canvas) -> Iterator[str]:
    """Yield for each path whether it is read, why, and what can be done."""
    for number, found in enumerate(reply.paths):
        if number:
            yield ""
        state = canvas.success("in") if found.included else canvas.warning("out")
        yield f"{canvas.location(clean(found.path))}  {state}"
        yield from canvas.hang(clean(found.message), "  ", 4)
        rows = [
            ("rule", _format_rule(found.rule) if found.rule else ""),
            ("source", clean(found.source or "")),
            ("format", found.media or ""),
            ("document", found.doc_id or ""),
        ]
        yield from render_fields(rows, canvas, "  ")
        if found.hint:
            yield from canvas.hint(clean(found.hint))


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
    now = canvas.dim(time.strftime("%H:%M:%S"))
    message, hint = event.message, event.hint
    if event.report:
        yield f"{now}  {canvas.fit(format_run(event.report), 10)}"
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
        yield from canvas.wrap_with_label("warning:", clean(message), canvas.warning)
        yield from canvas.hint(hint) if hint else []


def render_watch_report(reply: WatchReport, canvas: Canvas) -> Iterator[str]:
    """Yield the summary."""
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
