"""Renders the report of an ingest run."""

from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas, format_duration, pluralize, render_fields
from kebab.cli.render.width import clean
from kebab.wire.ingest import EmbeddingSummary, IngestReport

_FEW = 10


def render_ingest_report(
    reply: IngestReport, canvas: Canvas, *, verbose: bool = False
) -> Iterator[str]:
    """Yield the counts, skipped and failed files, and the state of the vectors."""
    yield canvas.strong(_format_headline(reply))
    yield from render_fields(_list_counts(reply, canvas), canvas, "  ")
    yield from _render_skipped(reply, canvas)
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
        return f"interrupted after {seconds}; completed work is kept"
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


def _render_skipped(reply: IngestReport, canvas: Canvas) -> Iterator[str]:
    if reply.skipped_by_reason:
        yield canvas.strong("left out")
    ordered = sorted(reply.skipped_by_reason.items(), key=lambda item: (-item[1], item[0]))
    for reason, count in ordered:
        examples = reply.skip_examples.get(reason, [])
        more = ", …" if count > len(examples) else ""
        listed = clean(", ".join(examples)) + more if examples else ""
        start = f"  {count:>5,}  {reason}  "
        yield f"{start}{canvas.dim(canvas.fit(listed, len(start)))}".rstrip()


def _render_failures(reply: IngestReport, canvas: Canvas, *, verbose: bool) -> Iterator[str]:
    failed = [(item.doc_path, item.error) for item in reply.items if item.error is not None]
    if failed:
        yield canvas.error("could not be indexed")
    shown = failed if verbose else failed[:_FEW]
    for path, error in shown:
        yield from canvas.hang(f"{clean(path)}: {clean(error.message)}", "  ")
        if error.hint:
            yield f"    {canvas.success('hint:')} {clean(error.hint)}"
    if len(failed) > len(shown):
        yield canvas.dim(f"  and {len(failed) - len(shown)} more; --verbose lists them all")


def _render_warnings(reply: IngestReport, canvas: Canvas, *, verbose: bool) -> Iterator[str]:
    warned = [item for item in reply.items if item.warnings]
    if warned and not verbose:
        yield canvas.dim(f"{pluralize(len(warned), 'file')} with warnings; --verbose shows them")
        return
    for item in warned:
        for text in item.warnings:
            yield from canvas.hang(f"{clean(item.doc_path)}: {clean(text)}", "  ")


def _render_choice(vectors: EmbeddingSummary, canvas: Canvas) -> Iterator[str]:
    """Yield why the run chose its model, and which one would fit the text better."""
    if vectors.reason:
        yield from canvas.note(f"this model was chosen because {clean(vectors.reason)}")
    if vectors.advice:
        yield from canvas.note(clean(vectors.advice))
        yield from canvas.hint(vectors.hint or "kebab model list")


def _render_vectors(reply: IngestReport, canvas: Canvas) -> Iterator[str]:
    if reply.dry_run:
        return
    vectors = reply.embedding
    done = f"{vectors.embedded:,} computed, {vectors.reused:,} reused"
    model = f" with {vectors.version}" if vectors.version else ""
    yield f"{canvas.strong('vectors')}  {done}{model}"
    yield from _render_choice(vectors, canvas)
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
