"""Renders sources."""

from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas, format_tabs, pluralize
from kebab.cli.render.width import clean
from kebab.wire.sources import SourceList, SourceRemoved, SourceSummary

_NOTES = {"present": "", "empty": "  (folder is empty)", "gone": "  (folder is gone)"}


def render_source_list(reply: SourceList, canvas: Canvas) -> Iterator[str]:
    """Yield the sources; on a terminal two lines for each."""
    if canvas.width is None:
        for source in reply.sources:
            counts = (str(source.documents), str(source.chunks), source.last_ingest_at or "")
            yield format_tabs(source.name, source.folder, source.state, *counts)
        return
    if not reply.sources:
        yield "no sources"
        yield canvas.dim("read some files: kebab ingest FOLDER")
    for source in reply.sources:
        note = canvas.warning(_NOTES[source.state])
        yield f"{canvas.location(clean(source.name))}{note}"
        yield f"  {canvas.dim(_describe(source))}"
    if any(source.state != "present" and source.documents for source in reply.sources):
        yield ""
        yield from canvas.hint("remove a source whose folder is gone: `kebab source rm NAME`")


def _describe(source: SourceSummary) -> str:
    """Return the contents of a source and the time when it was last read."""
    kind = {"folder": "", "files": "single files, ", "stdin": "texts from standard input, "}
    contents = f"{pluralize(source.documents, 'document')}, {pluralize(source.chunks, 'passage')}"
    read = f", read {source.last_ingest_at[:16].replace('T', ' ')}" if source.last_ingest_at else ""
    return f"{kind[source.kind]}{contents}{read}"


def render_source_removal_plan(reply: SourceRemoved, canvas: Canvas) -> Iterator[str]:
    """Yield what would be removed."""
    yield f"out of the index: {canvas.location(clean(reply.source.name))}"
    yield f"  {canvas.dim(_describe(reply.source))}"
    if reply.source.kind == "stdin":
        yield from canvas.note("these texts have no other copy and are deleted")


def render_removed_source(reply: SourceRemoved, canvas: Canvas) -> Iterator[str]:
    """Yield the removed source, and whether the next ingest adds it again."""
    yield f"{canvas.location(clean(reply.source.name))}  {canvas.dim(_describe(reply.source))}"
    yield "taken out of the index, files stay" if reply.source.kind != "stdin" else "deleted"
    if reply.returns:
        yield from canvas.note("it is the workspace, so the next `kebab ingest` reads it again")
