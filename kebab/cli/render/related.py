"""Renders related documents and duplicates."""

from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas, plural
from kebab.cli.render.hits import INDENT, STALE, file_uri, headings, marked_lines, spot, stretch
from kebab.cli.render.width import clean, fitted
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
    where = canvas.link(canvas.place(spot(one.pair.found.citation)), file_uri(one.file))
    score = (canvas.good if one.score >= _NEAR else canvas.odd)(f"{one.score:.2f}")
    yield f"{canvas.strong(f'{one.rank:>2}')}  {score}  {where}{canvas.odd(STALE[one.freshness])}"
    if context := headings(one.title, one.pair.found.heading_path):
        yield INDENT + canvas.faint(_cut(context, canvas))
    yield from marked_lines(one.pair.snippet, one.pair.highlights, canvas)
    if one.terms:
        yield INDENT + canvas.faint(_cut(f"shared: {clean(', '.join(one.terms))}", canvas))
    yield INDENT + canvas.faint(_cut(f"nearest to: {stretch(one.pair.asked.citation)}", canvas))


def _cut(text: str, canvas: Canvas) -> str:
    return fitted(text, canvas.width - len(INDENT)) if canvas.width else text


def _nothing(reply: RelatedDocs, canvas: Canvas) -> Iterator[str]:
    path = clean(reply.document.doc_path)
    if not reply.document.chunk_count:
        yield f"nothing to compare: {path} has no text"
        return
    yield f"nothing is near to: {path}"
    yield canvas.faint("drop a filter, or look for its words: kebab search WORDS")
    yield canvas.faint("read more files: kebab ingest FOLDER")


def render_duplicates(reply: Duplicates, canvas: Canvas, again: str = "") -> Iterator[str]:
    """Yield the groups, each member below what it holds; `again` asks for the next page."""
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
    yield canvas.faint(f"{plural(reply.total, 'group')} among {_passages(reply)}")
    if reply.has_more and again:
        yield canvas.faint(f"more: {again}")


def _fields(number: int, group: DuplicateGroup, one: DuplicateMember) -> str:
    what = (str(number), group.unit, "exact" if one.exact else "near", f"{one.similarity:.2f}")
    return "\t".join((*what, one.doc_id, one.chunk_id or "", stretch(one.citation)))


def _group(group: DuplicateGroup, canvas: Canvas) -> Iterator[str]:
    count = f"{len(group.members)} {'copies' if group.kind == 'exact' else 'near copies'}"
    title = fitted(clean(group.members[0].title), max(8, (canvas.width or 80) - 40))
    what = f"{count} of a {group.unit}"
    yield f"{canvas.strong(what)}  {canvas.faint(title)}"
    yield from marked_lines(group.snippet, [], canvas)
    for one in group.members:
        yield INDENT + _member(group, one, canvas)


def _member(group: DuplicateGroup, one: DuplicateMember, canvas: Canvas) -> str:
    paint = canvas.good if one.exact else canvas.odd
    score = paint("same" if one.exact else f"{one.similarity:.2f}")
    place = clean(one.doc_path) if group.unit == "document" else spot(one.citation)
    where = canvas.link(canvas.place(place), file_uri(one.file))
    return f"{score}  {where}{canvas.odd(STALE[one.freshness])}"


def _render_no_duplicates(reply: Duplicates, canvas: Canvas) -> Iterator[str]:
    yield f"no {'exact copies' if reply.exact else 'copies'} among {_passages(reply)}"
    if not reply.compared:
        yield canvas.faint("nothing passes: drop a filter, or read some files: kebab ingest FOLDER")
    elif reply.exact:
        yield canvas.faint("look for near copies too: kebab dupes")
    else:
        yield canvas.faint("take what is less alike: --threshold 0.5")


def _passages(reply: Duplicates) -> str:
    return plural(reply.compared, "passage")
