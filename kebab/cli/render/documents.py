"""Renders documents, passages, removals, outlines and sources, related documents and copies."""

from collections.abc import Iterator

from kebab.cli.render.canvas import (
    Canvas,
    Column,
    clean,
    clean_lines,
    format_bytes,
    format_minute,
    format_tabs,
    list_fields,
    measure_width,
    pad,
    render_columns,
    render_fields,
)
from kebab.cli.render.excerpt import INDENT, render_excerpt
from kebab.cli.render.hits import (
    format_location,
    note_freshness,
    render_degraded,
    render_headings,
    render_location,
    render_unmatched_filters,
)
from kebab.core.media import MARKDOWN, CitationKind, detect_media_type, get_media_type
from kebab.wire.coverage import describe_gaps, describe_partial, pluralize
from kebab.wire.fetch import Outline, OutlineEntry
from kebab.wire.health import ResetReport
from kebab.wire.library import (
    ChunkInspection,
    DocInspection,
    DocLink,
    DocList,
    Duplicates,
    RelatedDocs,
    RemoveReport,
    SourceList,
    SourceRemoved,
    SourceSummary,
)
from kebab.wire.published import PublishedBase, SourceAdded
from kebab.wire.record import NotFound, find_fragment

_DATE = len("2025-01-31")
_SHORT_ID = 12
_NEAR = 0.35
"""Above this score, most documents have the same topic; half of the true ones are above it."""


def render_related(reply: RelatedDocs, canvas: Canvas) -> Iterator[str]:
    """Yield the similar documents, then notes on them."""
    for found in reply.related:
        pair = found.pair
        where = render_location(pair.found.citation, found.file, found.freshness, canvas)
        score = (canvas.success if found.score >= _NEAR else canvas.warning)(f"{found.score:.2f}")
        label = f"{canvas.strong(f'{found.rank:>2}')}  {score}  "
        yield from canvas.wrap(where, label)
        yield from render_headings(found.title, pair.found.heading_path, canvas)
        yield from render_excerpt(
            pair.snippet,
            pair.highlights,
            canvas,
            media=found.media,
            headings=[found.title, *pair.found.heading_path],
        )
        nearest = f"nearest to: {format_location(pair.asked.citation)}"
        yield from map(canvas.dim, canvas.wrap(nearest, INDENT))
        yield ""
    if not reply.related:
        path = clean(reply.document.doc_path)
        if not reply.document.chunk_count:
            yield f"nothing to compare: {path} has no text"
        else:
            yield f"nothing is near to: {path}"
            yield from render_unmatched_filters(reply.unmatched_filters, None, canvas)
            if not reply.unmatched_filters:
                yield canvas.step("look for its words", "kebab search WORDS")
    yield from render_links(reply.links, reply.backlinks, canvas)
    for degraded in reply.degraded:
        yield from render_degraded(degraded, canvas, note="compared by words")


_MAX_LINKS = 12
"""How many links of one kind a terminal shows."""


def render_links(links: list[DocLink], backlinks: list[DocLink], canvas: Canvas) -> Iterator[str]:
    """Yield the documents that a document links to, and those that link to it."""
    known = [link for link in links if link.doc_path]
    for noun, found in (("links to", known), ("linked from", backlinks)):
        for link in found[:_MAX_LINKS]:
            title = f"  {canvas.dim(clean(link.title or ''))}"
            yield f"{noun}: {canvas.location(clean(link.doc_path or ''))}{title}".rstrip()
        if len(found) > _MAX_LINKS:
            yield canvas.dim(f"{noun}: {len(found) - _MAX_LINKS:,} more")
    if missing := [link.target for link in links if not link.doc_path and link.target]:
        shown = ", ".join(map(clean, missing[:_MAX_LINKS]))
        yield canvas.dim(f"links to files that are not indexed: {shown}")


