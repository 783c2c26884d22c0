"""Renders the plan and the results of repairs, and the comparison of the index with the files."""

from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas, clean, format_bytes, pluralize
from kebab.cli.render.health import render_doctor
from kebab.wire.repair import Repair, RepairReport, VerifyReport

_MOST_LOST = 20
_OUTCOMES = {"planned": "would", "repaired": "repaired", "refused": "refused", "failed": "failed"}


def render_repair_plan(reply: RepairReport, canvas: Canvas) -> Iterator[str]:
    """Yield what would be done."""
    yield from _render_all(reply, canvas, will=True)
    if any(repair.drops and repair.outcome == "planned" for repair in reply.repairs):
        yield "the index is copied before anything is replaced; your own files stay as they are"


def render_repair(reply: RepairReport, canvas: Canvas) -> Iterator[str]:
    """Yield what was done, the copy, what is lost, and what the checks find now."""
    yield from _render_all(reply, canvas, will=False)
    if reply.copy:
        copy = canvas.location(clean(reply.copy.path))
        yield f"copy of the index before: {copy}, {format_bytes(reply.copy.bytes)}"
        if reply.copy.hint:
            yield f"{canvas.dim('to put it back:')} {clean(reply.copy.hint)}"
    yield ""
    yield from render_doctor(reply.health, canvas)


def _render_all(reply: RepairReport, canvas: Canvas, *, will: bool) -> Iterator[str]:
    if not reply.repairs:
        yield "nothing to repair"
    for repair in reply.repairs:
        yield from _render_one(repair, canvas)
    yield from _render_losses(reply, canvas, will=will)


def _render_one(repair: Repair, canvas: Canvas) -> Iterator[str]:
    paint = canvas.error if repair.outcome in ("refused", "failed") else canvas.success
    name = repair.kind.replace("_", " ")
    yield f"{paint(_OUTCOMES[repair.outcome])}  {canvas.strong(name)}: {clean(repair.summary)}"
    yield from canvas.hang(clean(repair.action), "  ", 2)
    if repair.reason:
        yield from canvas.hang(clean(repair.reason), f"  {canvas.dim('reason:')} ", 10)
    if repair.hint:
        yield f"  {canvas.success('fix:')} {clean(repair.hint)}"


def _render_losses(reply: RepairReport, canvas: Canvas, *, will: bool) -> Iterator[str]:
    if reply.read_again:
        verb = "is to be" if will else "was to be"
        yield f"damaged, {verb} read again from its file: {pluralize(reply.read_again, 'document')}"
    if reply.lost:
        text = "lost passages, and the file is gone"
        yield canvas.warning(f"{pluralize(len(reply.lost), 'document')} {text}:")
    for lost in reply.lost[:_MOST_LOST]:
        yield f"  {clean(lost.doc_path)}  {pluralize(lost.passages, 'passage')} left"
    if len(reply.lost) > _MOST_LOST:
        yield f"  and {len(reply.lost) - _MOST_LOST:,} more; `--json` lists all"
    if reply.unplaced:
        yield f"without a document, in the copy only: {pluralize(reply.unplaced, 'passage')}"


def render_verify(reply: VerifyReport, canvas: Canvas) -> Iterator[str]:
    """Yield the differences, then the counts."""
    for one in reply.differences:
        detail = f"  {canvas.dim(clean(one.detail))}" if one.detail else ""
        kind = canvas.error(one.kind.replace("_", " "))
        yield f"{kind}  {canvas.location(clean(one.doc_path))}{detail}"
    if reply.left_out:
        yield f"and {reply.left_out:,} more"
    counts = reply.counts
    named = {
        "changed": counts.changed,
        "same size, other content": counts.same_size,
        "gone": counts.gone,
        "unreadable": counts.unreadable,
        "damaged passages": counts.passages,
    }
    different = ", ".join(f"{name} {count:,}" for name, count in named.items() if count)
    equal = f"{counts.equal:,} of {pluralize(reply.documents, 'document')} equal"
    yield f"{equal}, {different}" if different else canvas.success(equal)
    vectors = f"{reply.vectors:,} vectors of {pluralize(reply.passages, 'passage')}"
    missing = f", {reply.missing_vectors:,} missing" if reply.missing_vectors else ""
    yield f"{vectors}{canvas.error(missing)}, {format_bytes(reply.bytes)} read"
    if reply.cancelled:
        yield canvas.warning("stopped before the end")
