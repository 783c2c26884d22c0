"""Renders related documents and duplicates."""

from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas, pluralize
from kebab.cli.render.excerpt import INDENT, render_excerpt
from kebab.cli.render.filters import render_unmatched_filters
from kebab.cli.render.hits import (
    FRESHNESS_NOTES,
    fit_headings,
    fit_location,
    format_line_range,
    render_degraded,
    render_location,
)
from kebab.cli.render.width import clean, truncate, truncate_path
from kebab.wire.library import DocLink
from kebab.wire.related import DuplicateGroup, DuplicateMember, Duplicates, RelatedDoc, RelatedDocs

_MARGIN = len(" 1  0.41  ")
_NEAR = 0.35
"""Above this score, most documents have the same topic; half of the true ones are above it."""


def render_related(reply: RelatedDocs, canvas: Canvas) -> Iterator[str]:
    """Yield the similar documents, then notes on them."""
    for found in reply.related:
        yield from _render_related_document(found, canvas)
        yield ""
    if not reply.related:
        yield from _render_nothing_related(reply, canvas)
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


def _render_related_document(found: RelatedDoc, canvas: Canvas) -> Iterator[str]:
    pair, margin = found.pair, len(INDENT)
    where = render_location(pair.found.citation, found.file, found.freshness, canvas, _MARGIN)
    score = (canvas.success if found.score >= _NEAR else canvas.warning)(f"{found.score:.2f}")
    yield f"{canvas.strong(f'{found.rank:>2}')}  {score}  {where}"
    if context := fit_headings(found.title, pair.found.heading_path, canvas, margin):
        yield INDENT + canvas.dim(context)
    yield from render_excerpt(
        pair.snippet,
        pair.highlights,
        canvas,
        media=found.media,
        headings=[found.title, *pair.found.heading_path],
    )
    if found.terms:
        shared = f"shared: {clean(', '.join(found.terms))}"
        yield INDENT + canvas.dim(canvas.fit(shared, margin))
    label = f"{INDENT}nearest to: "
    nearest = fit_location(pair.asked.citation, canvas, len(label), ranged=True)
    yield label + canvas.dim(nearest)


def _render_nothing_related(reply: RelatedDocs, canvas: Canvas) -> Iterator[str]:
    path = clean(reply.document.doc_path)
    if not reply.document.chunk_count:
        yield f"nothing to compare: {path} has no text"
        return
    yield f"nothing is near to: {path}"
    if reply.unmatched_filters:
        yield from render_unmatched_filters(reply.unmatched_filters, None, canvas)
        return
    yield canvas.step("drop a filter, or look for its words", "kebab search WORDS")
    yield canvas.step("read more files", "kebab ingest FOLDER")


def render_duplicates(reply: Duplicates, canvas: Canvas, next_page: str = "") -> Iterator[str]:
    """Yield the groups with their members; `next_page` is the command for the next page."""
    if canvas.width is None:
        for number, group in enumerate(reply.groups, start=1):
            yield from (_format_fields(number, group, member) for member in group.members)
        return
    for group in reply.groups:
        yield from _render_group(group, canvas)
        yield ""
    passages = pluralize(reply.compared, "passage")
    if not reply.groups:
        yield f"no {'exact copies' if reply.exact else 'copies'} among {passages}"
        yield canvas.step(*_suggest_next(reply))
        return
    yield canvas.dim(f"{pluralize(reply.total, 'group')} among {passages}")
    if reply.has_more and next_page:
        yield canvas.dim(f"more: {next_page}")


def _format_fields(number: int, group: DuplicateGroup, member: DuplicateMember) -> str:
    kind = "exact" if member.exact else "near"
    what = (str(number), group.unit, kind, f"{member.similarity:.2f}")
    return "\t".join(
        (*what, member.doc_id, member.chunk_id or "", format_line_range(member.citation))
    )


def _render_group(group: DuplicateGroup, canvas: Canvas) -> Iterator[str]:
    count = f"{len(group.members)} {'copies' if group.kind == 'exact' else 'near copies'}"
    title = truncate(clean(group.members[0].title), max(8, (canvas.width or 80) - 40))
    yield f"{canvas.strong(f'{count} of a {group.unit}')}  {canvas.dim(title)}"
    yield from render_excerpt(group.snippet, [], canvas)
    for member in group.members:
        paint = canvas.success if member.exact else canvas.warning
        score = paint("same" if member.exact else f"{member.similarity:.2f}")
        where = _render_member_place(group, member, canvas)
        yield f"{INDENT}{score}  {where}"


def _render_member_place(group: DuplicateGroup, member: DuplicateMember, canvas: Canvas) -> str:
    if group.unit != "document":
        return render_location(member.citation, member.file, member.freshness, canvas, _MARGIN)
    note = FRESHNESS_NOTES[member.freshness]
    path = clean(member.doc_path)
    if canvas.width is not None:
        path = truncate_path(path, max(_MARGIN, canvas.width - _MARGIN - len(note)))
    return canvas.link(canvas.location(path), member.file) + canvas.warning(note)


def _suggest_next(reply: Duplicates) -> tuple[str, str]:
    if not reply.compared:
        return "nothing passes: drop a filter, or read some files", "kebab ingest FOLDER"
    if reply.exact:
        return "look for near copies too", "kebab dupes"
    return "lower the threshold", "kebab dupes --threshold 0.5"