def render_duplicates(reply: Duplicates, canvas: Canvas, all_groups: str = "") -> Iterator[str]:
    """Yield the groups with their members; `all_groups` is the command for all of them."""
    for group in reply.groups:
        first = group.members[0]
        count = f"{len(group.members)} {'copies' if group.kind == 'exact' else 'near copies'}"
        title = canvas.dim(clean(first.title))
        yield from canvas.wrap(f"{canvas.strong(f'{count} of a {group.unit}')}  {title}")
        media = detect_media_type(first.doc_path) if first.citation.cited_lines else None
        yield from render_excerpt(group.snippet, [], canvas, media=media or MARKDOWN)
        for member in group.members:
            paint = canvas.success if member.exact else canvas.warning
            score = paint("same" if member.exact else f"{member.similarity:.2f}")
            where = render_location(member.citation, member.file, member.freshness, canvas)
            yield from canvas.wrap(where, f"{INDENT}{score}  ")
        yield ""
    passages = pluralize(reply.compared, "passage")
    if not reply.groups:
        yield f"no {'exact copies' if reply.exact else 'copies'} among {passages}"
        step = ("look for near copies", "kebab dupes --threshold 0.5")
        if not reply.compared:
            step = ("nothing passes: drop a filter, or read some files", "kebab ingest FOLDER")
        yield canvas.step(*step)
        return
    yield canvas.dim(f"{pluralize(reply.total, 'group')} among {passages}")
    if reply.has_more and all_groups:
        yield canvas.dim(f"more: {all_groups}")


def render_document_list(reply: DocList, canvas: Canvas, next_page: str = "") -> Iterator[str]:
    """Yield one line per document; `next_page` is the command for the next page."""
    if canvas.width is None:
        for doc in reply.documents:
            fields = (doc.doc_id, doc.source, doc.doc_path, doc.title, str(doc.chunk_count))
            yield format_tabs(*fields, doc.date or doc.modified_at, doc.freshness)
        return
    if reply.documents:
        rows = []
        for doc in reply.documents:
            state = "in part" if doc.partial else ""
            if doc.freshness in ("changed", "gone"):
                state = doc.freshness
            elif doc.no_passages:
                state = "no text"
            date = (doc.date or doc.modified_at)[:_DATE]  # what filters compare
            facts = (f"{doc.chunk_count:,}", date, state)
            rows.append((clean(doc.doc_path), clean(doc.title), *facts))
        columns = (
            Column("document", canvas.location, wraps=True),
            Column("title", wraps=True),
            Column("passages", canvas.dim, right=True),
            Column("date", canvas.dim),
            Column("", canvas.warning),
        )
        yield from render_columns(columns, rows, canvas)
        yield ""
    yield from render_list_notes(reply, canvas, next_page)


def render_list_notes(reply: DocList, canvas: Canvas, next_page: str = "") -> Iterator[str]:
    """Yield which part of the documents is listed, or why there is none."""
    shown = len(reply.documents)
    if shown:
        first, last = reply.offset + 1, reply.offset + shown
        yield canvas.dim(f"{first:,} to {last:,} of {reply.total:,} documents")
        if reply.has_more and next_page:
            yield canvas.dim(f"more: {next_page}")
        return
    yield f"no documents after the first {reply.total}" if reply.total else "no documents"
    yield from render_unmatched_filters(reply.unmatched_filters, reply.hint, canvas)
    if not reply.unmatched_filters and not reply.total:
        yield canvas.step("read some files", "kebab ingest FOLDER")


def render_document(reply: DocInspection, canvas: Canvas) -> Iterator[str]:
    """Yield a document with its passages."""
    yield canvas.strong(clean(reply.document.title))
    rows = [*list_fields(reply.document, "title"), *list_fields(reply, "warnings")]
    yield from render_fields(rows, canvas)
    for warning in reply.warnings:
        yield from canvas.note(warning)
    for one in reply.left_out:
        words = f", {pluralize(one.words, 'word')}" if one.words else ""
        yield from canvas.note(f"not searched: {one.reason}{words}")
    yield from render_links(reply.links, reply.backlinks, canvas)
    yield ""
    yield canvas.strong(pluralize(len(reply.chunks), "passage"))
    passages = [
        (
            chunk.chunk_id[: _SHORT_ID if canvas.is_terminal else None],
            format_location(chunk.citation)
            .removeprefix(clean(reply.document.doc_path))
            .lstrip(":#"),
            clean(" > ".join(chunk.heading_path)),
            f"{chunk.chars:,}",
            "" if chunk.vector == "committed" else chunk.vector,
        )
        for chunk in reply.chunks
    ]
    columns = (
        Column("id"),
        Column("place", canvas.location),
        Column("headings", wraps=True),
        Column("characters", canvas.dim, right=True),
        Column("", canvas.warning),
    )
    if passages:
        yield from render_columns(columns, passages, canvas, "  ")


