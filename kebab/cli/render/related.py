"""Renders related documents and duplicates."""

from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas, pluralize
from kebab.cli.render.hits import (
    FRESHNESS_NOTES,
    INDENT,
    build_file_uri,
    format_headings,
    format_line_range,
    format_location,
    render_snippet,
)
from kebab.cli.render.width import clean, truncate
from kebab.wire.related import DuplicateGroup, DuplicateMember, Duplicates, RelatedDoc, RelatedDocs

_NEAR = 0.35
"""From here on a neighbour most likely is of the same matter; half of the true ones are above."""


def render_related(reply: RelatedDocs, canvas: Canvas) -> Iterator[str]:
    """Yield the neighbours, then what a reader must know of them."""
    for one in reply.related:
        yield from _neighbour(one, canvas)
        yield ""
    if not reply.related:
        yield from _nothing(reply, canvas)
    for lost in reply.degraded:
        yield from canvas.note(f"compared by words: {clean(lost.reason)}")
        if lost.hint:
            yield from canvas.hint(clean(lost.hint))


def _neighbour(one: RelatedDoc, canvas: Canvas) -> Iterator[str]:
    where = canvas.link(
        canvas.location(format_location(one.pair.found.citation)), build_file_uri(one.file)
    )
    score = (canvas.success if one.score >= _NEAR else canvas.warning)(f"{one.score:.2f}")
    yield f"{canvas.strong(f'{one.rank:>2}')}  {score}  {where}{canvas.warning(FRESHNESS_NOTES[one.freshness])}"
    if context := format_headings(one.title, one.pair.found.heading_path):
        yield INDENT + canvas.dim(_cut(context, canvas))
    yield from render_snippet(one.pair.snippet, one.pair.highlights, canvas)
    if one.terms:
        yield INDENT + canvas.dim(_cut(f"shared: {clean(', '.join(one.terms))}", canvas))
    yield INDENT + canvas.dim(
        _cut(f"nearest to: {format_line_range(one.pair.asked.citation)}", canvas)
    )


def _cut(text: str, canvas: Canvas) -> str:
    return truncate(text, canvas.width - len(INDENT)) if canvas.width else text


def _nothing(reply: RelatedDocs, canvas: Canvas) -> Iterator[str]:
    path = clean(reply.document.doc_path)
    if not reply.document.chunk_count:
        yield f"nothing to compare: {path} has no text"
        return
    yield f"nothing is near to: {path}"
    yield canvas.dim("drop a filter, or look for its words: kebab search WORDS")
    yield canvas.dim("read more files: kebab ingest FOLDER")


def render_duplicates(reply: Duplicates, canvas: Canvas, next_page: str = "") -> Iterator[str]:
    """Yield the groups, each member below what it holds; `next_page` is the command for the next page."""
    if canvas.width is None:
        for number, group in enumerate(reply.groups, start=1):
            yield from (_fields(number, group, one) for one in group.members)
        return
    for group in reply.groups:
        yield from _group(group, canvas)
        yield ""
    if not reply.groups:
        yield from _render_no_duplicates(reply, canvas)
        return
    yield canvas.dim(f"{pluralize(reply.total, 'group')} among {_passages(reply)}")
    if reply.has_more and next_page:
        yield canvas.dim(f"more: {next_page}")


def _fields(number: int, group: DuplicateGroup, one: DuplicateMember) -> str:
    what = (str(number), group.unit, "exact" if one.exact else "near", f"{one.similarity:.2f}")
    return "\t".join((*what, one.doc_id, one.chunk_id or "", format_line_range(one.citation)))


def _group(group: DuplicateGroup, canvas: Canvas) -> Iterator[str]:
    count = f"{len(group.members)} {'copies' if group.kind == 'exact' else 'near copies'}"
    title = truncate(clean(group.members[0].title), max(8, (canvas.width or 80) - 40))
    what = f"{count} of a {group.unit}"
    yield f"{canvas.strong(what)}  {canvas.dim(title)}"
    yield from render_snippet(group.snippet, [], canvas)
    for one in group.members:
        yield INDENT + _member(group, one, canvas)


def _member(group: DuplicateGroup, one: DuplicateMember, canvas: Canvas) -> str:
    paint = canvas.success if one.exact else canvas.warning
    score = paint("same" if one.exact else f"{one.similarity:.2f}")
    place = clean(one.doc_path) if group.unit == "document" else format_location(one.citation)
    where = canvas.link(canvas.location(place), build_file_uri(one.file))
    return f"{score}  {where}{canvas.warning(FRESHNESS_NOTES[one.freshness])}"


def _render_no_duplicates(reply: Duplicates, canvas: Canvas) -> Iterator[str]:
    yield f"no {'exact copies' if reply.exact else 'copies'} among {_passages(reply)}"
    if not reply.compared:
        yield canvas.dim("nothing passes: drop a filter, or read some files: kebab ingest FOLDER")
    elif reply.exact:
        yield canvas.dim("look for near copies too: kebab dupes")
    else:
        yield canvas.dim("take what is less alike: --threshold 0.5")


def _passages(reply: Duplicates) -> str:
    return pluralize(reply.compared, "passage")
