"""Renders what an export wrote and what an import found."""

from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas, clean, format_bytes, pluralize
from kebab.wire.archive import ArchiveManifest, ExportReport, ImportedSource, ImportReport


def render_export(reply: ExportReport, canvas: Canvas) -> Iterator[str]:
    """Yield what is in the archive."""
    size = format_bytes(reply.bytes)
    yield f"wrote {canvas.location(clean(reply.path))}, {size}"
    yield f"  {_describe(reply.manifest)}"


def render_import_plan(reply: ImportReport, canvas: Canvas) -> Iterator[str]:
    """Yield what an import would replace; nothing when it would replace nothing."""
    if reply.replaced_documents is None:
        return
    count = reply.replaced_documents
    held = pluralize(count, "document") if count >= 0 else "a knowledge base that cannot be read"
    yield f"this replaces {held} in {canvas.location(clean(reply.data_dir))}"
    yield from _render_contents(reply, canvas)


def render_import(reply: ImportReport, canvas: Canvas) -> Iterator[str]:
    """Yield what was imported, where its folders are, and which settings differ."""
    done = "the file is intact; nothing was imported" if reply.dry_run else "imported"
    yield f"{done}: {canvas.location(clean(reply.path))}"
    yield from _render_contents(reply, canvas)
    for one in reply.settings:
        name, archived, here = map(clean, (one.name, one.archived, one.here))
        yield f"setting {name} was {archived}, and is {here} here"
    if not reply.dry_run and any(one.state == "present" for one in reply.sources):
        yield canvas.step("compare the files with the index", "kebab ingest")


def _render_contents(reply: ImportReport, canvas: Canvas) -> Iterator[str]:
    manifest = reply.manifest
    yield f"  exported {clean(manifest.created_at)} by kebab {clean(manifest.kebab_version)}"
    yield f"  {_describe(manifest)}"
    for source in reply.sources:
        yield f"  {canvas.location(clean(source.folder))}  {canvas.dim(_describe_source(source))}"


def _describe(manifest: ArchiveManifest) -> str:
    counts = {
        "document": manifest.documents,
        "passage": manifest.chunks,
        "vector": manifest.vectors,
        "session": manifest.sessions,
        "review": manifest.review_runs,
    }
    return ", ".join(pluralize(count, name) for name, count in counts.items())


def _describe_source(source: ImportedSource) -> str:
    parts = [pluralize(source.documents, "document")]
    if source.mapped != "no":
        parts.append(f"was {clean(source.exported_folder)}")
    if source.state == "gone":
        parts.append("not on this machine; it stays searchable")
        return ", ".join(parts)
    if source.changed:
        parts.append(f"{source.changed:,} changed")
    if source.gone:
        parts.append(f"{source.gone:,} without a file here; the next ingest removes them")
    return ", ".join(parts)