def render_chunk(reply: ChunkInspection, canvas: Canvas) -> Iterator[str]:
    """Yield a passage with its text and its neighbours."""
    chunk = reply.chunk
    yield canvas.strong(clean(" > ".join(chunk.heading_path)) or clean(reply.document.title))
    place = ("place", canvas.location(format_location(chunk.citation)))
    own = [*list_fields(chunk, "heading_path"), *list_fields(reply, "text", "embed_text")]
    yield from render_fields([place, *own, *list_fields(reply.document)], canvas)
    yield ""
    yield from canvas.wrap(clean_lines(reply.text))


def render_not_found(reply: NotFound, canvas: Canvas) -> Iterator[str]:
    """Yield the message and the names that the caller may mean."""
    yield clean(reply.error.message)
    if reply.error.candidates:
        title = "which of these?" if reply.error.kind == "ambiguous" else "did you mean?"
        yield canvas.dim(title)
        yield from (f"  {clean(name)}" for name in reply.error.candidates)


def render_removed_documents(reply: RemoveReport, canvas: Canvas) -> Iterator[str]:
    """Yield the removed documents, and whether the next ingest adds them again."""
    for doc in reply.removed:
        yield f"{canvas.location(clean(doc.doc_path))}  {canvas.dim(clean(doc.title))}"
    documents = pluralize(len(reply.removed), "document")
    yield f"{documents} and {pluralize(reply.chunks, 'passage')} taken out of the index"
    if reply.returns:
        yield from canvas.note(
            "the files are still there: the next ingest reads them again",
            "name them in a `.kebabignore` file to keep them out",
        )


def render_reset_plan(reply: ResetReport, canvas: Canvas) -> Iterator[str]:
    """Yield what a reset would delete."""
    folder = canvas.location(clean(reply.data_dir))
    yield f"this deletes {format_bytes(reply.bytes_freed)} from {folder}:"
    yield from (f"  {clean(name)}" for name in reply.removed)
    yield "ask sessions and texts from standard input are deleted too"
    if reply.models_removed:
        yield "model weights are deleted too"
    yield "your own files stay as they are"


def render_reset(reply: ResetReport, canvas: Canvas) -> Iterator[str]:
    """Yield what a reset deleted and what it kept."""
    if not reply.removed:
        yield f"nothing to delete in {canvas.location(clean(reply.data_dir))}"
    yield from (f"{canvas.dim('deleted')}  {clean(name)}" for name in reply.removed)
    yield from (f"{canvas.dim('kept')}     {clean(name)}" for name in reply.kept)
    if reply.removed:
        yield f"{format_bytes(reply.bytes_freed)} freed"


def render_outline(reply: Outline, canvas: Canvas) -> Iterator[str]:
    """Yield the sections of a document, or the tree of a folder; each line has a reference."""
    if reply.ref is not None:
        path = canvas.link(canvas.location(clean(reply.ref)), reply.file)
        note = canvas.warning(note_freshness(reply.freshness or "fresh"))
        yield from canvas.wrap(f"{path}  {canvas.dim(_format_sizes(reply))}{note}")
    if reply.kind == "document":
        yield from _render_sections(reply, canvas)
        yield from canvas.note(describe_partial(reply.coverage).removeprefix("; "))
        return
    for entry in reply.entries:
        indent = "  " * (entry.depth + (reply.ref is not None))
        is_folder = entry.kind == "folder"
        place = clean(f"{entry.path.rstrip('/')}/" if is_folder else entry.ref)
        title = f"  {clean(entry.title)}" if entry.title else ""
        line = f"{canvas.location(place)}  {_format_sizes(entry)}{title}"
        yield from canvas.wrap(line, indent)
    if not reply.documents:
        yield "no documents"
        yield canvas.step("read some files", "kebab ingest FOLDER")
    yield from canvas.note(describe_gaps(reply.coverage, "lines"))


def _render_sections(reply: Outline, canvas: Canvas) -> Iterator[str]:
    """Yield the headings of a document with what the references add to its path."""
    if not reply.sections:
        yield canvas.dim("no headings")
        return
    refs = [clean(find_fragment(one.ref)) for one in reply.sections]
    width = max(map(measure_width, refs))
    digits = max(len(str(one.tokens)) for one in reply.sections)
    for ref, one in zip(refs, reply.sections, strict=True):
        label = f"{canvas.location(pad(ref, width))}  {canvas.dim(f'{one.tokens:>{digits}}')}  "
        heading = f"{'#' * one.level} {clean(one.declaration or one.title)}"
        yield from canvas.wrap(heading, label)


