"""What a run of ingest found and did."""

from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas, pluralize, render_fields
from kebab.cli.render.width import clean
from kebab.wire.ingest import IngestItem, IngestReport

_FEW = 10


def render_ingest_report(
    reply: IngestReport, canvas: Canvas, *, verbose: bool = False
) -> Iterator[str]:
    """Yield the counts, what was left out, what failed, and how the vectors stand."""
    yield canvas.strong(_headline(reply))
    yield from render_fields(_counts(reply, canvas), canvas, "  ")
    yield from _skipped(reply, canvas)
    yield from _errors(reply, canvas, verbose=verbose)
    yield from _vectors(reply, canvas)
    if verbose:
        yield from _slowest(reply, canvas)


def _headline(reply: IngestReport) -> str:
    seconds = f"{reply.duration_ms / 1000:.1f} s"
    files = pluralize(reply.scanned, "file")
    if reply.cancelled:
        return f"interrupted after {seconds}; what was done is kept"
    if reply.dry_run:
        return f"{files} looked at in {seconds}; nothing was written"
    return f"{files} in {seconds}"


def _counts(reply: IngestReport, canvas: Canvas) -> list[tuple[str, str]]:
    names = ("new", "updated", "moved", "removed", "unchanged", "skipped", "errors")
    counts = {name: int(getattr(reply, name)) for name in names}
    widest = max(len(str(count)) for count in counts.values())
    paint = {"errors": canvas.error, "new": canvas.success, "updated": canvas.success}
    return [
        (name, paint.get(name, str)(f"{count:>{widest}}"))
        for name, count in counts.items()
        if count or name in ("new", "unchanged")
    ]


def _skipped(reply: IngestReport, canvas: Canvas) -> Iterator[str]:
    if not reply.skipped_by_reason:
        return
    yield canvas.strong("left out")
    for reason, count in sorted(reply.skipped_by_reason.items(), key=lambda one: (-one[1], one[0])):
        examples = reply.skip_examples.get(reason, [])
        more = ", …" if count > len(examples) else ""
        listed = clean(", ".join(examples)) + more if examples else ""
        yield f"  {count:>4}  {reason}  {canvas.dim(listed)}".rstrip()


def _errors(reply: IngestReport, canvas: Canvas, *, verbose: bool) -> Iterator[str]:
    failed = [item for item in reply.items if item.error is not None]
    odd = [item for item in reply.items if item.warnings]
    if failed:
        yield canvas.error("could not be indexed")
    shown = failed if verbose else failed[:_FEW]
    for item in shown:
        yield from _failure(item, canvas)
    if len(failed) > len(shown):
        yield canvas.dim(f"  and {len(failed) - len(shown)} more; --verbose lists them all")
    if verbose:
        yield from (
            f"  {clean(one.doc_path)}: {clean(text)}" for one in odd for text in one.warnings
        )
    elif odd:
        yield canvas.dim(f"{pluralize(len(odd), 'file')} with something odd; --verbose says what")


def _failure(item: IngestItem, canvas: Canvas) -> Iterator[str]:
    assert item.error is not None
    yield f"  {canvas.location(clean(item.doc_path))}: {clean(item.error.message)}"
    if item.error.hint:
        yield f"    {canvas.success('hint:')} {clean(item.error.hint)}"


def _vectors(reply: IngestReport, canvas: Canvas) -> Iterator[str]:
    if reply.dry_run:
        return
    vectors = reply.embedding
    done = f"{vectors.embedded} computed, {vectors.reused} reused"
    model = f" with {vectors.version}" if vectors.version else ""
    yield f"{canvas.strong('vectors')}  {done}{model}"
    if vectors.unsupported:
        foreign = f"{pluralize(vectors.unsupported, 'passage')} in a script the model does not know"
        yield f"{canvas.warning('note:')} {foreign}; words find them"
    if not vectors.pending:
        return
    waiting = pluralize(vectors.pending, "passage")
    if vectors.version is None:
        yield f"{canvas.warning('note:')} {waiting} without a vector, since no model could be had"
        yield f"{canvas.success('hint:')} words are searched; `kebab model list` shows the models"
    else:
        yield f"{canvas.warning('note:')} {waiting} still without a vector"
        yield f"{canvas.success('hint:')} kebab ingest"


def _slowest(reply: IngestReport, canvas: Canvas) -> Iterator[str]:
    if reply.slowest:
        yield canvas.strong("slowest files")
    for one in reply.slowest:
        yield f"  {one.duration_ms / 1000:>6.2f} s  {clean(one.doc_path)}"
