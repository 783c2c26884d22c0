"""Renders what was published."""

from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas, clean, format_bytes, pluralize
from kebab.wire.published import PublishReport


def render_publication(reply: PublishReport, canvas: Canvas) -> Iterator[str]:
    """Yield what is in the snapshot, and how much of it was sent."""
    manifest = reply.manifest
    done = "would publish" if reply.dry_run else "published"
    yield f"{done} snapshot {manifest.sequence:,} to {canvas.location(clean(reply.dest))}"
    counts = {
        "document": manifest.documents,
        "passage": manifest.chunks,
        "vector": manifest.vectors,
    }
    texts = "with their files" if manifest.with_texts else "without their files"
    yield f"  {', '.join(pluralize(count, name) for name, count in counts.items())}, {texts}"
    sent, whole = format_bytes(reply.sent_bytes), format_bytes(reply.bytes)
    yield f"  {sent} of {whole} {'to send' if reply.dry_run else 'sent'}"
    if reply.removed_objects:
        yield f"  {pluralize(reply.removed_objects, 'old object')} deleted"
    if reply.left_out_files:
        differing = pluralize(reply.left_out_files, "file")
        yield from canvas.note(f"{differing} left out: not as indexed; `kebab ingest` reads them")
    if reply.public_key:
        yield f"  key {reply.public_key}"