def _format_sizes(found: Outline | OutlineEntry) -> str:
    if found.kind == "folder":
        sizes = _count_contents(found)
    elif isinstance(found, OutlineEntry):
        sizes = pluralize(found.chunks, "passage")
    elif found.pages is None:
        sizes = pluralize(found.line_count or 0, "line")
    else:
        media = get_media_type(detect_media_type(found.doc_path or "") or "")
        unit = "slide" if media.cites is CitationKind.SLIDE else "page"
        sizes = pluralize(found.pages, unit)
    more = f", {found.hidden:,} not listed" if found.hidden else ""
    return f"{sizes}, about {found.tokens:,} tokens{more}"


_NOTES = {"present": "", "empty": "  (folder is empty)", "gone": "  (folder is gone)"}


def render_source_list(reply: SourceList, canvas: Canvas) -> Iterator[str]:
    """Yield the sources; on a terminal two lines for each."""
    if canvas.width is None:
        for source in reply.sources:
            counts = (str(source.documents), str(source.chunks), source.last_ingest_at or "")
            place = source.address or source.folder
            yield format_tabs(source.name, place, source.state, *counts)
        for base in reply.published:
            numbers = (str(base.documents), str(base.chunks), base.created_at or "")
            yield format_tabs(base.name, base.url, "published", *numbers)
        return
    if not reply.sources and not reply.published:
        yield "no sources"
        yield canvas.step("read some files", "kebab ingest FOLDER")
    for source in reply.sources:
        yield from _render_source(source, canvas)
    for base in reply.published:
        yield from render_published_base(base, canvas)
    if any(source.state != "present" and source.documents for source in reply.sources):
        yield ""
        yield from canvas.hint("remove a source whose folder is gone: `kebab source rm NAME`")


def _count_contents(found: PublishedBase | SourceSummary | OutlineEntry | Outline) -> str:
    return f"{pluralize(found.documents, 'document')}, {pluralize(found.chunks, 'passage')}"


def render_published_base(base: PublishedBase, canvas: Canvas) -> Iterator[str]:
    """Yield what is known of a published base."""
    contents = _count_contents(base)
    when = f", published {format_minute(base.created_at)}" if base.created_at else ""
    yield f"{canvas.location(clean(base.name))}  {clean(base.url)}"
    remote = ", remote" if base.mode == "remote" else ""
    yield f"  {canvas.dim(f'{contents}{when}{remote}')}"
    if base.problem:
        yield f"  {canvas.warning(clean(base.problem))}"


def render_added_base(reply: SourceAdded, canvas: Canvas) -> Iterator[str]:
    """Yield the base, and how much of it was read."""
    yield from render_published_base(reply.base, canvas)
    yield f"  {format_bytes(reply.pulled_bytes)} pulled"
    yield canvas.step("search only there", f"kebab search QUERY --base {reply.base.name}")


def _render_source(source: SourceSummary, canvas: Canvas) -> Iterator[str]:
    """Yield the name of a source, and its contents with the time when it was last read."""
    kind = {"folder": "", "files": "single files, ", "stdin": "texts from standard input, "}
    kind["published"] = "published base, "
    contents = _count_contents(source)
    read = f", read {format_minute(source.last_ingest_at)}" if source.last_ingest_at else ""
    name = canvas.location(clean(source.address or source.name))
    yield f"{name}{canvas.warning(_NOTES[source.state])}"
    yield f"  {canvas.dim(f'{kind[source.kind]}{contents}{read}')}"


def render_source_removal_plan(reply: SourceRemoved, canvas: Canvas) -> Iterator[str]:
    """Yield what would be removed."""
    yield "this takes out of the index:"
    yield from _render_source(reply.source, canvas)
    if reply.source.kind == "stdin":
        yield from canvas.note("these texts have no other copy and are deleted")


def render_removed_source(reply: SourceRemoved, canvas: Canvas) -> Iterator[str]:
    """Yield the removed source, and whether the next ingest adds it again."""
    yield from _render_source(reply.source, canvas)
    done = {"stdin": "deleted", "published": "its copy here is deleted"}
    kept = "the copies here are deleted, objects stay" if reply.source.address else "files stay"
    yield done.get(reply.source.kind, f"taken out of the index, {kept}")
    if reply.returns:
        yield from canvas.note("it is the workspace, so the next `kebab ingest` reads it again")
