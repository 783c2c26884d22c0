"""Renders what an export wrote and what an import found."""

from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas, clean, format_bytes, pluralize
from kebab.wire.archive import ArchiveManifest, ExportReport, ImportReport


def render_export(reply: ExportReport, canvas: Canvas) -> Iterator[str]:
    """Yield what is in the archive."""
    yield f"wrote {canvas.location(clean(reply.path))}, {format_bytes(reply.bytes)}"
    yield f"  {_describe(reply.manifest)}"


def render_import_plan(reply: ImportReport, canvas: Canvas) -> Iterator[str]:
    """Yield what an import would replace."""
    count = reply.replaced_documents or 0
    held = pluralize(count, "document") if count >= 0 else "an index that cannot be read"
    yield f"this replaces {held} in {canvas.location(clean(reply.data_dir))}"
    yield from _render_contents(reply.manifest)


def render_import(reply: ImportReport, canvas: Canvas) -> Iterator[str]:
    """Yield what was imported."""
    done = "the file is intact; nothing was imported" if reply.dry_run else "imported"
    yield f"{done}: {canvas.location(clean(reply.path))}"
    yield from _render_contents(reply.manifest)
    if not reply.dry_run:
        yield canvas.step("compare the files with the index", "kebab ingest")


def _render_contents(manifest: ArchiveManifest) -> Iterator[str]:
    yield f"  exported {clean(manifest.created_at)} by kebab {clean(manifest.kebab_version)}"
    yield f"  {_describe(manifest)}"


def _describe(manifest: ArchiveManifest) -> str:
    counts = {
        "document": manifest.documents,
        "passage": manifest.chunks,
        "vector": manifest.vectors,
        "session": manifest.sessions,
    }
    return ", ".join(pluralize(count, name) for name, count in counts.items())
